import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { corrupt, type Coding, type TooLarge } from './corrupt.ts';
import { inThreads } from './in-threads.ts';
import { inflateSnappy } from './snappy.ts';
import { infoOptions, refuse, smallAtOnce, type InfoOptions, type WithInfo } from './zlib-info.ts';
import { inflateZstd } from './zstd.ts';

export type { Coding, TooLarge };

/**
 * Decompresses a whole body to at most `cap` bytes, allocating no more than about that, whatever the stream claims. Throws
 * HttpError: `tooLarge` above the cap, 400 where the stream is corrupt, truncated or followed by anything else, 429 where the tenant's
 * large bodies have waited too long.
 */
export async function inflate(coding: Coding, bytes: Buffer, cap: number, tooLarge: TooLarge, tenantId = 0): Promise<Buffer> {
  if (coding === 'gzip') return inflateGzip(bytes, cap, tooLarge, tenantId);
  return coding === 'zstd' ? inflateZstd(bytes, cap, tooLarge, tenantId) : inflateSnappy(bytes, cap, tooLarge);
}

const gunzipInThread = promisify(gunzip) as unknown as (bytes: Buffer, options: InfoOptions) => Promise<WithInfo>;

/** RFC 1952, any number of members. */
async function inflateGzip(bytes: Buffer, cap: number, tooLarge: TooLarge, tenantId: number): Promise<Buffer> {
  return checked(bytes, await gunzipped(bytes, cap, tenantId).catch((error: unknown) => refuse('gzip', error, cap, tooLarge)));
}

async function gunzipped(bytes: Buffer, cap: number, tenantId: number): Promise<WithInfo> {
  const small = smallAtOnce(bytes, cap, (most) => gunzipAtOnce(bytes, most));
  return small ?? inThreads(tenantId, () => gunzipInThread(bytes, infoOptions(bytes, cap)));
}

const gunzipAtOnce = (bytes: Buffer, cap: number): WithInfo => gunzipSync(bytes, infoOptions(bytes, cap)) as unknown as WithInfo;

/** The same at once, for what lies compressed inside of a body. */
export function inflateGzipSync(bytes: Buffer, cap: number, tooLarge: TooLarge): Buffer {
  let result: WithInfo;
  try {
    result = gunzipAtOnce(bytes, cap);
  } catch (error) {
    return refuse('gzip', error, cap, tooLarge);
  }
  return checked(bytes, result);
}

function checked(bytes: Buffer, { buffer, engine }: WithInfo): Buffer {
  // zlib passes over NUL bytes after the last member
  if (engine.bytesWritten !== bytes.length) throw corrupt('gzip', 'something follows its end');
  return buffer;
}
