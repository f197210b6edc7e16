const NOTHING = new Uint16Array(0);
const ZEROS = new Uint16Array(1024);

/**
 * The numbers of a series, two bytes each, in one piece of memory: a typed array takes some 300 bytes more than its numbers. It is
 * allocated when the first of them is not 0, which never happens to the errors of most streams.
 */
export class Slab {
  readonly #length: number;
  #numbers = NOTHING;

  /** `length`: at most 1,024. */
  constructor(length: number) {
    this.#length = length;
  }

  get(place: number): number {
    return this.#numbers[place] ?? 0;
  }

  set(place: number, number: number): void {
    if (this.#numbers === NOTHING) {
      if (number === 0) return;
      this.#numbers = new Uint16Array(this.#length);
    }
    this.#numbers[place] = number;
  }

  /** To be read only, until something is set. */
  view(from: number, length: number): Uint16Array {
    return this.#numbers === NOTHING ? ZEROS.subarray(0, length) : this.#numbers.subarray(from, from + length);
  }

  /** All numbers, or none where all are 0. To be read only, until something is set. */
  get numbers(): Uint16Array {
    return this.#numbers;
  }
}
