import { sampleOf } from '../core/sample.ts';

/** An entry that was not taken: its place in the request, why, and the first 200 bytes of it. */
export type Rejection = { readonly index: number; readonly reason: string; readonly sample: string };

/** What is reported of the entries of a request that were not accepted. */
export interface Rejected {
  readonly count: number;
  /** The first 100 of them, in their order. */
  readonly first: readonly Rejection[];
  /** How often each reason was given, without its detail of a single entry. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Why the entry at this place was not taken; null where it was. */
  reasonOf(index: number): string | null;
}

/** Rejections of one request that keep their detail, and a sample of it. */
export const MAX_REJECTIONS = 100;
/** Different reasons of one request that are kept, and strings: the reasons, and the first 100 with details. A byte numbers them. */
const MAX_REASONS = 100;
const MAX_TEXTS = 240;
const OTHER = `another reason than the first ${String(MAX_REASONS)} of this request`;
const NOTHING = Buffer.alloc(0);

/**
 * The entries of one request that were not taken. A body of 2 MiB may have a million of them, so they are counted by reason, and each keeps
 * the number of its reason, a byte; the first 100 keep their own text and a sample.
 */
export class Rejections implements Rejected {
  readonly first: Rejection[] = [];
  count = 0;
  /** By number; 0 stands for none. */
  readonly #texts: string[] = [''];
  readonly #numbers = new Map<string, number>();
  /** How often each reason was given, without its detail of a single entry. */
  readonly #reasons = new Map<string, Counted>();
  /** Most often the reason is that of the rejection before. */
  #last: Counted = { reason: '', number: 0, count: 0 };
  /** The number of the reason of each entry of the request. */
  #places = new Uint8Array(0);

  get reasons(): ReadonlyMap<string, number> {
    return new Map([...this.#reasons.values()].map(({ reason, count }) => [reason, count]));
  }

  /**
   * Notes that an entry, which lies at `source[from..to)`, is not taken. `detail` makes the reason plain for this entry; it is called for
   * the first 100 only.
   */
  add(index: number, reason: string, source: Buffer = NOTHING, from = 0, to = source.length, detail: (() => string) | null = null): void {
    if (this.#last.reason !== reason) this.#last = this.#counted(reason);
    const counted = this.#last;
    counted.count += 1;
    this.count += 1;
    if (index >= this.#places.length) this.#grow(index);
    if (this.count > MAX_REJECTIONS) {
      this.#places[index] = counted.number;
      return;
    }
    const text = detail === null ? reason : `${reason}: ${detail()}`;
    this.first.push({ index, reason: text, sample: sampleOf(source, from, to) });
    this.#places[index] = this.#numberOf(text);
  }

  reasonOf(index: number): string | null {
    return this.#texts[this.#places[index] ?? 0] || null;
  }

  #counted(reason: string): Counted {
    const known = this.#reasons.get(reason);
    if (known !== undefined) return known;
    const kept = this.#reasons.size < MAX_REASONS ? reason : OTHER;
    const counted = this.#reasons.get(kept) ?? { reason: kept, number: this.#numberOf(kept), count: 0 };
    this.#reasons.set(kept, counted);
    return counted;
  }

  #numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const kept = this.#texts.length <= MAX_TEXTS ? text : OTHER;
    const number = this.#numbers.get(kept) ?? this.#texts.push(kept) - 1;
    this.#numbers.set(kept, number);
    return number;
  }

  #grow(index: number): void {
    const places = new Uint8Array(Math.max(256, 2 * index));
    places.set(this.#places);
    this.#places = places;
  }
}

/** A reason, the number of its string, and how often it was given. */
type Counted = { readonly reason: string; readonly number: number; count: number };
