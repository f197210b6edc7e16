/** Of what is not counted exactly (CountRing) a part is left out. */
const SURE = 0.5;

/** A minute that was looked at, how easily it fires, and how many entries may come before it must be looked at again. */
type Looked = { end: number; factor: number; margin: number };

/**
 * How many more entries may come until a minute may rise: an open minute is checked every ten seconds, and mostly nothing can have changed.
 * It is valid until something usual is learned again; then all is forgotten. What is found is the same with and without it.
 */
export class Headroom {
  // the open minute and the one before
  readonly #looked: readonly [Looked, Looked] = [
    { end: -1, factor: 0, margin: 0 },
    { end: -1, factor: 0, margin: 0 },
  ];
  #isSpent = true;

  /** Whether something may be found, in the minute in which it was looked last, that was not there then. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** At least `margin` entries must come until the windows that end with a minute may rise. */
  set(end: number, factor: number, margin: number): void {
    const looked = this.#looked[end & 1] as Looked;
    looked.end = end;
    looked.factor = factor;
    looked.margin = margin * SURE;
  }

  /** Whether nothing can have risen since. */
  has(end: number, factor: number): boolean {
    const looked = this.#looked[end & 1] as Looked;
    return looked.end === end && looked.factor === factor && looked.margin > 0;
  }

  /** All was looked at. */
  look(): void {
    this.#isSpent = false;
  }

  /** Entries have come, of any minute that is open. */
  take(entries: number): void {
    for (const looked of this.#looked) {
      looked.margin -= entries;
      if (looked.margin <= 0) this.#isSpent = true;
    }
  }

  /** Something else has come: what was looked at holds. */
  spend(): void {
    this.#isSpent = true;
  }

  /** Something was learned again. */
  forget(): void {
    for (const looked of this.#looked) looked.end = -1;
    this.#isSpent = true;
  }
}
