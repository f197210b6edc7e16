import type { ByteReader, ByteWriter } from '../core/snapshot-bytes.ts';

/** Counts below it are kept as they are; above it by their logarithm, to a thousandth, up to 2^53. */
const EXACT = 32_768;
const PER_OCTAVE = 862;
const CODES = 65_536;

const VALUES = Float64Array.from({ length: CODES }, (_none, code) => (code < EXACT ? code : EXACT * 2 ** ((code - EXACT) / PER_OCTAVE)));

const codeOf = (count: number): number =>
  count < EXACT ? Math.max(0, Math.round(count)) : Math.min(CODES - 1, EXACT + Math.round(Math.log2(count / EXACT) * PER_OCTAVE));

/** The counts of the last `length` spans of time by their number, two bytes each. Whoever uses it knows which are there. */
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
    for (let index = from; index < to; index++) sum += VALUES[this.#codes[this.#place(index)] as number] as number;
    return sum;
  }

  write(to: ByteWriter): void {
    for (const code of this.#codes) to.count(code);
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader, length: number): CountRing {
    const ring = new CountRing(length);
    for (let place = 0; place < length; place++) ring.#codes[place] = from.count(CODES - 1);
    return ring;
  }

  #place(index: number): number {
    const { length } = this.#codes;
    const place = index % length;
    return place < 0 ? place + length : place;
  }
}
