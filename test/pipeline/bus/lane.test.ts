import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { pino } from 'pino';
import { ProducerLane, sentRecords, type SentRecord } from '../../../pipeline/bus/lane.ts';
import type { PendingRecord, SealedRecord } from '../../../pipeline/bus/pending-record.ts';
import { produceAnswer, ProducerKafka } from '../../fakes/producer-kafka.ts';

const log = pino({ level: 'silent' });
const { None, Snappy } = kafkajs.CompressionTypes;

type More = Partial<PendingRecord & { value: Buffer; info: SealedRecord['info'] }>;
type Pending = PendingRecord & { cancelled: boolean; sealed: number; result: Promise<Error | null> };

/** A record that waits, and counts how often it was sealed. */
function pending(text: string, more: More = {}): Pending {
  let done: (error: Error | null) => void = () => undefined;
  const result = new Promise<Error | null>((resolve) => (done = resolve));
  const { value = Buffer.from(`${text}\n`), info = { tenantId: 1, bytes: text.length }, ...rest } = more;
  const record: Pending = {
    partition: 0,
    compression: 'snappy',
    size: value.length,
    enqueuedAt: performance.now(),
    cancelled: false,
    sealed: 0,
    seal: () => {
      record.sealed += 1;
      return { value, headers: { tenant: String(info.tenantId) }, info };
    },
    done,
    result,
    ...rest,
  };
  return record;
}
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('producer lane', () => {
  let kafka: ProducerKafka;
  let lane: ProducerLane;
  beforeEach(() => {
    kafka = new ProducerKafka();
    lane = new ProducerLane({ kafka: kafka.client, log, topic: 'logs.v1' });
  });

  it('has one send in flight, and fills the next one meanwhile', async () => {
    const records = ['a', 'b', 'c', 'd'].map((text) => pending(text));
    lane.enqueue(records[0]!);
    await turn();
    for (const more of records.slice(1)) lane.enqueue(more);
    await turn();
    expect(kafka.sends).to.have.length(1);
    kafka.sends[0]?.answer();
    await turn();
    expect(kafka.sends).to.have.length(2);
    expect(kafka.sends[1]?.messages.map(({ value }) => String(value))).to.deep.equal(['b\n', 'c\n', 'd\n']);
    kafka.sends[1]?.answer();
    expect(await Promise.all(records.map(({ result }) => result))).to.deep.equal([null, null, null, null]);
    expect(kafka.mostInFlight).to.equal(1);
    expect(lane.pendingBytes).to.equal(0);
  });

  it('sends to one partition at a time, that of the oldest record, each in its order and up to the size of a send', async () => {
    const large = Buffer.alloc(3_000_000);
    const records = [
      pending('a', { partition: 2 }),
      pending('b', { partition: 5 }),
      pending('c', { partition: 2, value: large }),
      pending('d', { partition: 5 }),
      pending('e', { partition: 2, value: large }),
      pending('f', { partition: 2 }),
    ];
    for (const one of records) lane.enqueue(one);
    for (const index of [0, 1, 2]) {
      await turn();
      kafka.sends[index]?.answer();
    }
    expect(await Promise.all(records.map(({ result }) => result))).to.deep.equal(records.map(() => null));
    const sizes = kafka.sends.map(({ messages }) => messages.map(({ partition, value }) => [partition, value?.length]));
    expect(sizes).to.deep.equal([
      [
        [2, 2],
        [2, 3_000_000],
      ],
      [
        [5, 2],
        [5, 2],
      ],
      [
        [2, 3_000_000],
        [2, 2],
      ],
    ]);
    expect(lane.pendingBytes).to.equal(0);
  });

  it('throws its producer away after a rejection, and goes on with a new one', async () => {
    const [first, second] = [pending('a'), pending('b')];
    lane.enqueue(first);
    await turn();
    kafka.sends[0]?.answer(new Error('no'));
    expect(await first.result).to.be.instanceOf(Error);
    lane.enqueue(second);
    await turn();
    kafka.sends[1]?.answer();
    expect(await second.result).to.equal(null);
    expect(kafka.sends.map(({ producer }) => producer)).to.deep.equal([1, 2]);
  });

  it('gives up a send that is not answered, and its producer, whatever is answered later', async () => {
    const sent: SentRecord[] = [];
    lane = new ProducerLane({
      kafka: kafka.client,
      log,
      topic: 'logs.v1',
      onSent: (records) => sent.push(...records),
      sendDeadlineMs: 2000,
    });
    const [first, second] = [pending('a'), pending('b')];
    lane.enqueue(first);
    expect((await first.result)?.message).to.equal('Kafka did not answer within 2000 ms.');
    expect(lane.failing).to.equal(true);
    lane.enqueue(second);
    await turn();
    kafka.sends[0]?.answer();
    await turn();
    expect(sent).to.deep.equal([]);
    kafka.sends[1]?.answer();
    expect(await second.result).to.equal(null);
    expect(kafka.sends.map(({ producer }) => producer)).to.deep.equal([1, 2]);
    expect(sent.map(({ offset }) => offset)).to.deep.equal([101]);
    expect(lane.pendingBytes).to.equal(0);
  });

  it('does not send what it gave up while its producer was connecting', async () => {
    let connect: () => void = () => undefined;
    kafka.connected = new Promise((resolve) => (connect = resolve));
    lane = new ProducerLane({ kafka: kafka.client, log, topic: 'logs.v1', sendDeadlineMs: 50 });
    const [first, second] = [pending('a'), pending('b')];
    lane.enqueue(first);
    expect((await first.result)?.message).to.equal('Kafka did not answer within 50 ms.');
    connect();
    lane.enqueue(second);
    await turn();
    expect(kafka.sends.map(({ messages }) => String(messages[0]?.value))).to.deep.equal(['b\n']);
    kafka.sends[0]?.answer();
    expect(await second.result).to.equal(null);
  });

  it('does not send what nobody waits for any more', async () => {
    const [first, gone, last] = [pending('a'), pending('b'), pending('c')];
    lane.enqueue(first);
    await turn();
    lane.enqueue(gone);
    lane.enqueue(last);
    gone.cancelled = true;
    kafka.sends[0]?.answer();
    await turn();
    expect(kafka.sends[1]?.messages.map(({ value }) => String(value))).to.deep.equal(['c\n']);
    kafka.sends[1]?.answer();
    await last.result;
    expect(await gone.result).to.be.instanceOf(Error);
    expect([first.sealed, gone.sealed, last.sealed]).to.deep.equal([1, 0, 1]);
    expect(lane.pendingBytes).to.equal(0);
  });

  it('tells where the records of a send lie before their requests are answered', async () => {
    const order: string[] = [];
    const sent: SentRecord[] = [];
    const onSent = (records: readonly SentRecord[]): void => {
      order.push('sent');
      sent.push(...records);
    };
    lane = new ProducerLane({ kafka: kafka.client, log, topic: 'logs.v1', onSent });
    const other = { tenantId: 2, bytes: 7 };
    const records = [pending('a'), pending('x', { info: other }), pending('bb'), pending('y', { info: other, partition: 1 })];
    records.forEach((each) => (each.done = () => order.push('done')));
    records.forEach((each) => lane.enqueue(each));
    for (const index of [0, 1]) {
      await turn();
      kafka.sends[index]?.answer();
    }
    await turn();
    expect(sent.map(({ partition, offset, tenantId, bytes }) => [partition, offset, tenantId, bytes])).to.deep.equal([
      [0, 100, 1, 1],
      [0, 101, 2, 7],
      [0, 102, 1, 2],
      [1, 100, 2, 7],
    ]);
    expect(order).to.deep.equal(['sent', 'done', 'done', 'done', 'sent', 'done']);
  });

  it('tells of no record of a send that failed', async () => {
    const sent: SentRecord[] = [];
    lane = new ProducerLane({ kafka: kafka.client, log, topic: 'logs.v1', onSent: (records) => sent.push(...records) });
    lane.enqueue(pending('a'));
    await turn();
    kafka.sends[0]?.answer(new Error('no'));
    await turn();
    expect(sent).to.deep.equal([]);
  });

  it('sends what is queued before it stops', async () => {
    const last = pending('a');
    lane.enqueue(last);
    const stopped = lane.stop();
    await turn();
    kafka.sends[0]?.answer();
    await stopped;
    expect(await last.result).to.equal(null);
  });

  it('sends records of one compression at a time, and keeps the order of the partition', async () => {
    const records = [pending('a'), pending('b', { compression: 'none' }), pending('c'), pending('d', { partition: 1 })];
    for (const one of records) lane.enqueue(one);
    for (const index of [0, 1, 2, 3]) {
      await turn();
      kafka.sends[index]?.answer();
    }
    await Promise.all(records.map(({ result }) => result));
    expect(kafka.sends.map(({ messages, compression }) => [messages.map(({ value }) => String(value)), compression])).to.deep.equal([
      [['a\n'], Snappy],
      [['b\n'], None],
      [['c\n'], Snappy],
      [['d\n'], Snappy],
    ]);
  });

  it('counts what has grown while it waits', async () => {
    const record: Pending & { size: number } = pending('a');
    lane.enqueue(record);
    record.size += 10;
    lane.grew(10);
    expect(lane.pendingBytes).to.equal(12);
    await turn();
    kafka.sends[0]?.answer();
    await record.result;
    expect(lane.pendingBytes).to.equal(0);
  });
});

describe('sent records', () => {
  it('lie where Kafka says, in the order in which they were given in their partition', () => {
    const record = (partition: number, tenantId: number): Parameters<typeof sentRecords>[0][number] => ({
      partition,
      info: { tenantId, bytes: tenantId },
    });
    const sent = sentRecords([record(0, 1), record(1, 2), record(0, 3)], [produceAnswer(1, 7, 5), produceAnswer(0, 40, 9)]);
    expect(sent).to.deep.equal([
      { partition: 0, offset: 40, timestamp: 9, tenantId: 1, bytes: 1 },
      { partition: 1, offset: 7, timestamp: 5, tenantId: 2, bytes: 2 },
      { partition: 0, offset: 41, timestamp: 9, tenantId: 3, bytes: 3 },
    ]);
  });
});
