import type { ByteReader, ByteWriter } from '../core/snapshot-bytes.ts';
import { Slab } from './slab.ts';

/** Counts below it are kept as they are; above it by their logarithm, to a thousandth, up to 2^53. */
const EXACT = 32_768;
const PER_OCTAVE = 862;
const CODES = 65_536;

const VALUES = Float64Array.from({ length: CODES }, (_none, code) => (code < EXACT ? code : EXACT * 2 ** ((code - EXACT) / PER_OCTAVE)));

const codeOf = (count: number): number =>
  count < EXACT ? Math.max(0, Math.round(count)) : Math.min(CODES - 1, EXACT + Math.round(Math.log2(count / EXACT) * PER_OCTAVE));

const scratch = new Uint16Array(512);

/** The counts of the last `length` spans of time, an even number, by their number: two bytes each. The caller knows which are there. */
export class CountRing {
  readonly #slab: Slab;
  readonly #from: number;
  readonly #length: number;

  /** `slab`: where its counts lie, from a place on. */
  constructor(length: number, slab = new Slab(length), from = 0) {
    this.#length = length;
    this.#slab = slab;
    this.#from = from;
  }

  at(index: number): number {
    return VALUES[this.#slab.get(this.#place(index))] as number;
  }

  set(index: number, count: number): void {
    this.#slab.set(this.#place(index), codeOf(count));
  }

  add(index: number, count: number): void {
    this.set(index, this.at(index) + count);
  }

  clear(): void {
    for (let place = this.#from; place < this.#from + this.#length; place++) this.#slab.set(place, 0);
  }

  /** Those of `from` on and before `to`, added up. */
  sum(from: number, to: number): number {
    const codes = this.#slab.numbers;
    if (codes.length === 0) return 0;
    const end = this.#from + this.#length;
    let sum = 0;
    let left = Math.min(to - from, this.#length);
    for (let place = left > 0 ? this.#place(from) : 0; left > 0; place = this.#from) {
      const until = Math.min(end, place + left);
      left -= until - place;
      for (; place < until; place++) sum += VALUES[codes[place] as number] as number;
    }
    return sum;
  }

  /** The one in the middle of those of `from` on and before `to`; 0 of none. */
  median(from: number, to: number): number {
    const count = Math.max(0, Math.min(to - from, scratch.length));
    // codes are in the order of their counts
    for (let index = 0; index < count; index++) scratch[index] = this.#slab.get(this.#place(from + index));
    const sorted = scratch.subarray(0, count).sort();
    return VALUES[sorted[count >> 1] ?? 0] as number;
  }

  /** As two bytes each, or shorter where most are small. */
  write(to: ByteWriter): void {
    const codes = this.#slab.view(this.#from, this.#length);
    let size = 0;
    for (const code of codes) size += code < 128 ? 1 : code < 16_384 ? 2 : 3;
    const isShort = size < 2 * codes.length;
    to.count(isShort ? 1 : 0);
    if (isShort) to.counts(codes);
    else for (let place = 0; place < codes.length; place += 2) to.word((codes[place] ?? 0) + (codes[place + 1] ?? 0) * CODES);
  }

  /** Takes what `write` wrote; throws CutOff where it is anything else. */
  read(from: ByteReader): void {
    const isShort = from.count(1) === 1;
    const end = this.#from + this.#length;
    for (let place = this.#from; isShort && place < end; place++) this.#slab.set(place, from.count(CODES - 1));
    for (let place = this.#from; !isShort && place < end; place += 2) {
      const word = from.word();
      this.#slab.set(place, word % CODES);
      this.#slab.set(place + 1, Math.floor(word / CODES));
    }
  }

  #place(index: number): number {
    const place = index % this.#length;
    return this.#from + (place < 0 ? place + this.#length : place);
  }
}
