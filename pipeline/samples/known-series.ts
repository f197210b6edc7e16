import { hashWords, sameBytes, viewOf } from './hash-words.ts';

/** The fields of an entry, 32 bits each. */
export const FIELD = {
  ...{ hash: 0, tokenAt: 1, tokenLength: 2, nativeAt: 3, nativeLength: 4, low: 5, high: 6 },
  ...{ tenant: 7, day: 8, chunk: 9, code: 10, page: 11, place: 12, isPlain: 13, follower: 14 },
} as const;
/** Words of an entry. */
export const FIELDS = 15;
const NONE = -1;
const [FIRST_SLOTS, FIRST_BYTES] = [1024, 65_536];

/** What is found of a series: its hash, and whether its names are those of the classic rules. */
export type NewSeries = { readonly low: number; readonly high: number; readonly native: Uint8Array; readonly isPlain: boolean };

/**
 * Series by the bytes of their labels as a protocol has them: a known one makes neither a string nor an object. An entry is a few words in one
 * array, and its bytes lie in one buffer, so that hundreds of thousands of them cost the garbage collector nothing.
 */
export class SeriesTable {
  size = 0;
  /** Bytes of tokens and definitions. */
  length = 0;
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  entries: Int32Array = new Int32Array((FIRST_SLOTS / 2) * FIELDS);
  #view = viewOf(this.bytes);
  #slots = new Int32Array(FIRST_SLOTS).fill(NONE);

  /** Forgets all, and keeps its memory. */
  clear(): void {
    this.size = 0;
    this.length = 0;
    this.#slots.fill(NONE);
  }

  /** Where the entry of these bytes begins in `entries`; -1 for none. */
  find(source: DataView, start: number, end: number, hash: number): number {
    const { entries } = this;
    const slots = this.#slots;
    const mask = slots.length - 1;
    const length = end - start;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const at = slots[slot] as number;
      if (at < 0) return NONE;
      if (entries[at + FIELD.hash] === hash && entries[at + FIELD.tokenLength] === length && this.has(at, source, start)) return at;
    }
  }

  /** Whether the bytes of an entry stand at `start`. */
  has(at: number, source: DataView, start: number): boolean {
    const { entries } = this;
    return sameBytes(this.#view, entries[at + FIELD.tokenAt] as number, source, start, entries[at + FIELD.tokenLength] as number);
  }

  /** Adds one that is not there. */
  add(source: Uint8Array, start: number, end: number, hash: number, { low, high, native, isPlain }: NewSeries): number {
    const at = this.#place(hash);
    const { entries } = this;
    entries[at + FIELD.tokenAt] = this.#put(source, start, end);
    entries[at + FIELD.tokenLength] = end - start;
    entries[at + FIELD.nativeAt] = this.#put(native, 0, native.length);
    entries[at + FIELD.nativeLength] = native.length;
    entries[at + FIELD.low] = low;
    entries[at + FIELD.high] = high;
    entries.fill(0, at + FIELD.tenant, at + FIELD.isPlain);
    entries[at + FIELD.isPlain] = isPlain ? 1 : 0;
    entries[at + FIELD.follower] = NONE;
    return at;
  }

  /** Adds an entry of another table. */
  take(other: SeriesTable, from: number): number {
    const { entries: source, bytes } = other;
    const at = this.#place(source[from + FIELD.hash] as number);
    const { entries } = this;
    entries.set(source.subarray(from, from + FIELDS), at);
    const [token, native] = [source[from + FIELD.tokenAt] as number, source[from + FIELD.nativeAt] as number];
    entries[at + FIELD.tokenAt] = this.#put(bytes, token, token + (source[from + FIELD.tokenLength] as number));
    entries[at + FIELD.nativeAt] = this.#put(bytes, native, native + (source[from + FIELD.nativeLength] as number));
    entries[at + FIELD.follower] = NONE;
    return at;
  }

  #place(hash: number): number {
    if ((this.size + 1) * 2 > this.#slots.length) this.#grow();
    const at = this.size * FIELDS;
    this.size += 1;
    this.entries[at + FIELD.hash] = hash;
    this.#link(hash, at);
    return at;
  }

  #link(hash: number, at: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while ((slots[slot] as number) >= 0) slot = (slot + 1) & mask;
    slots[slot] = at;
  }

  #put(source: Uint8Array, start: number, end: number): number {
    const at = this.length;
    if (at + end - start > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(at + end - start, 2 * this.bytes.length));
      this.bytes.copy(larger, 0, 0, at);
      this.bytes = larger;
      this.#view = viewOf(larger);
    }
    this.bytes.set(source.subarray(start, end), at);
    this.length = at + end - start;
    return at;
  }

  #grow(): void {
    const slots = this.#slots.length * 2;
    const larger = new Int32Array((slots / 2) * FIELDS);
    larger.set(this.entries.subarray(0, this.size * FIELDS));
    this.entries = larger;
    this.#slots = new Int32Array(slots).fill(NONE);
    for (let at = 0; at < this.size * FIELDS; at += FIELDS) this.#link(larger[at + FIELD.hash] as number, at);
  }
}

/** What a generation of a process may take. */
const MAX_BYTES = 48 * 1024 * 1024;

/** The series that were used lately, in two generations: one that is full becomes the old one, and the old one before it is forgotten. */
export class KnownSeries {
  /** Entries are found in it. */
  table = new SeriesTable();
  #old = new SeriesTable();
  readonly #maxBytes: number;
  /** The entry that `followed` noted last. */
  #last = NONE;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Where the entry of these bytes begins in the entries of `table`, until the next one is looked up; -1 for an unknown one. */
  find(source: DataView, start: number, end: number): number {
    const guessed = this.#follower();
    if (guessed >= 0 && this.table.entries[guessed + FIELD.tokenLength] === end - start && this.table.has(guessed, source, start))
      return guessed;
    const hash = hashWords(source, start, end);
    const young = this.table.find(source, start, end, hash);
    if (young >= 0) return young;
    const old = this.#old;
    const at = old.find(source, start, end, hash);
    if (at < 0) return NONE;
    if (this.table.length <= this.#maxBytes) return this.table.take(old, at);
    const kept = new SeriesTable();
    kept.take(old, at);
    this.#turn();
    return this.table.take(kept, 0);
  }

  /**
   * The entry whose bytes stand at `start`, where it is the one that came after the last noted one before, and more bytes follow; -1 for another
   * one: senders send their series in the same order again and again, so that most are found without a hash.
   */
  next(source: DataView, start: number, end: number): number {
    const { table } = this;
    const at = this.#follower();
    if (at < 0 || start + (table.entries[at + FIELD.tokenLength] as number) >= end) return NONE;
    return table.has(at, source, start) ? at : NONE;
  }

  /** Notes that this entry of `table` came after the one noted before. */
  followed(at: number): void {
    if (this.#last >= 0) this.table.entries[this.#last + FIELD.follower] = at;
    this.#last = at;
  }

  add(source: Uint8Array, view: DataView, start: number, end: number, series: NewSeries): number {
    if (this.table.length > this.#maxBytes) this.#turn();
    return this.table.add(source, start, end, hashWords(view, start, end), series);
  }

  #follower(): number {
    return this.#last < 0 ? NONE : (this.table.entries[this.#last + FIELD.follower] as number);
  }

  /** The full table becomes the old one. */
  #turn(): void {
    const forgotten = this.#old;
    forgotten.clear();
    this.#old = this.table;
    this.table = forgotten;
    this.#last = NONE;
  }
}
