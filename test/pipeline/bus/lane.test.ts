import { expect } from 'chai';
import type { Kafka, KafkaMessage, Message, RecordMetadata } from 'kafkajs';
import { pino } from 'pino';
import { messageOf, ProducerLane, recordsOf, sentRecords, type Parcel, type SentRecord } from '../../../pipeline/bus/lane.ts';
import { decodeBilled, decodeRecord, type LogRecord } from '../../../pipeline/bus/record.ts';

const log = pino({ level: 'silent' });

/** Kafka that takes sends one by one, when it is told to. */
class FakeKafka {
  readonly sends: { readonly messages: Message[]; readonly producer: number; answer: (error?: Error) => void }[] = [];
  producers = 0;
  /** Resolves when a connection is there. */
  connected: Promise<void> = Promise.resolve();
  inFlight = 0;
  mostInFlight = 0;
  /** The next offset of each partition. */
  readonly #ends = new Map<number, number>();

  #append(messages: readonly Message[]): RecordMetadata[] {
    return [...new Set(messages.map(({ partition = 0 }) => partition))].map((partition) => {
      const base = this.#ends.get(partition) ?? 100;
      this.#ends.set(partition, base + messages.filter((message) => message.partition === partition).length);
      return answer(partition, base, 1_795_000_000_000);
    });
  }

  producer(): unknown {
    const producer = ++this.producers;
    return {
      connect: () => this.connected,
      disconnect: () => Promise.resolve(),
      send: ({ messages }: { messages: Message[] }) =>
        new Promise<RecordMetadata[]>((resolve, reject) => {
          this.inFlight += 1;
          this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
          const answer = (error?: Error): void => {
            this.inFlight -= 1;
            if (error === undefined) resolve(this.#append(messages));
            else reject(error);
          };
          this.sends.push({ messages, producer, answer });
        }),
    };
  }
}

/** What Kafka answers: for each partition where its first record lies, and when it was appended. */
const answer = (partition: number, baseOffset: number, logAppendTime: number): RecordMetadata => ({
  topicName: 'logs.v1',
  partition,
  errorCode: 0,
  baseOffset: String(baseOffset),
  logAppendTime: String(logAppendTime),
});

const parcel = (text: string, more: Partial<Parcel> = {}): Parcel & { result: Promise<Error | null> } => {
  let done: (error: Error | null) => void = () => undefined;
  const result = new Promise<Error | null>((resolve) => (done = resolve));
  const info = { tenantId: 1, retentionDays: 0, count: 1, bytes: text.length, days: [1], streams: new Map([['5', '{}']]) };
  return { partition: 0, value: Buffer.from(`${text}\n`), info, enqueuedAt: performance.now(), cancelled: false, done, result, ...more };
};
const messagesOf = (parcels: readonly Parcel[]): Message[] => recordsOf(parcels).map(messageOf);
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('producer lane', () => {
  let kafka: FakeKafka;
  let lane: ProducerLane;
  beforeEach(() => {
    kafka = new FakeKafka();
    lane = new ProducerLane(kafka as unknown as Kafka, log);
  });

  it('has one send in flight, and fills the next one meanwhile', async () => {
    const parcels = ['a', 'b', 'c', 'd'].map((text) => parcel(text));
    lane.enqueue(parcels[0]!);
    await turn();
    for (const more of parcels.slice(1)) lane.enqueue(more);
    await turn();
    expect(kafka.sends).to.have.length(1);
    kafka.sends[0]?.answer();
    await turn();
    expect(kafka.sends).to.have.length(2);
    expect(kafka.sends[1]?.messages.map(({ value }) => String(value))).to.deep.equal(['b\nc\nd\n']);
    kafka.sends[1]?.answer();
    expect(await Promise.all(parcels.map(({ result }) => result))).to.deep.equal([null, null, null, null]);
    expect(kafka.mostInFlight).to.equal(1);
    expect(lane.pendingBytes).to.equal(0);
  });

  it('sends to one partition at a time, that of the oldest parcel, each in its order and up to the size of a send', async () => {
    const large = Buffer.alloc(1_500_000);
    const parcels = [
      parcel('a', { partition: 2 }),
      parcel('b', { partition: 5 }),
      parcel('c', { partition: 2, value: large }),
      parcel('d', { partition: 5 }),
      parcel('e', { partition: 2, value: large }),
      parcel('f', { partition: 2 }),
    ];
    for (const one of parcels) lane.enqueue(one);
    for (const index of [0, 1, 2]) {
      await turn();
      kafka.sends[index]?.answer();
    }
    expect(await Promise.all(parcels.map(({ result }) => result))).to.deep.equal(parcels.map(() => null));
    const sizes = kafka.sends.map(({ messages }) => messages.map(({ partition, value }) => [partition, value?.length]));
    expect(sizes).to.deep.equal([
      [
        [2, 2],
        [2, 1_500_000],
      ],
      [[5, 4]],
      [
        [2, 1_500_000],
        [2, 2],
      ],
    ]);
    expect(lane.pendingBytes).to.equal(0);
  });

  it('throws its producer away after a rejection, and goes on with a new one', async () => {
    const [first, second] = [parcel('a'), parcel('b')];
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
    lane = new ProducerLane(kafka as unknown as Kafka, log, (records) => sent.push(...records), 2000);
    const [first, second] = [parcel('a'), parcel('b')];
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
    lane = new ProducerLane(kafka as unknown as Kafka, log, () => undefined, 50);
    const [first, second] = [parcel('a'), parcel('b')];
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
    const [first, gone, last] = [parcel('a'), parcel('b'), parcel('c')];
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
    expect(lane.pendingBytes).to.equal(0);
  });

  it('tells where the records of a send lie before their requests are answered', async () => {
    const order: string[] = [];
    const sent: SentRecord[] = [];
    lane = new ProducerLane(kafka as unknown as Kafka, log, (records) => {
      order.push('sent');
      sent.push(...records);
    });
    const other = { ...parcel('').info, tenantId: 2, bytes: 7 };
    const parcels = [parcel('a'), parcel('x', { info: other }), parcel('bb'), parcel('y', { info: other, partition: 1 })];
    parcels.forEach((each) => (each.done = () => order.push('done')));
    parcels.forEach((each) => lane.enqueue(each));
    for (const index of [0, 1]) {
      await turn();
      kafka.sends[index]?.answer();
    }
    await turn();
    expect(sent.map(({ partition, offset, tenantId, bytes }) => [partition, offset, tenantId, bytes])).to.deep.equal([
      [0, 100, 1, 3],
      [0, 101, 2, 7],
      [1, 100, 2, 7],
    ]);
    expect(order).to.deep.equal(['sent', 'done', 'done', 'done', 'sent', 'done']);
  });

  it('tells of no record of a send that failed', async () => {
    const sent: SentRecord[] = [];
    lane = new ProducerLane(kafka as unknown as Kafka, log, (records) => sent.push(...records));
    lane.enqueue(parcel('a'));
    await turn();
    kafka.sends[0]?.answer(new Error('no'));
    await turn();
    expect(sent).to.deep.equal([]);
  });

  it('sends what is queued before it stops', async () => {
    const last = parcel('a');
    lane.enqueue(last);
    const stopped = lane.stop();
    await turn();
    kafka.sends[0]?.answer();
    await stopped;
    expect(await last.result).to.equal(null);
  });
});

describe('records of parcels', () => {
  it('share a record by tenant, class and partition, and keep their order', () => {
    const other = parcel('x', { info: { ...parcel('').info, tenantId: 2 } });
    const messages = messagesOf([parcel('a'), other, parcel('b', { partition: 1 }), parcel('c')]);
    expect(
      messages.map(({ partition, value, headers }) => [partition, String(value), String(headers?.['tenant']), String(headers?.['count'])]),
    ).to.deep.equal([
      [0, 'a\nc\n', '1', '2'],
      [0, 'x\n', '2', '1'],
      [1, 'b\n', '1', '1'],
    ]);
  });

  it('lie where Kafka says, in the order in which they were given in their partition', () => {
    const big = (partition: number, tenantId: number): Parcel =>
      parcel('', { partition, value: Buffer.alloc(600_000), info: { ...parcel('').info, tenantId, bytes: tenantId } });
    const records = recordsOf([big(0, 1), big(1, 2), big(0, 1), big(0, 3), big(1, 2)]);
    const sent = sentRecords(records, [answer(1, 7, 5), answer(0, 40, 9)]);
    // the offsets as the messages themselves tell: kafkajs keeps the order of a partition's messages
    const offsets = [40, 7];
    const expected = records.map(messageOf).map(({ partition = 0, headers }) => ({
      partition,
      offset: (offsets[partition] = (offsets[partition] ?? 0) + 1) - 1,
      timestamp: partition === 0 ? 9 : 5,
      tenantId: Number(headers?.['tenant']),
      bytes: Number(headers?.['bytes']),
    }));
    expect(sent).to.deep.equal(expected);
    expect(sent.map(({ offset }) => offset).sort((a, b) => a - b)).to.deep.equal([7, 8, 40, 41, 42]);
  });

  it('may have no rows, where only the bytes of a request count', () => {
    const info = { tenantId: 7, retentionDays: 30, count: 0, bytes: 99, days: [], streams: new Map<string, string>() };
    const [message] = messagesOf([parcel('', { info, value: Buffer.alloc(0) })]);
    const record = decodeRecord(0, { ...message, offset: '1', timestamp: '5', value: message?.value } as unknown as KafkaMessage);
    expect(record).to.deep.include({ tenantId: 7, count: 0, bytes: 99, days: [] });
    expect(decodeBilled({ timestamp: '5', headers: message?.headers ?? {} })).to.deep.equal({ tenantId: 7, bytes: 99, timestamp: 5 });
  });

  it('count nothing where they are none of ours, or no bytes are in them', () => {
    for (const headers of [{}, { tenant: '1' }, { tenant: '1', bytes: '0' }, { tenant: '0', bytes: '5' }, { tenant: '1', bytes: '-5' }])
      expect(decodeBilled({ timestamp: '5', headers })).to.equal(null);
  });

  it('say in their headers what they hold', () => {
    const info = { tenantId: 7, retentionDays: 30, count: 2, bytes: 99, days: [1, 2], streams: new Map([['5', '{app="x,y"}']]) };
    const [message] = messagesOf([
      parcel('a', { info }),
      parcel('b', { info: { ...info, count: 3, bytes: 0, days: [3], streams: new Map([['6', '{}']]) } }),
    ]);
    const record = decodeRecord(4, { ...message, offset: '12', timestamp: '1795000000000', value: message?.value } as unknown as Parameters<
      typeof decodeRecord
    >[1]);
    expect(record).to.deep.include({
      tenantId: 7,
      retentionDays: 30,
      count: 5,
      bytes: 99,
      days: [1, 2, 3],
      partition: 4,
      offset: 12,
      timestamp: 1_795_000_000_000,
    });
    expect([...(record as LogRecord).streams]).to.deep.equal([
      ['5', '{app="x,y"}'],
      ['6', '{}'],
    ]);
  });

  for (const [what, headers] of Object.entries({
    'no headers': {},
    'another encoding': { encoding: 'avro', sv: '1', tenant: '1', retention: '0', count: '1', bytes: '0', streams: '[]' },
    'another version': { encoding: 'ndjson', sv: '9', tenant: '1', retention: '0', count: '1', bytes: '0', streams: '[]' },
    'no count': { encoding: 'ndjson', sv: '1', tenant: '1', retention: '0', bytes: '0', streams: '[]' },
    'broken streams': { encoding: 'ndjson', sv: '1', tenant: '1', retention: '0', count: '1', bytes: '0', streams: '[' },
  })) {
    it(`are refused with a reason where there is ${what}`, () => {
      expect(
        decodeRecord(0, { offset: '1', timestamp: '1', value: Buffer.from('x'), headers } as unknown as Parameters<typeof decodeRecord>[1]),
      ).to.have.property('reason');
    });
  }
});
