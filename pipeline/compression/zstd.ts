import xxhash from 'xxhash-wasm';
import { corrupt, type TooLarge } from './corrupt.ts';
import { inflateNatively } from './zstd-native.ts';
import { decodeBlock, MAX_BLOCK_BYTES, type FrameState } from './zstd-block.ts';
import { MAGIC, readHeader } from './zstd-frame.ts';
import { fail } from './zstd-entropy.ts';

/**
 * Zstandard (RFC 8878), any number of frames, to at most `cap` bytes: by Node's zlib where that has it (22.15) and takes it, else by a reader
 * of our own, which also reports what is wrong.
 */
export async function inflateZstd(bytes: Buffer, cap: number, tooLarge: TooLarge): Promise<Buffer> {
  return (await inflateNatively(bytes, cap)) ?? decodeZstd(bytes, cap, tooLarge);
}

/** The same by our own reader: fzstd 0.1 lets one block of 19 bytes copy without bounds for seconds, and verifies no checksum. */
export async function decodeZstd(bytes: Buffer, cap: number, tooLarge: TooLarge): Promise<Buffer> {
  if (bytes.length === 0) fail('it is empty');
  const hash = await (hasher ??= xxhash());
  const output = new Output(bytes.length, cap, tooLarge);
  // slack, so that reading whole words never leaves the array
  const input = new Uint8Array(bytes.length + SLACK);
  input.set(bytes);
  const end = bytes.length;
  const work = { blocks: 0, max: FEWEST_MAX_BLOCKS + Math.floor(cap / 64) };
  for (let at = 0; at < end;) at = readFrame(input, at, end, output, work, (content) => Number(hash.h64Raw(content) & 0xffff_ffffn));
  return output.bytes.subarray(0, output.length);
}

let hasher: ReturnType<typeof xxhash> | null = null;

const SLACK = 8;
const SKIPPABLE = 0x184d2a50;
/** Blocks are counted, since each may cost the building of tables however small it is; no encoder comes near. */
const FEWEST_MAX_BLOCKS = 10_000;
/** Up to here the output doubles as it grows; then it gets all the memory it may need, so that a bomb costs the cap and little more. */
const SMALL_OUTPUT = 524_288;

type Work = { blocks: number; readonly max: number };

/** Where the content goes. */
class Output {
  bytes: Buffer;
  length = 0;
  readonly #cap: number;
  readonly #tooLarge: TooLarge;

  constructor(compressed: number, cap: number, tooLarge: TooLarge) {
    this.#cap = cap;
    this.#tooLarge = tooLarge;
    this.bytes = Buffer.allocUnsafe(Math.min(cap, SMALL_OUTPUT, compressed * 8));
  }

  /** A frame states how much it holds. */
  announce(size: number): void {
    if (this.length + size > this.#cap) throw this.#tooLarge(this.length + size, false);
    this.reserve(size);
  }

  /** Makes space for `size` more bytes. */
  reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return;
    const wanted = Math.max(this.length + size, this.bytes.length * 2);
    const larger = Buffer.allocUnsafe(wanted <= SMALL_OUTPUT ? wanted : this.#cap + MAX_BLOCK_BYTES);
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  /** Sets the new end of the content. */
  advance(length: number): void {
    this.length = length;
    if (length > this.#cap) throw this.#tooLarge(this.#cap, true);
  }
}

/** Reads one frame, skippable or not; gives the offset after it. RFC 8878, 3.1. */
function readFrame(
  bytes: Uint8Array,
  start: number,
  end: number,
  output: Output,
  work: Work,
  checksum: (content: Uint8Array) => number,
): number {
  if (start + 5 > end) fail(start === 0 ? 'it is too short' : 'something follows its end');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const magic = view.getUint32(start, true);
  if (magic - (magic & 15) === SKIPPABLE) return skipFrame(view, start, end);
  if (magic !== MAGIC) fail(start === 0 ? 'it does not begin as Zstandard' : 'something follows its end');
  const header = readHeader(view, start + 4, end);
  if (header.contentSize !== null) output.announce(header.contentSize);
  const begin = output.length;
  const state: FrameState = { begin, maxBlock: header.maxBlock, repeat: [1, 4, 8], huffman: null, tables: null };
  let at = readBlocks(bytes, header.after, end, state, output, work);
  if (header.contentSize !== null && output.length - begin !== header.contentSize) fail('a frame does not hold what it announces');
  if (header.hasChecksum) {
    if (at + 4 > end) fail('the checksum is missing');
    if (view.getUint32(at, true) !== checksum(output.bytes.subarray(begin, output.length))) fail('the checksum does not match');
    at += 4;
  }
  return at;
}

function skipFrame(view: DataView, start: number, end: number): number {
  const after = start + 8 > end ? Infinity : start + 8 + view.getUint32(start + 4, true);
  return after > end ? fail('a skippable frame ends early') : after;
}

function readBlocks(bytes: Uint8Array, start: number, end: number, state: FrameState, output: Output, work: Work): number {
  let at = start;
  for (let last = false; !last;) {
    if (at + 3 > end) throw corrupt('zstd', 'it ends early');
    if (++work.blocks > work.max) fail('it has too many blocks');
    const header = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
    last = (header & 1) === 1;
    const type = (header >> 1) & 3;
    const size = header >> 3;
    const after = at + 3 + (type === 1 ? 1 : size);
    if (after > end) fail('it ends inside a block');
    if (size > state.maxBlock || type === 3) fail('a block is not valid');
    output.reserve(type === 2 ? state.maxBlock : size);
    output.advance(readBlock(bytes, at + 3, after, type, size, state, output));
    at = after;
  }
  return at;
}

function readBlock(bytes: Uint8Array, from: number, after: number, type: number, size: number, state: FrameState, output: Output): number {
  const { bytes: out, length } = output;
  if (type === 2) return decodeBlock(state, bytes, from, after, out, length);
  if (type === 0) out.set(bytes.subarray(from, after), length);
  else out.fill(bytes[from] as number, length, length + size);
  return length + size;
}
