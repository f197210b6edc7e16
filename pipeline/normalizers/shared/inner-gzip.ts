import { CorruptBytes } from '../../core/corrupt-bytes.ts';
import { payloadTooLarge } from '../../core/errors.ts';
import { inflateGzipSync } from '../../compression/inflate.ts';

/** True for what begins as a gzip stream does (RFC 1952). */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** Decompresses what lies gzipped inside of one body, to at most `cap` bytes altogether. */
export class InnerGzip {
  readonly #cap: number;
  #left: number;

  constructor(cap: number) {
    this.#cap = cap;
    this.#left = cap;
  }

  /** The decompressed bytes, or why there are none. Throws HttpError 413 where all streams together pass the cap. */
  inflate(bytes: Buffer): Buffer | string {
    try {
      const inflated = inflateGzipSync(bytes, this.#left, () => payloadTooLarge(this.#cap, this.#cap, { more: true }));
      this.#left -= inflated.length;
      return inflated;
    } catch (error) {
      if (error instanceof CorruptBytes) return error.message;
      throw error;
    }
  }
}
