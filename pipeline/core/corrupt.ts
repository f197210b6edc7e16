import { invalidBody, type HttpError } from './errors.ts';

/** How a body can be compressed. */
export type Coding = 'gzip' | 'zstd' | 'snappy';

/** Makes the error for an output that would pass the cap; `received` is exact, or the count at which decompressing stopped (`more`). */
export type TooLarge = (received: number, more: boolean) => HttpError;

/** The 400 for a stream that cannot be decompressed. */
export function corrupt(coding: Coding | 'lz4', reason: string): HttpError {
  return invalidBody(`The ${coding} stream is corrupt: ${reason}.`);
}
