import { expect } from 'chai';
import { pino } from 'pino';
import { parseUsageRecord, partitionKey, encodeSnapshot } from '../../../pipeline/bus/usage-records.ts';
import { ProcessorRunner } from '../../../pipeline/processors/runner.ts';
import { usage } from '../../../pipeline/processors/usage.ts';
import { FakeLog, FakeTopic } from '../../fakes/compacted-log.ts';
import { FakeLogReader, FakeLogTopic } from '../../fakes/log-reader.ts';
import { eventually } from '../../fakes/eventually.ts';

const DAY = 20_000;
const record = (bytes: number) => ({ tenantId: 1, bytes, timestamp: DAY * 86_400_000 });

describe('processor runner', () => {
  let topic: FakeTopic;
  let log: FakeLogTopic;
  const running: ProcessorRunner<ReturnType<typeof usage.empty>>[] = [];

  type Started = { runner: ProcessorRunner<ReturnType<typeof usage.empty>>; reader: FakeLogReader; snapshots: FakeLog };

  async function start(everyMs = 1): Promise<Started> {
    const reader = new FakeLogReader(log);
    const logger = pino({ level: 'silent' });
    const snapshots = new FakeLog(topic);
    const runner = new ProcessorRunner({ processor: usage, reader, snapshots, logger, everyMs });
    running.push(runner);
    await runner.start();
    return { runner, reader, snapshots };
  }

  /** What the topic says last of a partition. */
  function last(partition: number): { next: number; bytes: number | undefined } | null {
    const found = topic.records.filter(({ key }) => key === partitionKey(partition)).at(-1);
    const parsed = parseUsageRecord(found?.key ?? '', found?.value ?? null);
    return parsed?.kind === 'partition' ? { next: parsed.snapshot.next, bytes: parsed.snapshot.days.get(DAY)?.get(1) } : null;
  }
  const lastIs = (partition: number, next: number, bytes: number): Promise<unknown> =>
    eventually(
      'a snapshot',
      () => last(partition),
      (found) => found?.next === next && found.bytes === bytes,
    );

  beforeEach(() => {
    topic = new FakeTopic();
    log = new FakeLogTopic(2);
    for (const bytes of [1, 2, 4, 8]) log.append(0, record(bytes));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((runner) => runner.stop()));
  });

  it('publishes what has changed, and nothing else', async () => {
    const { reader } = await start();
    reader.assign(0);
    reader.assign(1);
    reader.read(0, 3);
    await lastIs(0, 3, 7);
    reader.read(0, 3);
    await lastIs(0, 4, 15);
    expect(topic.records.map(({ key }) => key)).to.deep.equal([partitionKey(0), partitionKey(0)]);
  });

  it('publishes the partitions that have changed in one request', async () => {
    const { runner, reader, snapshots } = await start(1000);
    log.append(1, record(1));
    for (const partition of [0, 1]) {
      reader.assign(partition);
      reader.read(partition, 1);
    }
    await runner.stop();
    expect([last(0), last(1)]).to.deep.equal([1, 1].map((bytes) => ({ next: 1, bytes })));
    expect(snapshots.requests).to.deep.equal([2]);
  });

  it('goes on where a snapshot ends', async () => {
    topic.append(partitionKey(0), encodeSnapshot({ next: 3, days: new Map([[DAY, new Map([[1, 7]])]]) }));
    const { reader } = await start();
    reader.assign(0);
    reader.read(0, 100);
    await lastIs(0, 4, 15);
  });

  it('publishes the last state when it stops, though nothing was due', async () => {
    const { runner, reader } = await start();
    reader.assign(0);
    reader.read(0, 2);
    await runner.stop();
    expect(last(0)).to.deep.equal({ next: 2, bytes: 3 });
  });

  it('tries again what Kafka did not take', async () => {
    const { reader } = await start();
    topic.down = true;
    reader.assign(0);
    reader.read(0, 2);
    await eventually(
      'a failed attempt',
      () => last(0),
      (found) => found === null,
    );
    topic.down = false;
    await lastIs(0, 2, 3);
  });

  it('puts right what a process that was replaced has published over it', async () => {
    const { reader } = await start();
    reader.assign(0);
    reader.read(0, 4);
    await lastIs(0, 4, 15);
    topic.append(partitionKey(0), encodeSnapshot({ next: 1, days: new Map([[DAY, new Map([[1, 1]])]]) }));
    await lastIs(0, 4, 15);
  });

  it('takes over from one that is further, and adds nothing twice', async () => {
    const [behind, ahead] = [await start(), await start()];
    behind.reader.assign(0);
    behind.reader.read(0, 1);
    await lastIs(0, 1, 1);
    ahead.reader.assign(0);
    ahead.reader.read(0, 4);
    await lastIs(0, 4, 15);
    behind.reader.read(0, 3);
    log.append(0, record(16));
    behind.reader.read(0, 1);
    await lastIs(0, 5, 31);
  });
});
