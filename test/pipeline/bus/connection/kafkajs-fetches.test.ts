import { expect } from 'chai';
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import { kafkajs } from '../../../../pipeline/bus/connection/kafkajs.ts';

const require = createRequire(import.meta.url);

type Asked = { readonly at: number; readonly maxWaitTime: number; readonly minBytes: number; readonly partitions: readonly number[] };
type Message = { readonly offset: string; readonly value: Buffer };
type Group = { fetch(nodeId: number): Promise<readonly { readonly partition: number }[]> };

const GAP_MS = 60;
const MIN_BYTES = 1000;

/** A member of a group with three partitions on one broker, and what the broker was asked for. `answers`: bytes for each fetch of partition 1. */
function member(
  answers: readonly number[],
  { minBytes = MIN_BYTES, gapMs = GAP_MS, paused = [] as readonly number[] } = {},
): { group: Group; asked: Asked[]; ended: object[] } {
  expect(kafkajs.Kafka).to.be.a('function');
  const { prototype } = require('kafkajs/src/consumer/consumerGroup.js') as { prototype: Group };
  const asked: Asked[] = [];
  const ended: object[] = [];
  const open = [0, 1, 2].filter((partition) => !paused.includes(partition));
  const broker = {
    fetch: (request: { maxWaitTime: number; minBytes: number; topics: readonly { partitions: readonly { partition: number }[] }[] }) => {
      const bytes = answers[asked.length] ?? 0;
      const partitions = request.topics[0]?.partitions.map(({ partition }) => partition) ?? [];
      asked.push({ at: performance.now(), maxWaitTime: request.maxWaitTime, minBytes: request.minBytes, partitions });
      const messages: Message[] = bytes === 0 ? [] : [{ offset: '0', value: Buffer.alloc(bytes) }];
      const told = partitions.map((partition) => ({
        ...{ partition, highWatermark: '1', abortedTransactions: [], preferredReadReplica: -1 },
        messages: partition === 1 ? messages : [],
      }));
      return Promise.resolve({ responses: [{ topicName: 't', partitions: told }] });
    },
  };
  const group = Object.assign(Object.create(prototype) as Group, {
    ...{ minBytes, maxWaitTime: gapMs, maxBytes: 1e6, maxBytesPerPartition: 1e6 },
    cluster: { refreshMetadataIfNecessary: () => Promise.resolve(), findBroker: () => Promise.resolve(broker) },
    checkForStaleAssignment: () => undefined,
    filterPartitionsByNode: () => [{ topic: 't', partitions: [0, 1, 2] }],
    seekOffsets: () => Promise.resolve(),
    getActiveTopicPartitions: () => ({ t: new Set(open) }),
    subscriptionState: {
      assigned: () => [{ topic: 't', partitions: [0, 1, 2] }],
      isPaused: () => false,
      paused: () => (paused.length === 0 ? [] : [{ topic: 't', partitions: paused }]),
    },
    offsetManager: { committedOffsets: () => ({ t: { 0: '0', 1: '0', 2: '0' } }), nextOffset: () => '0' },
    preferredReadReplicasPerTopicPartition: {},
    seekOffset: { has: () => false },
    instrumentationEmitter: { emit: (_event: string, payload: object) => ended.push(payload) },
    recoverFromFetch: (error: unknown) => Promise.reject(error instanceof Error ? error : new Error(String(error))),
  });
  return { group, asked, ended };
}

describe("kafkajs' fetches", () => {
  it('take what a broker has at once, and begin no sooner than the wait after the one before', async () => {
    const { group, asked } = member([10, 10, 10]);
    for (let n = 0; n < 3; n++) expect((await group.fetch(1)).map(({ partition }) => partition)).to.deep.equal([1]);
    expect(asked.map(({ minBytes }) => minBytes)).to.deep.equal([1, 1, 1]);
    // a timer may be early by some milliseconds, where the process was held up when it was set
    for (const [n, { at }] of asked.entries()) if (n > 0) expect(at - (asked[n - 1]?.at ?? 0)).to.be.at.least(GAP_MS / 2);
  });

  it('do not wait after one that brought much', async () => {
    const { group, asked } = member([MIN_BYTES, MIN_BYTES], { gapMs: 600_000 });
    for (let n = 0; n < 3; n++) await group.fetch(1);
    expect(asked).to.have.length(3);
  });

  it('of each broker wait by themselves', async () => {
    const { group, asked } = member([10, 10]);
    await Promise.all([group.fetch(1), group.fetch(2)]);
    expect(asked).to.have.length(2);
  });

  it('wait long for the first record, but not while a partition is paused', async () => {
    const [all, some] = [member([]), member([], { paused: [2] })];
    expect(await all.group.fetch(1)).to.deep.equal([]);
    await some.group.fetch(1);
    expect(all.asked[0])
      .to.include({ maxWaitTime: 500 })
      .and.to.deep.include({ partitions: [0, 1, 2] });
    expect(some.asked[0])
      .to.include({ maxWaitTime: GAP_MS })
      .and.to.deep.include({ partitions: [0, 1] });
  });

  it('that fail are told of when they end, too', async () => {
    const { group, ended } = member([]);
    Object.assign(group, { checkForStaleAssignment: () => expect.fail('the end') });
    expect(await group.fetch(7).catch(String)).to.include('the end');
    // a test of the compiled program in this process has exchanged it once more
    expect(ended[0]).to.deep.equal({ nodeId: 7, numberOfBatches: 0, duration: 0 });
  });

  it('of a consumer that waits for any byte are as kafkajs has them', async () => {
    const { group, asked } = member([1, 1], { minBytes: 1 });
    await group.fetch(1);
    await group.fetch(1);
    expect(asked.map(({ maxWaitTime, minBytes }) => [maxWaitTime, minBytes])).to.deep.equal([
      [GAP_MS, 1],
      [GAP_MS, 1],
    ]);
  });
});

/** What a runner of kafkajs asks of its member: two brokers, of which the second one answers when it is told to. */
class TwoBrokers {
  brokers = ['1', '2'];
  looks = 0;
  answer: () => void = () => undefined;
  readonly heard: string[] = [];

  getNodeIds(): string[] {
    // kafkajs would go on for ever, in one turn of the event loop
    if (++this.looks > 10_000) throw new Error('It does not end.');
    return this.brokers;
  }
  async fetch(nodeId: string): Promise<[]> {
    if (nodeId === '2') await new Promise<void>((resolve) => (this.answer = resolve));
    else await turn();
    return [];
  }
  heartbeat(): Promise<void> {
    return Promise.resolve();
  }
  leave(): Promise<void> {
    this.heard.push('left');
    return Promise.resolve();
  }
}

type RunnerOfKafkajs = { running: boolean; scheduleFetchManager(): void; stop(): Promise<void> };

describe("kafkajs' readers", () => {
  it('end where they are stopped while the brokers change', async () => {
    expect(kafkajs.Kafka).to.be.a('function');
    const Runner = require('kafkajs/src/consumer/runner.js') as new (options: object) => RunnerOfKafkajs;
    const group = new TwoBrokers();
    const logger = { namespace: () => logger, debug: () => undefined, info: () => undefined, warn: () => undefined };
    const crashes: unknown[] = [];
    const runner = new Runner({
      ...{ logger, consumerGroup: group, concurrency: 1, retry: { retries: 0 }, heartbeatInterval: 1000 },
      instrumentationEmitter: { emit: () => undefined },
      onCrash: (error: unknown) => crashes.push(error),
    });
    runner.running = true;
    runner.scheduleFetchManager();
    for (let n = 0; n < 5; n++) await turn();
    // the reader of broker 1 sees it and ends; that of broker 2 waits for its answer
    group.brokers = ['1', '2', '3'];
    for (let n = 0; n < 5; n++) await turn();
    const stopped = runner.stop();
    await turn();
    group.answer();
    await stopped;
    expect(crashes).to.deep.equal([]);
    expect(group.heard).to.deep.equal(['left']);
  });
});
