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
  if (bytes.length <= SMALL) return inflateGzipSync(bytes, cap, tooLarge);
  return checked(bytes, await gunzipInThread(bytes, gzipOptions(bytes, cap)).catch((error: unknown) => refuse(error, cap, tooLarge)));
}

/** The same at once, for what lies compressed inside of a body. */
export function inflateGzipSync(bytes: Buffer, cap: number, tooLarge: TooLarge): Buffer {
  let result: WithInfo;
  try {
    result = gunzipSync(bytes, gzipOptions(bytes, cap)) as unknown as WithInfo;
  } catch (error) {
    return refuse(error, cap, tooLarge);
  }
  return checked(bytes, result);
}

function gzipOptions(bytes: Buffer, cap: number): ZlibOptions {
  const chunkSize = Math.min(262_144, Math.max(16_384, bytes.length * 8));
  return { info: true, maxOutputLength: Math.max(1, cap), chunkSize };
}

function refuse(error: unknown, cap: number, tooLarge: TooLarge): never {
  if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(cap, true);
  throw corrupt('gzip', error instanceof Error ? error.message : 'unreadable');
}

function checked(bytes: Buffer, { buffer, engine }: WithInfo): Buffer {
  // zlib passes over NUL bytes after the last member
  if (engine.bytesWritten !== bytes.length) throw corrupt('gzip', 'something follows its end');
  return buffer;
}
