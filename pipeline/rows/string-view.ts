/**
 * Strings in Native's form, where they lie: string i is `bytes[starts[i]..ends[i])`, all of them are `bytes[from..to)`. Where each begins
 * is found at the first access, since most readers look at few columns. One object serves record after record, so that a record of few
 * rows takes no memory: what it gives is valid until the next record is read, and `starts` and `ends` may be longer than `count`.
 */
export class StringView {
  count = 0;
  from = 0;
  to = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #starts = new Uint32Array(0);
  #ends = this.#starts;
  #isKnown = true;

  /** Takes the `count` strings that begin at `from`. False where there are fewer. */
  read(bytes: Uint8Array, from: number, count: number): boolean {
    this.#bytes = bytes;
    this.#isKnown = false;
    this.from = from;
    this.to = endOfAll(bytes, from, count);
    this.count = this.to <= bytes.length ? count : 0;
    return this.to <= bytes.length;
  }

  get starts(): Uint32Array {
    if (!this.#isKnown) this.#find();
    return this.#starts;
  }

  get ends(): Uint32Array {
    if (!this.#isKnown) this.#find();
    return this.#ends;
  }

  #find(): void {
    const { count } = this;
    const bytes = this.#bytes;
    if (this.#starts.length < count || this.#starts.length > Math.max(count, KEPT)) {
      const length = Math.max(count, Math.min(this.#starts.length * 2, KEPT));
      this.#starts = new Uint32Array(length);
      this.#ends = new Uint32Array(length);
    }
    const starts = this.#starts;
    const ends = this.#ends;
    for (let i = 0, at = this.from; i < count; i++) {
      const length = bytes[at] as number;
      if (length < 128) {
        starts[i] = at + 1;
        at += length + 1;
      } else {
        const end = endOfLong(bytes, at);
        while ((bytes[at] as number) > 127) at += 1;
        starts[i] = at + 1;
        at = end;
      }
      ends[i] = at;
    }
    this.#isKnown = true;
  }
}

/** Offsets that are kept for the next record. More are given back: a hostile record may have millions of strings. */
const KEPT = 1 << 18;
/** Lengths have fewer bits than this factor, so that they are exact. */
const MAX_FACTOR = 4_294_967_296;

/** Where `count` strings end; more than there are bytes where one of them is cut off. */
function endOfAll(bytes: Uint8Array, from: number, count: number): number {
  const end = bytes.length;
  // each has at least the byte of its length
  if (count > end - from) return Infinity;
  let at = from;
  for (let left = count; left > 0; left--) {
    if (at >= end) return Infinity;
    const length = bytes[at] as number;
    at = length < 128 ? at + length + 1 : endOfLong(bytes, at);
  }
  return at;
}

/** Where a string of more than 127 bytes ends, whose length begins at `from`. */
function endOfLong(bytes: Uint8Array, from: number): number {
  let length = 0;
  for (let at = from, factor = 1; at < bytes.length && factor <= MAX_FACTOR; at++, factor *= 128) {
    const byte = bytes[at] as number;
    length += (byte & 127) * factor;
    if (byte < 128) return at + 1 + length;
  }
  return Infinity;
}
