import { payloadTooLarge } from '../../core/errors.ts';
import { inflateLz4 } from '../../compression/lz4.ts';

/** Most bytes that one lz4 batch of a topic may decompress to. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;

/**
 * Kafka's lz4 (codec id 3) for kafkajs: reading, with our own decoder. The packages for it bring a native part that does not compile on
 * current Node. We never write lz4, so compressing is a bug.
 */
export const lz4Codec = {
  compress(): Promise<Buffer> {
    return Promise.reject(new Error('BUG: batches are written with snappy, never with lz4.'));
  },
  // a promise, since kafkajs awaits it and takes a rejection for a corrupt batch
  // eslint-disable-next-line @typescript-eslint/require-await
  async decompress(buffer: Buffer): Promise<Buffer> {
    return inflateLz4(buffer, MAX_BATCH_BYTES, (received, more) => payloadTooLarge(received, MAX_BATCH_BYTES, { more }));
  },
};
