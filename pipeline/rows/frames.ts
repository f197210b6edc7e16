import { input, MAX_BLOCK, compressInput, decompressInput, output } from '../wasm/lz4.ts';

/**
 * ClickHouse's compressed frames: a checksum (16 bytes), the method (1), the compressed size with these nine bytes (4, little-endian),
 * the size before (4), and an LZ4 block (https://clickhouse.com/docs/development/binary-protocol/data-compression). The checksum is
 * zero: Kafka has one of its own for each batch, and a setting disables ClickHouse's check.
 */
const CHECKSUM_BYTES = 16;
const HEAD_BYTES = 9;
const METHOD_LZ4 = 0x82;
/** Where a frame's block begins. */
export const FRAME_HEAD = CHECKSUM_BYTES + HEAD_BYTES;

/** Writes the head of a frame into the `FRAME_HEAD` bytes at `at`. */
export function writeFrameHead(target: Buffer, at: number, compressed: number, size: number): void {
  target.fill(0, at, at + CHECKSUM_BYTES);
  target[at + CHECKSUM_BYTES] = METHOD_LZ4;
  target.writeUInt32LE(compressed + HEAD_BYTES, at + CHECKSUM_BYTES + 1);
  target.writeUInt32LE(size, at + CHECKSUM_BYTES + 5);
}

/** Collects bytes and compresses them into frames. One for a process: `finish` gives what was put in since the last one. */
export class FrameWriter {
  #out = Buffer.allocUnsafeSlow(1 << 20);
  #length = 0;
  /** Bytes of the block that is being filled. */
  #used = 0;

  /** Forgets what was put and not finished. */
  clear(): void {
    this.#length = 0;
    this.#used = 0;
  }

  put(bytes: Uint8Array): void {
    let from = 0;
    while (bytes.length - from > MAX_BLOCK - this.#used) {
      const part = MAX_BLOCK - this.#used;
      input.set(bytes.subarray(from, from + part), this.#used);
      from += part;
      this.#used = MAX_BLOCK;
      this.#close();
    }
    input.set(from === 0 ? bytes : bytes.subarray(from), this.#used);
    this.#used += bytes.length - from;
  }

  /** A little-endian 64-bit number below 2^32. */
  putNumber(number: number): void {
    NUMBER.writeUInt32LE(number, 0);
    this.put(NUMBER);
  }

  /** All frames, in memory of their own. */
  finish(): Buffer {
    if (this.#used > 0) this.#close();
    const frames = Buffer.allocUnsafeSlow(this.#length);
    this.#out.copy(frames, 0, 0, this.#length);
    this.#length = 0;
    return frames;
  }

  #close(): void {
    const compressed = compressInput(this.#used);
    const needed = this.#length + FRAME_HEAD + compressed;
    if (needed > this.#out.length) {
      const larger = Buffer.allocUnsafeSlow(needed * 2);
      this.#out.copy(larger, 0, 0, this.#length);
      this.#out = larger;
    }
    writeFrameHead(this.#out, this.#length, compressed, this.#used);
    this.#out.set(output.subarray(0, compressed), this.#length + FRAME_HEAD);
    this.#length = needed;
    this.#used = 0;
  }
}

const NUMBER = Buffer.alloc(8);
const writer = new FrameWriter();

/** The frames of what is put, in memory of their own. Where `put` throws, nothing of it gets into the next ones. */
export function framesOf(put: (to: FrameWriter) => void): Buffer {
  writer.clear();
  put(writer);
  return writer.finish();
}

/** Most bytes that a record may have when its frames are decompressed: hostile sizes end here. */
const MAX_CONTENT = 32 * 1024 * 1024;

/** What frames hold, one after the other; null where they are not such frames. `scratch` is used where it is large enough. */
export function readFrames(frames: Buffer, scratch: Buffer): Buffer | null {
  const size = contentSize(frames);
  if (size < 0) return null;
  const content = size <= scratch.length ? scratch.subarray(0, size) : Buffer.allocUnsafeSlow(size);
  let to = 0;
  for (let at = 0; at < frames.length;) {
    const compressed = frames.readUInt32LE(at + CHECKSUM_BYTES + 1) - HEAD_BYTES;
    const part = frames.readUInt32LE(at + CHECKSUM_BYTES + 5);
    input.set(frames.subarray(at + FRAME_HEAD, at + FRAME_HEAD + compressed));
    if (!decompressInput(compressed, part)) return null;
    content.set(output.subarray(0, part), to);
    to += part;
    at += FRAME_HEAD + compressed;
  }
  return content;
}

/** The same for a look that ends before anything else is compressed or decompressed: one frame is not copied. */
export function lookIntoFrames(frames: Buffer, scratch: Buffer): Buffer | null {
  const size = contentSize(frames);
  if (size < 1 || frames.length !== FRAME_HEAD + frames.readUInt32LE(CHECKSUM_BYTES + 1) - HEAD_BYTES) return readFrames(frames, scratch);
  input.set(frames.subarray(FRAME_HEAD));
  return decompressInput(frames.length - FRAME_HEAD, size) ? Buffer.from(output.buffer, output.byteOffset, size) : null;
}

/** Where the frame ends that begins at `at`, and how many bytes it holds; of frames that were read. */
export const frameEnd = (frames: Buffer, at: number): number => at + FRAME_HEAD + frames.readUInt32LE(at + CHECKSUM_BYTES + 1) - HEAD_BYTES;
export const frameSize = (frames: Buffer, at: number): number => frames.readUInt32LE(at + CHECKSUM_BYTES + 5);

/** The sum of the frames' sizes; -1 where they are cut off, of another method, or too large. */
function contentSize(frames: Buffer): number {
  let size = 0;
  for (let at = 0; at < frames.length;) {
    if (at + FRAME_HEAD > frames.length || frames[at + CHECKSUM_BYTES] !== METHOD_LZ4) return -1;
    const compressed = frames.readUInt32LE(at + CHECKSUM_BYTES + 1) - HEAD_BYTES;
    const part = frames.readUInt32LE(at + CHECKSUM_BYTES + 5);
    at += FRAME_HEAD + compressed;
    size += part;
    if (compressed < 1 || at > frames.length || part > MAX_BLOCK || size > MAX_CONTENT) return -1;
  }
  return size;
}
