import { createRequire } from 'node:module';
import { payloadTooLarge } from '../../core/errors.ts';
import { inflateBlock } from '../../compression/snappy.ts';

const require = createRequire(import.meta.url);
type Codec = { compress(encoder: { readonly buffer: Buffer }): Promise<Buffer> };
const { compress } = (require('kafkajs-snappy') as () => Codec)();

/** Most bytes that one batch of a topic may decompress to. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;
/** How Java's clients begin: magic, then version and compatible version, 4 bytes each; blocks with their length in 4 bytes follow. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/** Kafka's snappy (codec id 2) for kafkajs: it writes as kafkajs-snappy does, and reads with our decoder, in half the time. */
export const snappyCodec = {
  compress,
  // a promise, since kafkajs awaits it and takes a rejection for a corrupt batch
  // eslint-disable-next-line @typescript-eslint/require-await
  async decompress(buffer: Buffer): Promise<Buffer> {
    return buffer.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC) ? inflateXerial(buffer) : inflate(buffer, MAX_BATCH_BYTES);
  },
};

function inflate(block: Buffer, cap: number): Buffer {
  return inflateBlock(block, cap, (received, more) => payloadTooLarge(received, MAX_BATCH_BYTES, { more }));
}

function inflateXerial(buffer: Buffer): Buffer {
  const parts: Buffer[] = [];
  let left = MAX_BATCH_BYTES;
  let at = XERIAL_HEADER_BYTES;
  while (at < buffer.length) {
    const start = at + 4;
    at = start + buffer.readUInt32BE(at);
    if (at > buffer.length) throw new Error('A snappy batch ends inside a block.');
    const part = inflate(buffer.subarray(start, at), left);
    left -= part.length;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
