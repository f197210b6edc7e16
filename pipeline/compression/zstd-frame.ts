import { MAX_BLOCK_BYTES } from './zstd-block.ts';
import { fail } from './zstd-entropy.ts';

export const MAGIC = 0xfd2fb528;

/** The header of a frame. `after`: the offset of its first block. */
export type Header = {
  readonly after: number;
  readonly contentSize: number | null;
  readonly maxBlock: number;
  readonly hasChecksum: boolean;
};

/** Reads the header of a frame, from behind its magic number on. RFC 8878, 3.1.1.1. */
export function readHeader(view: DataView, start: number, end: number): Header {
  const descriptor = view.getUint8(start);
  const single = (descriptor & 0x20) !== 0;
  if ((descriptor & 0x08) !== 0) fail('a reserved bit is set');
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number;
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] as number;
  const dictionaryAt = start + (single ? 1 : 2);
  const sizeAt = dictionaryAt + dictionaryBytes;
  const after = sizeAt + sizeBytes;
  if (after > end) fail('the header of a frame ends early');
  for (let i = 0; i < dictionaryBytes; i++) if (view.getUint8(dictionaryAt + i) !== 0) fail('it needs a dictionary');
  const contentSize = readContentSize(view, sizeAt, sizeBytes);
  const windowBits = view.getUint8(start + 1);
  const base = 2 ** (10 + (windowBits >> 3));
  const windowSize = single ? (contentSize ?? 0) : base + (base / 8) * (windowBits & 7);
  return {
    after,
    contentSize,
    maxBlock: Math.min(windowSize, contentSize ?? Infinity, MAX_BLOCK_BYTES),
    hasChecksum: (descriptor & 0x04) !== 0,
  };
}

function readContentSize(view: DataView, at: number, count: number): number | null {
  if (count === 0) return null;
  if (count === 1) return view.getUint8(at);
  if (count === 2) return view.getUint16(at, true) + 256;
  return count === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}

/** Whether the bytes are one frame, from its beginning to its end, of at most `mostBlocks` blocks; their content is not checked. */
export function isOneFrame(bytes: Buffer, mostBlocks: number): boolean {
  const end = bytes.length;
  if (end < 5 || bytes.readUInt32LE(0) !== MAGIC) return false;
  const { after, hasChecksum } = readHeader(new DataView(bytes.buffer, bytes.byteOffset, end), 4, end);
  let at = after;
  for (let block = 0; block < mostBlocks; block++) {
    if (at + 3 > end) return false;
    const header = bytes.readUIntLE(at, 3);
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3);
    if ((header & 1) === 1) return at + (hasChecksum ? 4 : 0) === end;
  }
  return false;
}
