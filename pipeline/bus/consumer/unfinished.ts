/** The records of a partition that are being worked on: how far all of them are done, though later ones may be done first. */
export class Unfinished {
  readonly #open = new Set<number>();
  #next: number | null = null;

  /** How many are not done. */
  get size(): number {
    return this.#open.size;
  }

  /** The offset before which all is done: what may be committed. Null where nothing was begun. */
  get done(): number | null {
    // a set gives its members in the order in which they came
    for (const first of this.#open) return first;
    return this.#next;
  }

  /** Begins with the record of this offset; each is behind the one before. */
  begin(offset: number): void {
    this.#open.add(offset);
    this.skipTo(offset + 1);
  }

  end(offset: number): void {
    this.#open.delete(offset);
  }

  /** Nothing before this offset is to be done that was not begun. */
  skipTo(offset: number): void {
    this.#next = Math.max(this.#next ?? 0, offset);
  }
}
