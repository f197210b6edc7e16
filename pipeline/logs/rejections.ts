import { sampleOf } from '../core/sample.ts';

/** An entry that was not taken: its place in the request, why, and the first 200 bytes of it. */
export type Rejection = { readonly index: number; readonly reason: string; readonly sample: string };

/** What is told of the entries of a request that were not taken. */
export interface Rejected {
  readonly count: number;
  /** The first 100 of them, in their order. */
  readonly first: readonly Rejection[];
  /** How often each reason was given, without what it says of a single entry. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Why the entry at this place was not taken; null where it was. */
  reasonOf(index: number): string | null;
}

/** Rejections of one request that keep what their reason says of the entry, and a sample of it. */
export const MAX_REJECTIONS = 100;
/** Different reasons of one request that are kept; a number of them fits into a byte. */
const MAX_REASONS = 200;
const OTHER = `another reason than the first ${String(MAX_REASONS)} of this request`;
const NOTHING = Buffer.alloc(0);

/**
 * The entries of one request that were not taken. A body of 2 MiB may have a million of them, so they are counted by reason, and each keeps
 * the number of its reason, a byte; the first 100 keep their own text and a sample.
 */
export class Rejections implements Rejected {
  readonly first: Rejection[] = [];
  readonly reasons = new Map<string, number>();
  count = 0;
  /** By number; 0 stands for none. */
  readonly #texts: string[] = [''];
  readonly #numbers = new Map<string, number>();
  /** The number of the reason of each entry of the request. */
  #places = new Uint8Array(0);

  /**
   * Notes that an entry, which lies at `source[from..to)`, is not taken. `detail` makes the reason plain for this entry; it is asked for
   * the first 100 only.
   */
  add(index: number, reason: string, source: Buffer = NOTHING, from = 0, to = source.length, detail: (() => string) | null = null): void {
    let text = reason;
    if (this.count < MAX_REJECTIONS) {
      if (detail !== null) text = `${reason}: ${detail()}`;
      this.first.push({ index, reason: text, sample: sampleOf(source, from, to) });
    }
    this.count += 1;
    const counted = this.reasons.has(reason) || this.reasons.size < MAX_REASONS ? reason : OTHER;
    this.reasons.set(counted, (this.reasons.get(counted) ?? 0) + 1);
    this.#place(index, this.#numberOf(text));
  }

  reasonOf(index: number): string | null {
    return this.#texts[this.#places[index] ?? 0] || null;
  }

  #numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const kept = this.#texts.length <= MAX_REASONS ? text : OTHER;
    const number = this.#numbers.get(kept) ?? this.#texts.push(kept) - 1;
    this.#numbers.set(kept, number);
    return number;
  }

  #place(index: number, number: number): void {
    if (index >= this.#places.length) {
      const places = new Uint8Array(Math.max(256, 2 * index));
      places.set(this.#places);
      this.#places = places;
    }
    this.#places[index] = number;
  }
}
