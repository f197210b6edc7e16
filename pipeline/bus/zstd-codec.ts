import { Decompress } from 'fzstd';

/** Most bytes that one zstd batch of a topic may decompress to. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

/**
 * Kafka's zstd (codec id 4) for kafkajs: reading, in pure JavaScript. It takes the place of @kafkajs/zstd, whose native part does
 * not compile on current Node. We never write zstd, so compressing is a bug.
 */
export const zstdCodec = {
  compress(): Promise<Buffer> {
    return Promise.reject(new Error('BUG: batches are written with snappy, never with zstd.'));
  },
  decompress(buffer: Buffer): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let total = 0;
    const stream = new Decompress((part) => {
      total += part.length;
      if (total > MAX_BATCH_BYTES) throw new Error(`A zstd batch decompresses to more than ${String(MAX_BATCH_BYTES)} bytes.`);
      parts.push(part);
    });
    stream.push(buffer, true);
    return Promise.resolve(Buffer.concat(parts));
  },
};
