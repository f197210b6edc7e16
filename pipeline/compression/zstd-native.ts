import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { isOneFrame } from './zstd-frame.ts';

/** Zstandard of Node's zlib, there from 22.15 on; the types are those of Node 20. `bytesWritten`: how much of the input was consumed. */
type WithInfo = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
type Options = {
  readonly info: true;
  readonly maxOutputLength: number;
  readonly chunkSize: number;
  readonly params: Readonly<Record<number, number>>;
};
type Zstd = {
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
  zstdDecompressSync(bytes: Buffer, options: Options): WithInfo;
  zstdDecompress(bytes: Buffer, options: Options, done: (error: Error | null, result: WithInfo) => void): void;
};

const zstd = 'zstdDecompress' in zlib ? (zlib as unknown as Zstd) : null;
const inThread = zstd === null ? null : promisify<Buffer, Options, WithInfo>(zstd.zstdDecompress);
/** Bodies up to this size are not worth the way to another thread. */
const SMALL = 16_384;
/** A frame with a larger window, 8 MiB, would have zlib allocate it whatever comes. */
const WINDOW_LOG = 23;
const MOST_BLOCKS = 10_000;

/**
 * The content of one frame, by Node's zlib and, where it is more than a little, in another thread. Null where Node has no Zstandard, and for
 * what it does not take, or not whole: several frames, more than `cap` bytes, a large window, a stream that is corrupt.
 */
export async function inflateNatively(bytes: Buffer, cap: number): Promise<Buffer | null> {
  if (zstd === null || inThread === null || cap < 1) return null;
  const chunkSize = Math.min(262_144, Math.max(16_384, bytes.length * 8));
  const options: Options = { info: true, maxOutputLength: cap, chunkSize, params: { [zstd.constants.ZSTD_d_windowLogMax]: WINDOW_LOG } };
  try {
    // Node 22 takes a stream that ends early for a whole one
    if (!isOneFrame(bytes, MOST_BLOCKS)) return null;
    const { buffer, engine } = bytes.length <= SMALL ? zstd.zstdDecompressSync(bytes, options) : await inThread(bytes, options);
    return engine.bytesWritten === bytes.length ? buffer : null;
  } catch {
    return null;
  }
}
