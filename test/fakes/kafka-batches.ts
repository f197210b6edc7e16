import { createRequire } from 'node:module';
import type { IHeaders } from 'kafkajs';

const require = createRequire(import.meta.url);
type Encoder = { readonly buffer: Buffer };
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0/index.js') as { RecordBatch: (options: object) => Promise<Encoder> };
const Record = require('kafkajs/src/protocol/recordBatch/record/v0/index.js') as (options: object) => Encoder;

export type BatchRecord = { readonly key?: Buffer; readonly value: Buffer | null; readonly headers: IHeaders };

export type BatchOptions = {
  readonly firstOffset?: number;
  /** 0: none, 1: gzip, 2: snappy, 3: lz4, 4: zstd. */
  readonly compression?: number;
  /** Its times are when it was appended. */
  readonly isAppendTime?: boolean;
  readonly isControl?: boolean;
};

const BATCH_TIME = 1_795_000_000_123;

/** A batch as kafkajs makes it, and as a broker changes it: its offset, and bits of its attributes. */
export async function kafkaBatch(records: readonly BatchRecord[], options: BatchOptions = {}): Promise<Buffer> {
  const { firstOffset = 0, compression = 0, isAppendTime = false, isControl = false } = options;
  const { buffer } = await RecordBatch({
    ...{ compression, firstTimestamp: BATCH_TIME, maxTimestamp: BATCH_TIME + 5, producerId: '7', producerEpoch: 3, firstSequence: 1 },
    lastOffsetDelta: records.length - 1,
    records: records.map((record, index) => Record({ ...record, offsetDelta: index, timestampDelta: index % 7 })),
  });
  const batch = Buffer.from(buffer);
  batch.writeBigInt64BE(BigInt(firstOffset), 0);
  batch.writeInt16BE(compression | (isAppendTime ? 8 : 0) | (isControl ? 32 : 0), 21);
  return batch;
}

/** What a broker answers to a Fetch of this version: of one topic, the batches of each partition; or an error for one. */
export function fetchAnswer(
  version: number,
  partitions: readonly { readonly partition: number; readonly error?: number; readonly batches?: Buffer }[],
): Buffer {
  const short = (value: number): Buffer => {
    const bytes = Buffer.alloc(2);
    bytes.writeInt16BE(value);
    return bytes;
  };
  const int = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  const offset = Buffer.alloc(8, 1);
  const own = partitions.map(({ partition, error = 0, batches = Buffer.alloc(0) }) =>
    Buffer.concat([
      ...[int(partition), short(error), offset, offset],
      ...(version >= 5 ? [offset] : []),
      // one transaction that was ended without a result
      ...(partition % 2 === 0 ? [int(-1)] : [int(1), offset, offset]),
      ...(version >= 11 ? [int(-1)] : []),
      ...[int(batches.length), batches],
    ]),
  );
  const head = version >= 7 ? [int(3), short(0), int(0)] : [int(3)];
  return Buffer.concat([...head, int(1), short(4), Buffer.from('logs'), int(own.length), ...own]);
}
