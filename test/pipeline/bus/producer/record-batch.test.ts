import { expect } from 'chai';
import { createRequire } from 'node:module';
import { createKafka } from '../../../../pipeline/bus/connection/kafka.ts';
import { encodeRecordBatch } from '../../../../pipeline/bus/producer/record-batch.ts';
import { pino } from 'pino';

const require = createRequire(import.meta.url);
type Encoder = { readonly buffer: Buffer };
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0/index.js') as { RecordBatch: (options: object) => Promise<Encoder> };
const Record = require('kafkajs/src/protocol/recordBatch/record/v0/index.js') as (options: object) => Encoder;

const NOW = 1_795_000_000_123;

describe('record batch', () => {
  // the codecs are known from then on
  before(() => void createKafka({ brokers: [''], clientId: 'test', log: pino({ level: 'silent' }) }));

  const large = 'x'.repeat(70_000);
  const records = [
    { value: Buffer.from('one'), headers: {} },
    { value: Buffer.alloc(0), headers: { tenant: '7', empty: '', umlaut: 'ä'.repeat(40), ключ: 'значение', mixed: 'abcdef–' } },
    {
      value: Buffer.alloc(300_000, 'ab'),
      headers: { bytes: Buffer.from([0, 255, 128]), several: ['a', Buffer.from('b'), ''] },
    },
    ...Array.from({ length: 200 }, (_, index) => ({ value: Buffer.from(`record ${String(index)}`), headers: { n: String(index) } })),
    { value: Buffer.from('last'), headers: { streams: large } },
  ];

  for (const [compression, code] of [
    ['none', 0],
    ['snappy', 2],
  ] as const)
    it(`is what kafkajs makes of it, compressed by ${compression}`, async () => {
      for (const some of [records, records.slice(0, 1), records.slice(1, 3)]) {
        const identity = { id: '9007199254740993', epoch: 3 };
        const batch = await encodeRecordBatch({ records: some, identity, sequence: 2_147_483_000, compression, now: NOW });
        const expected = await RecordBatch({
          ...{
            compression: code,
            firstTimestamp: NOW,
            maxTimestamp: NOW,
            producerId: identity.id,
            producerEpoch: 3,
            firstSequence: 2_147_483_000,
          },
          ...{
            lastOffsetDelta: some.length - 1,
            records: some.map((record, index) => Record({ ...record, offsetDelta: index, timestampDelta: 0 })),
          },
        });
        expect(batch.equals(expected.buffer)).to.equal(true);
      }
    });
});
