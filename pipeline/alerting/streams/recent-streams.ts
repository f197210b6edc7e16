import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';

/** Streams that are counted one by one; others are counted together. */
const MOST = 200;
/** What came in this span and the one before is recent. Milliseconds, by append time. */
const SPAN_MS = 900_000;
const OTHERS = '';
const STREAM_BYTES = 24;

/** What came of a stream in its last span, and in the one before that. */
type Recent = { span: number; now: number; before: number };

/** From which streams entries came in the last 15 to 30 minutes, by their ids. */
export class RecentStreams {
  readonly #all = new Map<string, Recent>();
  #span = 0;

  /** What it takes in a snapshot, at most, about: bytes. */
  get bytes(): number {
    return this.#all.size * STREAM_BYTES;
  }

  /** `hasRoom`: whether an unknown stream is counted by itself. */
  add(id: string, entries: number, appendedAt: number, mayTake = true): void {
    const span = Math.max(this.#span, Math.floor(appendedAt / SPAN_MS));
    if (span > this.#span) this.#begin(span);
    const own = this.#of(id, mayTake);
    if (own.span < span) Object.assign(own, { span, now: 0, before: own.span === span - 1 ? own.now : 0 });
    own.now += entries;
  }

  /** Ids and how many entries of each, those with most first; those that are counted together have an empty one. */
  get all(): readonly (readonly [id: string, entries: number])[] {
    return [...this.#all]
      .map(([id, { span, now, before }]) => [id, span === this.#span ? now + before : now] as const)
      .sort(([one, more], [two, less]) => less - more || (one < two ? -1 : 1));
  }

  write(to: ByteWriter): void {
    for (const number of [this.#span, this.#all.size]) to.count(number);
    for (const [id, { span, now, before }] of this.#all) {
      to.text(id);
      for (const number of [span, now, before]) to.count(number);
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): RecentStreams {
    const read = new RecentStreams();
    read.#span = from.count();
    for (let left = from.count(MOST + 1); left > 0; left--)
      read.#all.set(from.text(), { span: from.count(), now: from.count(), before: from.count() });
    return read;
  }

  #of(id: string, mayTake: boolean): Recent {
    const known = this.#all.get(id);
    if (known !== undefined) return known;
    const own = { span: this.#span, now: 0, before: 0 };
    if (id !== OTHERS && (!mayTake || this.#all.size >= MOST)) return this.#of(OTHERS, true);
    this.#all.set(id, own);
    return own;
  }

  /** A span begins: streams of which nothing came in the last one are forgotten. */
  #begin(span: number): void {
    this.#span = span;
    for (const [id, own] of this.#all) if (own.span < span - 1) this.#all.delete(id);
  }
}
