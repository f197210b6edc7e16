import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { readChecked } from '../../../pipeline/bus/records/record.ts';
import { textOf } from '../../../pipeline/core/entry.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { entriesIn } from '../../../pipeline/logs/columns/row-reader.ts';
import { SignalPublisher } from '../../../pipeline/intake/signal-publisher.ts';
import type { StreamDays } from '../../../pipeline/logs/record-streams.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import type { LogRecord } from '../../../pipeline/logs/record.ts';
import type { Written } from '../../../pipeline/intake/rows.ts';
import { createLogsIntake } from '../../../pipeline/logs/logs-intake.ts';
import type { EntryWriter } from '../../../pipeline/logs/writer.ts';
import { shardOf } from '../../../pipeline/intake/shard.ts';
import { eventually } from '../../fakes/eventually.ts';
import { ProduceCluster, type SentMessage } from '../../fakes/produce-cluster.ts';

/** Time for a send to come as far as Kafka. */
const turn = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns++) await nextTurn();
};

const DAY = 86_400;
const NOW = 20_777 * DAY;
const client = createKafka({ brokers: ['127.0.0.1:1'], clientId: 'test', log: pino({ level: 'silent' }) });

type Request = {
  readonly tenantId?: number;
  readonly retentionDays?: number;
  readonly entries: readonly object[];
  readonly bytes?: number;
  readonly withinMs?: number;
};

/** A record as the sink reads it. */
function received({ partition, value, headers }: SentMessage, offset = 0): LogRecord {
  return readChecked(logsSignal, partition, {
    ...{ key: null, value, headers, attributes: 0 },
    ...{ offset: String(offset), timestamp: '5' },
  }) as LogRecord;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

describe('signal publisher', () => {
  let kafka: ProduceCluster;
  let publisher: SignalPublisher<EntryWriter>;
  beforeEach(async () => {
    kafka = new ProduceCluster();
    publisher = new SignalPublisher(createLogsIntake(), { kafka: client, connect: kafka.connect, log: pino({ level: 'silent' }) });
    await publisher.start();
  });

  const publish = ({ tenantId = 1, retentionDays = 0, entries, bytes = 10, withinMs }: Request): Promise<Written> => {
    const writer = publisher.writer({
      tenantId,
      shards: 1,
      retentionDays,
      receivedAt: BigInt(NOW) * 1_000_000_000n,
      ...{ streamsPerDay: Infinity, seriesPerDay: Infinity, utf8Names: false, maxRowBytes: Infinity, expectedBytes: 0 },
      envelope: { header: () => '', query: new URLSearchParams('_stream_fields=app') },
    });
    for (const entry of entries) writer.add(entry);
    return publisher.publish(writer, bytes, withinMs);
  };
  const entry = (text: string, app = 'a', time = NOW): object => ({ _msg: text, app, _time: new Date(time * 1000).toISOString() });
  const messages = (record: LogRecord): string[] => entriesIn(record.value, record.count, (id) => id).map((one) => textOf(one.get('_msg')));
  const sent = (send: number): LogRecord[] => (kafka.sends[send]?.messages ?? []).map((message) => received(message));

  it('puts requests of one tenant and class into one record while it waits, those of others into their own', async () => {
    const first = publish({ entries: [entry('0')] });
    await turn();
    const more = [
      publish({ entries: [entry('a')], bytes: 1 }),
      publish({ tenantId: 2, entries: [entry('x')] }),
      publish({ entries: [entry('b', 'b', NOW - DAY), entry('c', 'a', NOW - DAY)], bytes: 2 }),
      publish({ retentionDays: 30, entries: [entry('y')] }),
    ];
    kafka.sends[0]?.answer();
    await first;
    await turn();
    expect(sent(1).map((record) => [record.tenantId, record.retentionDays, record.count, record.bytes, messages(record)])).to.deep.equal([
      [1, 0, 3, 3, ['a', 'b', 'c']],
      [2, 0, 1, 10, ['x']],
      [1, 30, 1, 10, ['y']],
    ]);
    const days = [...(sent(1)[0]?.streams.toMap().values() ?? [])].map((stream) => [stream.text, stream.days]);
    expect(days).to.deep.equal([
      ['{app="a"}', [20_777, 20_776]],
      ['{app="b"}', [20_776]],
    ]);
    kafka.sends[1]?.answer();
    expect((await Promise.all(more)).map(({ accepted }) => accepted)).to.deep.equal([1, 1, 2, 1]);
    expect(publisher.pendingBytes).to.equal(0);
  });

  it('begins another record where one is in flight or would grow beyond 2 MB', async () => {
    const text = 'x'.repeat(600_000);
    const requests = [0, 1, 2, 3, 4].map(() => publish({ entries: [entry(text)] }));
    await turn();
    requests.push(publish({ entries: [entry('later')] }));
    expect(sent(0).map(({ count }) => count)).to.deep.equal([3, 2]);
    kafka.sends[0]?.answer();
    await Promise.all(requests.slice(0, 5));
    await turn();
    expect(sent(1).map(messages)).to.deep.equal([['later']]);
    kafka.sends[1]?.answer();
    await Promise.all(requests);
  });

  it('has a record without rows where only the bytes of a request count', async () => {
    const request = publish({ tenantId: 7, entries: [], bytes: 99 });
    await turn();
    expect(sent(0)[0]).to.deep.include({ tenantId: 7, count: 0, bytes: 99, fault: null });
    kafka.sends[0]?.answer();
    expect(await request).to.deep.include({ accepted: 0, total: 0 });
  });

  it('refuses every request of a record that Kafka has not taken', async () => {
    const requests = ['a', 'b'].map((text) => publish({ entries: [entry(text)] }).catch((error: unknown) => error));
    await turn();
    kafka.sends[0]?.decide({ answer: 'answered', isAppended: true, codes: new Map([[0, 10]]) });
    for (const answer of await Promise.all(requests)) expect(answer).to.be.instanceOf(HttpError).and.include({ status: 429 });
    expect(publisher.pendingBytes).to.equal(0);
  });

  it('refuses only what goes to a partition whose leader hangs', async () => {
    kafka = new ProduceCluster(2, 2);
    kafka.fateOf = ({ broker }) => (broker === 0 ? { answer: 'silent' } : { answer: 'answered' });
    publisher = new SignalPublisher(createLogsIntake(), { kafka: client, connect: kafka.connect, log: pino({ level: 'silent' }) });
    await publisher.start();
    const tenantOf = (partition: number): number => range(1, 100).find((id) => shardOf(id, 1, 2)[0] === partition) as number;
    const [held, free] = [tenantOf(0), tenantOf(1)];
    const refusal = (tenantId: number, shards: number): number => {
      try {
        publisher.admit(tenantId, shards);
        return 200;
      } catch (error) {
        return (error as HttpError).status;
      }
    };
    const waiting = publish({ tenantId: held, entries: [entry('a')] }).catch((error: unknown) => error);
    await eventually('the refusal', () => refusal(held, 1), (status) => status === 429); // prettier-ignore
    expect([refusal(free, 1), refusal(free, 2)]).to.deep.equal([200, 429]);
    await publish({ tenantId: free, entries: [entry('b')] });
    kafka.fateOf = () => ({ answer: 'answered' });
    for (const send of kafka.sends) send.answer();
    await waiting;
    await eventually('what waited is over', () => refusal(held, 1), (status) => status === 200); // prettier-ignore
    expect(refusal(held, 2)).to.equal(200);
  }).timeout(20_000);

  it('refuses a tenant of which much waits, and no other one', async function () {
    // on a busy machine what waits has waited for too long before it is looked at
    this.retries(3);
    const large = Array.from({ length: 18 }, (_none, index) => publish({ entries: [entry(`${String(index)} ${'x'.repeat(1_000_000)}`)] }));
    expect(() => publisher.admit(1, 1))
      .to.throw(HttpError, 'of this tenant')
      .with.property('status', 429);
    publisher.admit(2, 1);
    const other = publish({ tenantId: 2, entries: [entry('small')] });
    const answering = setInterval(() => {
      for (const send of kafka.sends) send.answer();
    }, 1);
    await Promise.all([...large, other]).finally(() => clearInterval(answering));
    publisher.admit(1, 1);
  });

  it('puts a request that is much more than a tenant may have waiting on the log in portions', async () => {
    let waitedMost = 0;
    const answering = setInterval(() => {
      waitedMost = Math.max(waitedMost, publisher.pendingBytes);
      for (const send of kafka.sends) send.answer();
    }, 1);
    const entries = Array.from({ length: 40 }, (_none, index) => entry(`${String(index)} ${'x'.repeat(1_000_000)}`));
    const publishing = publish({ entries });
    expect(() => publisher.admit(1, 1), 'all of it counts').to.throw(HttpError, 'of this tenant');
    publisher.admit(2, 1);
    await publishing.finally(() => clearInterval(answering));
    expect(waitedMost).to.be.within(1_000_000, 6_000_000);
    expect(
      kafka.sends.flatMap(({ messages }) => messages.map((message) => received(message).count)).reduce((sum, count) => sum + count, 0),
    ).to.equal(40);
    publisher.admit(1, 1);
  });

  it('has one deadline for all portions of a request', async () => {
    const { now } = performance;
    let answering: NodeJS.Timeout | undefined;
    const entries = Array.from({ length: 10 }, (_none, index) => entry(`${String(index)} ${'x'.repeat(1_000_000)}`));
    const publishing = publish({ entries });
    const isThere = (count: number): boolean =>
      kafka.sends.flatMap(({ messages }) => messages).reduce((sum, message) => sum + received(message).count, 0) >= count;
    try {
      await turn();
      kafka.sends[0]?.answer();
      await turn();
      expect(isThere(4), 'the last of the first portion is sent').to.equal(true);
      // the first portion takes six seconds; no other one gets five of its own
      performance.now = () => now.call(performance) + 6000;
      answering = setInterval(() => {
        for (const send of kafka.sends) send.answer();
      }, 1);
      const error = await publishing.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(HttpError).and.include({ status: 429 });
      expect(isThere(5), 'more was sent').to.equal(false);
    } finally {
      clearInterval(answering);
      performance.now = now;
    }
  });

  it('waits no longer than the request has left', async function () {
    // a publisher's own deadline is five seconds
    this.timeout(4000);
    const error = await publish({ entries: [entry('a')], withinMs: 20 }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(HttpError).and.include({ status: 429 });
  });

  describe('whose requests wait for a short time', () => {
    beforeEach(async () => {
      publisher = new SignalPublisher(createLogsIntake(), {
        kafka: client,
        connect: kafka.connect,
        log: pino({ level: 'silent' }),
        deadlineMs: 30,
      });
      await publisher.start();
    });
    const refused = (request: Promise<Written>): Promise<unknown> =>
      request.then(
        () => expect.fail('it is refused'),
        (error: unknown) => expect(error).to.be.instanceOf(HttpError).and.include({ status: 429 }),
      );

    /** A send that Kafka does not answer, and whose requests have given up. */
    async function occupy(): Promise<void> {
      const requests: Promise<unknown>[] = [];
      while (kafka.sends.length === 0) {
        requests.push(refused(publish({ tenantId: 2, entries: [entry('in flight')] })));
        await turn();
      }
      await Promise.all(requests);
    }

    it('does not send a record that nobody waits for any more', async () => {
      await occupy();
      await refused(publish({ entries: [entry('gone')] }));
      kafka.sends[0]?.answer();
      await turn();
      expect(kafka.sends).to.have.length(1);
      expect(publisher.pendingBytes).to.equal(0);
    });

    it('sends a shared one for those who still wait', async () => {
      await occupy();
      await refused(publish({ entries: [entry('a')] }));
      const later = publish({ entries: [entry('b')] }).catch(() => null);
      kafka.sends[0]?.answer();
      await Promise.resolve();
      await turn();
      expect(sent(1).map(messages)).to.deep.equal([['a', 'b']]);
      kafka.sends[1]?.answer();
      await later;
      await turn();
      expect(publisher.pendingBytes).to.equal(0);
    });
  });

  it('gives each stream its own days, whatever the order', async () => {
    const entries = Array.from({ length: 400 }, (_, n) => entry(String(n), `app${String(n % 200)}`, NOW - (n % 7) * DAY));
    const request = publish({ entries });
    await turn();
    const streams = sent(0)[0]?.streams.toMap() ?? new Map<string, StreamDays>();
    expect(streams.size).to.equal(200);
    for (let n = 0; n < 200; n++) {
      const own = [...streams.values()].find(({ text }) => text === `{app="app${String(n)}"}`);
      expect(own?.days).to.have.members([...new Set([n, n + 200].map((each) => 20_777 - (each % 7)))]);
    }
    kafka.sends[0]?.answer();
    await request;
  });
});
