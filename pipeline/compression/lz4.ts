import { corrupt, type TooLarge } from './corrupt.ts';

const MAGIC = 0x184d2204;
const MIN_GROWTH = 65_536;

function fail(reason: string): never {
  throw corrupt('lz4', reason);
}

/**
 * One LZ4 frame. https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and lz4_Block_format.md. Its checksums are not compared: what
 * it came in has one of its own.
 */
export function inflateLz4(bytes: Buffer, cap: number, tooLarge: TooLarge): Buffer {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== MAGIC) fail('it does not begin like a frame');
  const flags = bytes[4] as number;
  if (flags >>> 6 !== 1) fail('its version is not known');
  if ((flags & 0x01) !== 0) fail('it needs a dictionary');
  const [isLinked, hasBlockSums, hasSize, hasSum] = [
    (flags & 0x20) === 0,
    (flags & 0x10) !== 0,
    (flags & 0x08) !== 0,
    (flags & 0x04) !== 0,
  ];
  const largest = 2 ** (8 + 2 * (((bytes[5] as number) >>> 4) & 7));
  if (largest < MIN_GROWTH) fail('its block size is not known');
  const out = new Output(cap, tooLarge);
  let at = 7 + (hasSize ? 8 : 0);
  for (;;) {
    if (at + 4 > bytes.length) fail('it ends before its end mark');
    const word = bytes.readUInt32LE(at);
    at += 4;
    if (word === 0) break;
    const length = word & 0x7fffffff;
    if (length > largest) fail('a block is larger than it may be');
    if (at + length > bytes.length) fail('it ends inside a block');
    const block = bytes.subarray(at, at + length);
    const start = out.length;
    if (word >= 0x80000000) out.append(block, 0, length);
    else inflateBlock(block, out, isLinked ? 0 : start);
    if (out.length - start > largest) fail('a block holds more than it may');
    at += length + (hasBlockSums ? 4 : 0);
  }
  if (at + (hasSum ? 4 : 0) !== bytes.length) fail('it does not end at its end mark');
  return out.bytes();
}

/** One block without a frame around it, of `size` bytes at most. */
export function inflateLz4Block(block: Buffer, size: number, tooLarge: TooLarge): Buffer {
  const out = new Output(size, tooLarge);
  inflateBlock(block, out, 0);
  return out.bytes();
}

/** Sequences: literals, then a copy of what came at most 65,535 bytes before; the last one is literals alone. `first`: where copies may begin. */
function inflateBlock(block: Buffer, out: Output, first: number): void {
  let at = 0;
  /** A length that goes on in further bytes, each of 255 but the last. */
  const more = (nibble: number): number => {
    let length = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; length += byte) byte = block[at++] ?? fail('a block ends inside a length');
    return length;
  };
  for (;;) {
    const token = block[at++] ?? fail('a block ends before its last literals');
    const literals = more(token >>> 4);
    if (at + literals > block.length) fail('a literal leaves its block');
    out.append(block, at, at + literals);
    at += literals;
    if (at === block.length) return;
    if (at + 2 > block.length) fail('a block ends inside a copy');
    const offset = block.readUInt16LE(at);
    at += 2;
    if (offset === 0 || out.length - offset < first) fail('a copy leaves its bounds');
    out.repeat(offset, more(token & 15) + 4);
  }
}

/** What has been written so far; it grows as it must, never beyond the cap. */
class Output {
  readonly #cap: number;
  readonly #tooLarge: TooLarge;
  #buffer = Buffer.allocUnsafe(MIN_GROWTH);
  length = 0;

  constructor(cap: number, tooLarge: TooLarge) {
    this.#cap = cap;
    this.#tooLarge = tooLarge;
  }

  append(source: Buffer, from: number, to: number): void {
    this.#reserve(to - from);
    this.length += source.copy(this.#buffer, this.length, from, to);
  }

  /** Writes `size` bytes again that lie `offset` back; they may reach into what is written by that. */
  repeat(offset: number, size: number): void {
    this.#reserve(size);
    const end = this.length + size;
    while (this.length < end) {
      const step = Math.min(offset, end - this.length);
      if (step < 32) for (const stop = this.length + step; this.length < stop; this.length++) this.#copyByte(offset);
      else {
        this.#buffer.copyWithin(this.length, this.length - offset, this.length - offset + step);
        this.length += step;
      }
    }
  }

  #copyByte(offset: number): void {
    this.#buffer[this.length] = this.#buffer[this.length - offset] as number;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed > this.#cap) throw this.#tooLarge(this.#cap, true);
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(this.#cap, 2 * this.#buffer.length)));
    this.#buffer.copy(grown, 0, 0, this.length);
    this.#buffer = grown;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }
}
