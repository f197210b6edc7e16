import type { ZlibOptions, ZstdOptions } from 'node:zlib';
import { HttpError } from '../core/errors.ts';
import { corrupt, type Coding, type TooLarge } from './corrupt.ts';

/** What node:zlib gives with the option `info`: `bytesWritten` is how much of the input was consumed. */
export type WithInfo = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
export type InfoOptions = (ZlibOptions | ZstdOptions) & { readonly info: true };

/** Bodies up to this size are not worth the way to another thread, unless they become larger than this. */
const SMALL = 16_384;
const SMALL_INFLATED = 262_144;

/** Decompresses a small body at once; null where it becomes a large one, which takes long: that is a thread's. What else is wrong is thrown. */
export function smallAtOnce<Result>(bytes: Buffer, cap: number, inflate: (cap: number) => Result): Result | null {
  if (bytes.length > SMALL) return null;
  try {
    return inflate(Math.min(cap, SMALL_INFLATED));
  } catch (error) {
    if (cap > SMALL_INFLATED && (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  }
}

/** Of at most `cap` bytes. The output is allocated in pieces that fit the input, so that a small body costs little. */
export function infoOptions(bytes: Buffer, cap: number): InfoOptions {
  const chunkSize = Math.min(262_144, Math.max(SMALL, bytes.length * 8));
  return { info: true, maxOutputLength: Math.max(1, cap), chunkSize };
}

/** Throws what an error of node:zlib means to a client. */
export function refuse(coding: Coding, error: unknown, cap: number, tooLarge: TooLarge): never {
  if (error instanceof HttpError) throw error;
  const { code, message } = error as NodeJS.ErrnoException;
  // a frame that holds more than 2 GiB, by its header
  if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'ZSTD_error_frameParameter_windowTooLarge') throw tooLarge(cap, true);
  throw corrupt(coding, message.slice(0, 1).toLowerCase() + message.slice(1));
}
