/** Selections of which the series are kept, and characters of one as it is kept. */
const MAX_KEPT = 1000;
const MAX_SELECTION_LENGTH = 1000;

/**
 * Which few series a selection had when it was read last. Panels and rules ask for the same again and again: what is asked for on a guess comes while the
 * definitions are looked for, and counts only where these are the same series.
 */
export class FewGuesses {
  readonly #ids = new Map<string, readonly bigint[]>();

  /** The series in the order of their ids; null where there is no guess. */
  of(selection: string): readonly bigint[] | null {
    return this.#ids.get(selection) ?? null;
  }

  /** What it had now; null where these are not few. */
  keep(selection: string, ids: readonly bigint[] | null): void {
    this.#ids.delete(selection);
    if (ids === null || selection.length > MAX_SELECTION_LENGTH) return;
    this.#ids.set(selection, ids);
    for (const oldest of this.#ids.keys()) {
      if (this.#ids.size <= MAX_KEPT) break;
      this.#ids.delete(oldest);
    }
  }
}
