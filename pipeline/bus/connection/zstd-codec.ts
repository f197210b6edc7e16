import { payloadTooLarge } from '../../core/errors.ts';
import { inflateZstd } from '../../compression/zstd.ts';

/** Most bytes that one zstd batch of a topic may decompress to. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

/** Kafka's zstd (codec id 4) for kafkajs: reading, by Node's zlib. We never write zstd, so compressing is a bug. */
export const zstdCodec = {
  compress(): Promise<Buffer> {
    return Promise.reject(new Error('BUG: batches are written with snappy, never with zstd.'));
  },
  decompress(buffer: Buffer): Promise<Buffer> {
    return inflateZstd(buffer, MAX_BATCH_BYTES, (received, more) => payloadTooLarge(received, MAX_BATCH_BYTES, { more }));
  },
};
