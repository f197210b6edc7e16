import { corrupt } from './corrupt.ts';

/** The entropy coders of Zstandard (RFC 8878, section 4): bits read backwards, FSE tables, Huffman trees. */

export function fail(reason: string): never {
  throw corrupt('zstd', reason);
}

/** Reads bits from the end of a piece of the input towards its begin. The highest set bit of the last byte only marks the end. */
export class BackwardBits {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  /** Bits that are left; below 0 once more was read than there is, which callers check. */
  left: number;

  /** The bits of `bytes[start, end)`. The array must have 4 bytes of slack after its data. */
  constructor(bytes: Uint8Array, start: number, end: number) {
    const last = end > start ? (bytes[end - 1] as number) : 0;
    if (last === 0) fail('a bit stream has no end mark');
    this.#bytes = bytes;
    this.#start = start;
    this.left = (end - start) * 8 - (Math.clz32(last) - 24) - 1;
  }

  /** The next `count` bits (at most 24) without taking them; zeros where there are no more. */
  peek(count: number): number {
    const at = this.left - count;
    if (at < 0) return at <= -24 || this.left <= 0 ? 0 : (this.#at(0) & ((1 << this.left) - 1)) << -at;
    return this.#at(at) & ((1 << count) - 1);
  }

  /** Takes the next `count` bits, at most 31. */
  read(count: number): number {
    if (count > 24) return this.read(count - 16) * 65_536 + this.read(16);
    const bits = this.peek(count);
    this.left -= count;
    return bits;
  }

  /** 25 or more bits that begin at this bit of the piece. */
  #at(bit: number): number {
    const bytes = this.#bytes;
    const at = this.#start + (bit >> 3);
    return (
      ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)) >>>
      (bit & 7)
    );
  }
}

/** An FSE decoding table: for each state its symbol, and how the next state is made: `base` plus that many `bits`. */
export type FseTable = { readonly log: number; readonly symbols: Uint8Array; readonly bits: Uint8Array; readonly base: Uint16Array };

/** A table that always gives the same symbol. */
export function constantTable(symbol: number): FseTable {
  return { log: 0, symbols: Uint8Array.of(symbol), bits: new Uint8Array(1), base: new Uint16Array(1) };
}

/** The table of these normalized counts (-1: "less than one"). RFC 8878, 4.1.1. */
export function buildFse(counts: readonly number[], log: number): FseTable {
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const next = new Uint16Array(counts.length);
  let high = size - 1;
  for (const [symbol, count] of counts.entries()) {
    next[symbol] = count === -1 ? 1 : count;
    if (count === -1) symbols[high--] = symbol;
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  for (const [symbol, count] of counts.entries()) {
    for (let i = 0; i < count; i++) {
      symbols[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at > high);
    }
  }
  if (at !== 0) fail('an FSE table does not come out even');
  const bits = new Uint8Array(size);
  const base = new Uint16Array(size);
  for (let state = 0; state < size; state++) {
    const symbol = symbols[state] as number;
    const x = next[symbol] as number;
    next[symbol] = x + 1;
    const width = log - (31 - Math.clz32(x));
    bits[state] = width;
    base[state] = (x << width) - size;
  }
  return { log, symbols, bits, base };
}

/** Reads the description of an FSE table in `bytes[start, end)`; gives the table and the offset after it. */
export function readFse(
  bytes: Uint8Array,
  start: number,
  end: number,
  maxLog: number,
  maxSymbol: number,
): { readonly table: FseTable; readonly after: number } {
  let bit = 0;
  const peek = (count: number): number => {
    const at = start + (bit >> 3);
    const word = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
    return (word >>> (bit & 7)) & ((1 << count) - 1);
  };
  const take = (count: number): number => {
    const value = peek(count);
    bit += count;
    if (start + ((bit + 7) >> 3) > end) fail('an FSE description ends early');
    return value;
  };
  if (start >= end) fail('an FSE description is missing');
  const log = take(4) + 5;
  if (log > maxLog) fail('an FSE table is too large');
  const counts: number[] = [];
  let remaining = (1 << log) + 1;
  let threshold = 1 << log;
  let width = log + 1;
  while (remaining > 1) {
    const max = 2 * threshold - 1 - remaining;
    const low = peek(width - 1);
    let count = low < max ? take(width - 1) : take(width);
    if (low >= max && count >= threshold) count -= max;
    counts.push(count - 1);
    remaining -= count === 0 ? 1 : count - 1;
    if (remaining < 1) fail('the counts of an FSE table are too high');
    if (count === 1) {
      let zeros: number;
      do {
        zeros = take(2);
        for (let i = 0; i < zeros; i++) counts.push(0);
      } while (zeros === 3 && counts.length <= maxSymbol);
    }
    if (counts.length > maxSymbol + 1) fail('an FSE table has too many symbols');
    for (; remaining < threshold && width > 1; width--) threshold >>= 1;
  }
  return { table: buildFse(counts, log), after: start + ((bit + 7) >> 3) };
}

/** A Huffman decoding table over `log` bits: for each pattern its symbol and how many bits that one has. */
export type HuffmanTable = { readonly log: number; readonly symbols: Uint8Array; readonly bits: Uint8Array };

const MAX_HUFFMAN_LOG = 11;

/** Reads a Huffman tree description in `bytes[start, end)`. RFC 8878, 4.2.1. */
export function readHuffman(bytes: Uint8Array, start: number, end: number): { readonly table: HuffmanTable; readonly after: number } {
  if (start >= end) fail('a Huffman tree is missing');
  const head = bytes[start] as number;
  const direct = head >= 128;
  const after = start + 1 + (direct ? (head - 126) >> 1 : head);
  if (after > end) fail('a Huffman tree ends early');
  const weights = direct
    ? Array.from({ length: head - 127 }, (_, i) => ((bytes[start + 1 + (i >> 1)] as number) >> (i % 2 === 0 ? 4 : 0)) & 15)
    : readWeights(bytes, start + 1, after);
  return { table: buildHuffman(weights), after };
}

/** Weights compressed with FSE: two states that take turns until the bits are used up. */
function readWeights(bytes: Uint8Array, start: number, end: number): number[] {
  const { table, after } = readFse(bytes, start, end, 6, 255);
  const bits = new BackwardBits(bytes, after, end);
  const states = [bits.read(table.log), bits.read(table.log)];
  if (bits.left < 0) fail('the weights of a Huffman tree end early');
  const weights: number[] = [];
  for (let turn = 0; weights.length < 255; turn ^= 1) {
    const state = states[turn] as number;
    weights.push(table.symbols[state] as number);
    const width = table.bits[state] as number;
    if (width > bits.left) {
      weights.push(table.symbols[states[turn ^ 1] as number] as number);
      return weights;
    }
    states[turn] = (table.base[state] as number) + bits.read(width);
  }
  return fail('a Huffman tree has too many weights');
}

/** The table of these weights; the last symbol's weight is what is missing to a power of two. */
function buildHuffman(weights: number[]): HuffmanTable {
  if (weights.length > 255) fail('a Huffman tree has too many weights');
  const total = weights.reduce((sum, weight) => sum + (weight === 0 ? 0 : 2 ** (weight - 1)), 0);
  if (total === 0 || total >= 1 << MAX_HUFFMAN_LOG) fail('the weights of a Huffman tree are wrong');
  const log = 32 - Math.clz32(total);
  const missing = (1 << log) - total;
  if ((missing & (missing - 1)) !== 0) fail('a Huffman tree is not complete');
  weights.push(32 - Math.clz32(missing));
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const bits = new Uint8Array(size);
  let at = 0;
  for (let weight = 1; weight <= log; weight++) {
    const span = 1 << (weight - 1);
    for (const [symbol, own] of weights.entries()) {
      if (own !== weight) continue;
      symbols.fill(symbol, at, at + span);
      bits.fill(log + 1 - weight, at, at + span);
      at += span;
    }
  }
  if (at !== size) fail('a Huffman tree is not complete');
  return { log, symbols, bits };
}

/** Decodes one Huffman stream, `bytes[start, end)`, into `out[to, stop)`; all bits must be used. */
export function decodeHuffman(
  table: HuffmanTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  to: number,
  stop: number,
): void {
  const { log, symbols, bits } = table;
  const stream = new BackwardBits(bytes, start, end);
  for (let at = to; at < stop; at++) {
    const pattern = stream.peek(log);
    out[at] = symbols[pattern] as number;
    stream.left -= bits[pattern] as number;
    if (stream.left < 0) fail('a Huffman stream ends early');
  }
  if (stream.left !== 0) fail('a Huffman stream is too long');
}
