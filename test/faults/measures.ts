/** Figures of a run by what they say, unit included: `first wal_full after the disk is full, ms`. */
export class Measures {
  readonly #values = new Map<string, number>();

  set(name: string, value: number): void {
    this.#values.set(name, Math.round(value * 100) / 100);
  }

  get(name: string): number | undefined {
    return this.#values.get(name);
  }

  /** In the order in which the names came. */
  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#values);
  }
}
