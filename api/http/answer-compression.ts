import { setImmediate as turn } from 'node:timers/promises';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import type { AnswerCoding } from './answer-coding.ts';

/** Answers that are compressed at once in a process, each with 256 KiB of memory (gzip) or about a megabyte (zstd), and the bytes of whole bodies among them. */
const MAX_CODERS = 128;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** A body is handed to the thread that compresses it in parts, so that many take turns. */
const PART_BYTES = 64 * 1024;

const NEVER = new AbortController().signal;

export type CompressionBounds = { readonly maxCoders?: number; readonly maxBodyBytes?: number };

/** What compresses in another thread. `flush` sends what it holds back. */
type Coder = Transform & { flush(kind: number, done: () => void): void };

/** The strings of an answer, or their bytes. */
export type Texts = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** What compresses a stream, and what its strings go through before. */
export type StreamCoder = {
  readonly coder: Transform;
  readonly flushing: (texts: Texts) => AsyncGenerator<string | Uint8Array>;
};

/** Compresses answers in threads of their own, as many at once as the memory budget allows; further answers are sent uncompressed. */
export class AnswerCompression {
  readonly #maxCoders: number;
  readonly #maxBodyBytes: number;
  /** Bodies that do not change, in each coding; they live as long as their body. */
  readonly #constant = new WeakMap<Buffer, Map<AnswerCoding, Promise<Buffer | null>>>();
  #coders = 0;
  #bodyBytes = 0;

  constructor({ maxCoders = MAX_CODERS, maxBodyBytes = MAX_BODY_BYTES }: CompressionBounds = {}) {
    this.#maxCoders = maxCoders;
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** How many answers are being compressed. */
  get running(): number {
    return this.#coders;
  }

  /** A body in this coding; null where the memory budget is used up. Rejects when the signal aborts. */
  async body(bytes: Buffer, coding: AnswerCoding, signal: AbortSignal): Promise<Buffer | null> {
    if (this.#bodyBytes > 0 && this.#bodyBytes + bytes.length > this.#maxBodyBytes) return null;
    const coder = this.#open(coding);
    if (coder === null) return null;
    this.#bodyBytes += bytes.length;
    try {
      const parts: Buffer[] = [];
      await pipeline(
        partsOf(bytes),
        coder,
        async (coded: AsyncIterable<Buffer>) => {
          for await (const part of coded) parts.push(part);
        },
        { signal },
      );
      return Buffer.concat(parts);
    } finally {
      this.#bodyBytes -= bytes.length;
    }
  }

  /** As `body`, of a body that is the same buffer for every request: it is compressed once, whoever disconnects meanwhile. */
  constantBody(bytes: Buffer, coding: AnswerCoding): Promise<Buffer | null> {
    const known = this.#constant.get(bytes) ?? new Map<AnswerCoding, Promise<Buffer | null>>();
    this.#constant.set(bytes, known);
    const coded = known.get(coding) ?? this.body(bytes, coding, NEVER);
    known.set(coding, coded);
    const again = (done: Buffer | null): void => {
      if (done === null) known.delete(coding);
    };
    // where the memory budget is used up, the next one tries again
    void coded.then(again, () => {
      again(null);
    });
    return coded;
  }

  /** A coder between strings and client; null where the memory budget is used up. It flushes before it waits for the next string. */
  stream(coding: AnswerCoding): StreamCoder | null {
    const coder = this.#open(coding);
    return coder === null ? null : { coder, flushing: (texts) => flushing(texts, coder, FLUSH[coding]) };
  }

  #open(coding: AnswerCoding): Coder | null {
    if (this.#coders >= this.#maxCoders) return null;
    const coder = CODERS[coding]();
    this.#coders += 1;
    coder.once('close', () => {
      this.#coders -= 1;
    });
    return coder;
  }
}

/** Levels by which a core does some 300 MB/s; a window of 128 KiB bounds what a coder holds. */
const CODERS: Readonly<Record<AnswerCoding, () => Coder>> = {
  gzip: () => createGzip({ level: 3, chunkSize: PART_BYTES }),
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: 17 } }),
};
const FLUSH: Readonly<Record<AnswerCoding, number>> = { gzip: constants.Z_SYNC_FLUSH, zstd: constants.ZSTD_e_flush };

function* partsOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
}

/** Passes strings on; flushes the coder where the next is not ready at once. The reader writes each before it requests the next. */
async function* flushing(texts: Texts, coder: Coder, kind: number): AsyncGenerator<string | Uint8Array> {
  const iterator: Iterator<string | Uint8Array, unknown> | AsyncIterator<string | Uint8Array, unknown> =
    Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
  let isFlushed = true;
  try {
    for (;;) {
      const next = Promise.resolve(iterator.next());
      // looked at below; it may fail while the coder is flushed
      next.catch(() => undefined);
      if (!isFlushed && (await Promise.race([next, turn(null)])) === null) {
        await new Promise<void>((resolve) => {
          coder.once('close', resolve);
          coder.flush(kind, () => {
            coder.off('close', resolve);
            resolve();
          });
        });
        isFlushed = true;
      }
      const step = await next;
      if (step.done === true) return;
      isFlushed = false;
      yield step.value;
    }
  } finally {
    await iterator.return?.();
  }
}
