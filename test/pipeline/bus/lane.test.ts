import { expect } from 'chai';
import type { Kafka, Message } from 'kafkajs';
import { pino } from 'pino';
import { messagesOf, ProducerLane, type Parcel } from '../../../pipeline/bus/lane.ts';
import { decodeRecord, type LogRecord } from '../../../pipeline/bus/record.ts';

const log = pino({ level: 'silent' });

/** Kafka that takes sends one by one, when it is told to. */
class FakeKafka {
  readonly sends: { readonly messages: Message[]; readonly producer: number; answer: (error?: Error) => void }[] = [];
  producers = 0;
  inFlight = 0;
  mostInFlight = 0;

  producer(): unknown {
    const producer = ++this.producers;
    return {
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      send: ({ messages }: { messages: Message[] }) =>
        new Promise<void>((resolve, reject) => {
          this.inFlight += 1;
          this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
          const answer = (error?: Error): void => {
            this.inFlight -= 1;
            if (error === undefined) resolve();
            else reject(error);
          };
          this.sends.push({ messages, producer, answer });
        }),
    };
  }
}

const parcel = (text: string, more: Partial<Parcel> = {}): Parcel & { result: Promise<Error | null> } => {
  let done: (error: Error | null) => void = () => undefined;
  const result = new Promise<Error | null>((resolve) => (done = resolve));
  const info = { tenantId: 1, retentionDays: 0, count: 1, bytes: text.length, days: [1], streams: new Map([['5', '{}']]) };
  return { partition: 0, value: Buffer.from(`${text}\n`), info, enqueuedAt: performance.now(), cancelled: false, done, result, ...more };
};
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
      ).to.be.a('string');
    });
  }
});
