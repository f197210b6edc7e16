/** A sum with what its roundings have lost (Kahan's, as Neumaier mended it). */
export class Sum {
  total = 0;
  lost = 0;

  /** Adds a number. */
  add(value: number): void {
    const next = this.total + value;
    if (!Number.isFinite(next)) this.lost = 0;
    else if (Math.abs(this.total) >= Math.abs(value)) this.lost += this.total - next + value;
    else this.lost += value - next + this.total;
    this.total = next;
  }

  /** Sets both parts. */
  set(total: number, lost: number): void {
    this.total = total;
    this.lost = lost;
  }

  /** The sum. */
  get value(): number {
    return Number.isFinite(this.total) || Number.isNaN(this.total) ? this.total + this.lost : this.total;
  }
}

/** A mean: the sum by the count for as long as the sum is finite, then a mean that is carried on. */
export class Mean {
  readonly #sum = new Sum();
  #count = 0;
  #isCarried = false;

  /** Adds a number. */
  add(value: number): void {
    const sum = this.#sum;
    this.#count += 1;
    if (this.#count === 1) {
      sum.set(value, 0);
      return;
    }
    if (!this.#isCarried) {
      const [total, lost] = [sum.total, sum.lost];
      sum.add(value);
      if (Number.isFinite(sum.total) || Number.isNaN(sum.total)) return;
      this.#isCarried = true;
      sum.set(total / (this.#count - 1), lost / (this.#count - 1));
    }
    const share = (this.#count - 1) / this.#count;
    sum.set(share * sum.total, share * sum.lost);
    sum.add(value / this.#count);
  }

  get value(): number {
    const { total, lost } = this.#sum;
    return this.#isCarried ? total + lost : total / this.#count + lost / this.#count;
  }

  /** Goes on from a mean of some numbers, and what rounding has lost of it. */
  carryOn(mean: number, lost: number, count: number): void {
    this.#sum.set(mean, lost);
    this.#count = count;
    this.#isCarried = count > 0;
  }
}
