import { expect } from 'chai';
import { createRequire } from 'node:module';
import { pino } from 'pino';
import { readFetchAnswer } from '../../../../pipeline/bus/reading/fetch-answer.ts';
import { createKafka, type KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { tenantRecords } from '../../../../pipeline/bus/reading/tenant-records.ts';
import { fetchAnswer, kafkaBatch, type BatchRecord } from '../../../fakes/kafka-batches.ts';
import { Random } from '../../../fuzz/random.ts';

const require = createRequire(import.meta.url);
const Decoder = require('kafkajs/src/protocol/decoder.js') as new (bytes: Buffer) => object;
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js') as (decoder: object) => Promise<KafkaMessage[]>;

/** What is looked at of a record. */
const shown = ({ key, value, headers = {}, offset, timestamp }: KafkaMessage): unknown[] => [
  ...[key, value, offset, timestamp],
  Object.entries(headers).map(([name, one]) => [name, one]),
];

/** As kafkajs reads it. */
async function byKafkajs(batches: Buffer): Promise<unknown[][]> {
  const length = Buffer.alloc(4);
  length.writeInt32BE(batches.length);
  return (await decodeMessages(new Decoder(Buffer.concat([length, batches])))).map(shown);
}

const of = (tenant: string, more: Partial<BatchRecord> = {}): BatchRecord => ({
  ...{ value: Buffer.from(`a record of ${tenant}`), headers: { signal: 'logs', tenant, count: '1' } },
  ...more,
});

describe('the records of a tenant', () => {
  // the codecs are known from then on
  before(() => void createKafka({ brokers: [''], clientId: 'test', log: pino({ level: 'silent' }) }));

  const records: readonly BatchRecord[] = [
    of('7'),
    of('12', { key: Buffer.from('a key'), value: Buffer.alloc(70_000, 'ab') }),
    { value: Buffer.from('no headers'), headers: {} },
    of('7', { value: null, headers: { count: '1', bytes: Buffer.from([0, 255]), empty: '', tenant: '7', ключ: 'значение' } }),
    { value: Buffer.alloc(0), headers: { tenant: ['7', '12'], tenants: '7', tenan: '7' } },
    ...Array.from({ length: 200 }, (_none, index) => of(String(index % 20))),
  ];

  for (const compression of [0, 1, 2])
    it(`are those that kafkajs makes, where all are wanted (compression ${String(compression)})`, async () => {
      const batches = Buffer.concat([
        await kafkaBatch(records, { firstOffset: 1_000_000_000_000, compression }),
        await kafkaBatch(records.slice(0, 2), { firstOffset: 1_000_000_000_500, compression, isAppendTime: true }),
      ]);
      const { messages, next } = await tenantRecords(batches, null);
      expect(messages.map(shown)).to.deep.equal(await byKafkajs(batches));
      expect(next).to.equal(1_000_000_000_502);
      const own = await tenantRecords(batches, (tenantId) => tenantId === 7);
      const isOwn = ({ headers }: KafkaMessage): boolean => [headers?.['tenant']].flat().some((one) => one?.toString() === '7');
      expect(own.messages.map(shown)).to.deep.equal(messages.filter(isOwn).map(shown));
      expect(own.messages).to.have.length(14);
      expect(own.next).to.equal(next);
    });

  it('are none of marks of transactions, of a header that is no number, and of nobody', async () => {
    const strange = ['', '-7', '7.0', ' 7', '7x', '0x7', '1'.repeat(16)].map((tenant) => of(tenant));
    const batches = Buffer.concat([await kafkaBatch(strange), await kafkaBatch([of('7')], { firstOffset: 7, isControl: true })]);
    const asked: number[] = [];
    const { messages, next } = await tenantRecords(batches, (tenantId) => asked.push(tenantId) === 0);
    expect([messages, next]).to.deep.equal([[], 8]);
    expect(asked).to.deep.equal([-1, -1, -1, -1, -1, -1, -1]);
  });

  it('have the headers that they have, whatever their names are', async () => {
    const headers = JSON.parse('{"tenant":"7","__proto__":"a","constructor":"b"}') as BatchRecord['headers'];
    const { messages } = await tenantRecords(await kafkaBatch([{ value: null, headers }]), null);
    const found = Object.entries(messages[0]?.headers ?? {}).map(([name, value]) => [name, value?.toString()]);
    expect(found).to.deep.equal([
      ['tenant', '7'],
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
    expect(({} as { a?: unknown }).a).to.equal(undefined);
  });

  it('are whole where an answer is cut: those of the batches before', async () => {
    const parts = await Promise.all([0, 4, 8].map((firstOffset) => kafkaBatch([of('7'), of('8'), of('9'), of('7')], { firstOffset })));
    const all = Buffer.concat(parts);
    const [first, second] = parts.map(({ length }) => length) as [number, number];
    for (let length = 0; length <= all.length; length += 7) {
      const whole = length >= first + second ? (length === all.length ? 3 : 2) : length >= first ? 1 : 0;
      const { messages, next } = await tenantRecords(all.subarray(0, length), (tenantId) => tenantId === 7);
      expect([messages.length, next]).to.deep.equal([2 * whole, whole === 0 ? null : 4 * whole]);
    }
  });

  it('of a damaged batch are an error, or some records, and never take long', async () => {
    const batch = await kafkaBatch(records.slice(0, 40));
    const random = new Random(18);
    for (let round = 0; round < 2000; round++) {
      const damaged = Buffer.from(batch);
      for (let times = random.below(4) + 1; times > 0; times--) damaged[12 + random.below(damaged.length - 12)] = random.below(256);
      for (const wants of [null, (tenantId: number) => tenantId === 7]) {
        const found = await tenantRecords(damaged, wants).catch((error: unknown) => error);
        if (!(found instanceof Error)) expect((found as { readonly messages: readonly unknown[] }).messages.length).to.be.at.most(40);
      }
    }
  });

  for (const version of [4, 5, 6, 7, 10, 11])
    it(`are read from an answer of version ${String(version)} as kafkajs reads it`, async () => {
      const answer = fetchAnswer(version, [
        { partition: 0, batches: await kafkaBatch(records) },
        { partition: 1 },
        { partition: 5, batches: await kafkaBatch(records.slice(0, 3), { firstOffset: 9 }) },
      ]);
      const { decode } = require(`kafkajs/src/protocol/requests/fetch/v${String(version)}/response.js`) as {
        decode(bytes: Buffer): Promise<{ responses: { partitions: { partition: number; messages: KafkaMessage[] }[] }[] }>;
      };
      const [{ partitions } = { partitions: [] }] = (await decode(answer)).responses;
      const found = await readFetchAnswer(answer, version, null);
      expect(found.map(({ partition, messages }) => [partition, messages.map(shown)])).to.deep.equal(
        partitions.map(({ partition, messages }) => [partition, messages.map(shown)]),
      );
      expect(found.map(({ next }) => next)).to.deep.equal([records.length, null, 12]);
      const failed = await readFetchAnswer(fetchAnswer(version, [{ partition: 1, error: 6 }]), version, null).catch(
        (error: unknown) => error,
      );
      expect(failed).to.include({ type: 'NOT_LEADER_FOR_PARTITION' });
    });
});
