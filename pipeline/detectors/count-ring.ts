import type { ByteReader, ByteWriter } from '../core/snapshot-bytes.ts';

/** Counts below it are kept as they are; above it by their logarithm, to a thousandth, up to 2^53. */
const EXACT = 32_768;
const PER_OCTAVE = 862;
const CODES = 65_536;

const VALUES = Float64Array.from({ length: CODES }, (_none, code) => (code < EXACT ? code : EXACT * 2 ** ((code - EXACT) / PER_OCTAVE)));

const codeOf = (count: number): number =>
  count < EXACT ? Math.max(0, Math.round(count)) : Math.min(CODES - 1, EXACT + Math.round(Math.log2(count / EXACT) * PER_OCTAVE));

const scratch = new Uint16Array(512);

/** The counts of the last `length` spans of time, an even number, by their number: two bytes each. Whoever uses it knows which are there. */
export class CountRing {
  readonly #codes: Uint16Array;

  constructor(length: number) {
    this.#codes = new Uint16Array(length);
  }

  at(index: number): number {
    return VALUES[this.#codes[this.#place(index)] as number] as number;
  }

  set(index: number, count: number): void {
    this.#codes[this.#place(index)] = codeOf(count);
  }

  add(index: number, count: number): void {
    this.set(index, this.at(index) + count);
  }

  /** Those of `from` on and before `to`, added up. */
  sum(from: number, to: number): number {
    let sum = 0;
    let left = Math.min(to - from, this.#codes.length);
    for (let place = left > 0 ? this.#place(from) : 0; left > 0; place = 0) {
      const until = Math.min(this.#codes.length, place + left);
      left -= until - place;
      for (; place < until; place++) sum += VALUES[this.#codes[place] as number] as number;
    }
    return sum;
  }

  /** The one in the middle of those of `from` on and before `to`; 0 of none. */
  median(from: number, to: number): number {
    const count = Math.max(0, Math.min(to - from, scratch.length));
    // codes are in the order of their counts
    for (let index = 0; index < count; index++) scratch[index] = this.#codes[this.#place(from + index)] as number;
    const sorted = scratch.subarray(0, count).sort();
    return VALUES[sorted[count >> 1] ?? 0] as number;
  }

  /** As two bytes each, or shorter where most are small. */
  write(to: ByteWriter): void {
    let size = 0;
    for (const code of this.#codes) size += code < 128 ? 1 : code < 16_384 ? 2 : 3;
    const isShort = size < 2 * this.#codes.length;
    to.count(isShort ? 1 : 0);
    if (isShort) to.counts(this.#codes);
    else
      for (let place = 0; place < this.#codes.length; place += 2)
        to.word((this.#codes[place] ?? 0) + (this.#codes[place + 1] ?? 0) * CODES);
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader, length: number): CountRing {
    const ring = new CountRing(length);
    const isShort = from.count(1) === 1;
    for (let place = 0; isShort && place < length; place++) ring.#codes[place] = from.count(CODES - 1);
    for (let place = 0; !isShort && place < length; place += 2) {
      const word = from.word();
      [ring.#codes[place], ring.#codes[place + 1]] = [word % CODES, Math.floor(word / CODES)];
    }
    return ring;
  }

  #place(index: number): number {
    const { length } = this.#codes;
    const place = index % length;
    return place < 0 ? place + length : place;
  }
}
