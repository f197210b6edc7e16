/** Counts by name. */
export class Counters {
  readonly #counts = new Map<string, number>();

  add(name: string, count = 1): void {
    this.#counts.set(name, this.get(name) + count);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Of all names. */
  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** In the order in which the names came. */
  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
