import { CorruptBytes } from '../core/corrupt-bytes.ts';

/** How a body can be compressed. */
export type Coding = 'gzip' | 'zstd' | 'snappy';

/** Makes the error for an output that would pass the cap; `received` is exact, or the count at which decompressing stopped (`more`). */
export type TooLarge = (received: number, more: boolean) => Error;

/** The error for a stream that cannot be decompressed. */
export const corrupt = (coding: Coding | 'lz4', reason: string): CorruptBytes =>
  new CorruptBytes(`The ${coding} stream is corrupt: ${reason}.`);
