import { promisify } from 'node:util';
import { gunzip, gunzipSync, type ZlibOptions } from 'node:zlib';
import { corrupt, type Coding, type TooLarge } from './corrupt.ts';
import { inflateSnappy } from './snappy.ts';
import { inflateZstd } from './zstd.ts';

export type { Coding, TooLarge };

/**
 * Decompresses a whole body to at most `cap` bytes, allocating no more than about that, whatever the stream claims. Throws
 * HttpError: `tooLarge` above the cap, 400 where the stream is corrupt, truncated or followed by anything else.
 */
export async function inflate(coding: Coding, bytes: Buffer, cap: number, tooLarge: TooLarge): Promise<Buffer> {
  if (coding === 'gzip') return inflateGzip(bytes, cap, tooLarge);
  return coding === 'zstd' ? inflateZstd(bytes, cap, tooLarge) : inflateSnappy(bytes, cap, tooLarge);
}

/** What node:zlib gives with the option `info`: `bytesWritten` is how much of the input was consumed. */
type WithInfo = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
type GunzipInfo = (bytes: Buffer, options: ZlibOptions) => Promise<WithInfo>;

const gunzipInThread = promisify(gunzip) as unknown as GunzipInfo;
/** Bodies up to this size are not worth the way to another thread. */
const SMALL = 16_384;

/** RFC 1952, any number of members. */
async function inflateGzip(bytes: Buffer, cap: number, tooLarge: TooLarge): Promise<Buffer> {
  const chunkSize = Math.min(262_144, Math.max(16_384, bytes.length * 8));
  const options = { info: true, maxOutputLength: Math.max(1, cap), chunkSize };
  let result: WithInfo;
  try {
    result = bytes.length <= SMALL ? (gunzipSync(bytes, options) as unknown as WithInfo) : await gunzipInThread(bytes, options);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(cap, true);
    throw corrupt('gzip', error instanceof Error ? error.message : 'unreadable');
  }
  // zlib passes over NUL bytes after the last member
  if (result.engine.bytesWritten !== bytes.length) throw corrupt('gzip', 'something follows its end');
  return result.buffer;
}
