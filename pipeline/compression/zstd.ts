import { promisify } from 'node:util';
import { constants, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { corrupt, type TooLarge } from './corrupt.ts';
import { inThreads } from './in-threads.ts';
import { infoOptions, refuse, smallAtOnce, type InfoOptions, type WithInfo } from './zlib-info.ts';

const inThread = promisify(zstdDecompress) as unknown as (bytes: Buffer, options: InfoOptions) => Promise<WithInfo>;
const atOnce = zstdDecompressSync as unknown as (bytes: Buffer, options: InfoOptions) => WithInfo;
/** The largest window that there is, 2 GiB. It costs no memory: what is written to it is bounded by the cap. */
const params = { [constants.ZSTD_d_windowLogMax]: 31 };
/** Node 26 decompresses all frames in one go, Node 24 one after another. */
const MAX_GOES = 1000;

/** Zstandard (RFC 8878), any number of frames, to at most `cap` bytes. */
export async function inflateZstd(bytes: Buffer, cap: number, tooLarge: TooLarge, tenantId = 0): Promise<Buffer> {
  const parts: Buffer[] = [];
  let [at, size] = [0, 0];
  do {
    if (parts.length === MAX_GOES) throw corrupt('zstd', 'it has too many frames');
    const { buffer, engine } = await inflateSome(bytes.subarray(at), cap - size);
    parts.push(buffer);
    at += engine.bytesWritten;
    size += buffer.length;
    if (size > cap) throw tooLarge(cap, true);
  } while (at < bytes.length);
  // Node 26 takes up to three bytes that a frame may begin with for a whole one
  if (endOfFrames(bytes) !== bytes.length) throw corrupt('zstd', 'unexpected end of file');
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);

  async function inflateSome(rest: Buffer, left: number): Promise<WithInfo> {
    try {
      const options = (most: number): InfoOptions => ({ ...infoOptions(rest, most), params });
      return (
        smallAtOnce(rest, left, (most) => atOnce(rest, options(most))) ?? (await inThreads(tenantId, () => inThread(rest, options(left))))
      );
    } catch (error) {
      return refuse('zstd', error, cap, tooLarge);
    }
  }
}

const SKIPPABLE = 0x184d2a50;
/** How many bytes of a frame's header say its dictionary and its size, by bits of the descriptor (RFC 8878, 3.1.1.1). */
const DICTIONARY = [0, 1, 2, 4];
const SIZE = [0, 2, 4, 8];

/** Where the last frame ends; all frames are known to be whole and valid. */
function endOfFrames(bytes: Buffer): number {
  let at = 0;
  while (at + 4 <= bytes.length) at = frameEnd(bytes, at);
  return at;
}

function frameEnd(bytes: Buffer, start: number): number {
  if ((bytes.readUInt32LE(start) & ~15) === SKIPPABLE) return start + 8 + bytes.readUInt32LE(start + 4);
  const descriptor = bytes[start + 4] as number;
  // a window, or a size of at least one byte
  const isOneMore = (descriptor & 0x20) === 0 || descriptor >> 6 === 0;
  let at = start + 5 + (isOneMore ? 1 : 0) + (DICTIONARY[descriptor & 3] as number) + (SIZE[descriptor >> 6] as number);
  for (let isLast = false; !isLast;) {
    const header = bytes.readUIntLE(at, 3);
    isLast = (header & 1) === 1;
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3);
  }
  const checksum = descriptor & 4;
  return at + checksum;
}
