import { expect } from 'chai';
import type { Kafka } from 'kafkajs';
import { pino } from 'pino';
import type { KafkaMessage } from '../../../pipeline/bus/kafka.ts';
import { LogTail, type LogTailOptions } from '../../../pipeline/bus/log-tail.ts';
import { eventually } from '../../fakes/eventually.ts';
import { fetchAnswer, kafkaBatch } from '../../fakes/kafka-batches.ts';

type Asked = { readonly at: number; readonly offsets: readonly number[] };
type FetchRequest = { readonly topics: readonly [{ readonly partitions: readonly { readonly fetchOffset: number }[] }] };
type Response = { decode(bytes: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };

/** Two partitions with these batches, one in each answer; afterwards there is nothing more. What it was asked for, and when. */
function kafkaWith(answers: readonly (readonly [partition: number, batches: Buffer] | Error)[]): { kafka: Kafka; asked: Asked[] } {
  const asked: Asked[] = [];
  const broker = {
    lookupRequest: () => (request: FetchRequest) => ({ request: { ...request, apiVersion: 11 }, response: {} }),
    connectionPool: {
      send: async ({ request, response }: { readonly request: FetchRequest; readonly response: Response }) => {
        const answer = answers[asked.length];
        asked.push({ at: performance.now(), offsets: request.topics[0].partitions.map(({ fetchOffset }) => fetchOffset) });
        if (answer === undefined) return new Promise(() => undefined);
        if (answer instanceof Error) throw answer;
        const bytes = fetchAnswer(
          11,
          [0, 1].map((partition) => (partition === answer[0] ? { partition, batches: answer[1] } : { partition })),
        );
        return response.parse(await response.decode(bytes));
      },
    },
  };
  const cluster = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    addTargetTopic: () => Promise.resolve(),
    refreshMetadata: () => Promise.resolve(),
    findTopicPartitionMetadata: () => [{ partitionId: 0 }, { partitionId: 1 }],
    findLeaderForPartitions: () => ({ '1': [0, 1] }),
    findBroker: () => Promise.resolve(broker),
    fetchTopicsOffset: ([{ fromBeginning }]: readonly [{ readonly fromBeginning: boolean }]) =>
      Promise.resolve([
        { partitions: [0, 1].map((partition) => ({ partition, offset: fromBeginning ? '0' : asked.length === 0 ? '1000' : '1010' })) },
      ]),
  };
  return { kafka: { [Symbol('private:Kafka:createCluster')]: () => cluster } as unknown as Kafka, asked };
}

const batchOf = (firstOffset: number, ...tenants: readonly number[]): Promise<Buffer> =>
  kafkaBatch(
    tenants.map((tenant) => ({ value: Buffer.from('a'), headers: { tenant: String(tenant) } })),
    { firstOffset },
  );

describe('the reader of a log', () => {
  const taken: string[] = [];
  let reads = 0;
  let tail: LogTail | undefined;
  const open = async (kafka: Kafka, more: Partial<LogTailOptions> = {}): Promise<LogTail> => {
    [taken.length, reads] = [0, 0];
    tail = new LogTail({
      ...{ kafka, log: pino({ level: 'silent' }), topic: 'logs' },
      take: (partition, messages: readonly KafkaMessage[]) => taken.push(...messages.map(({ offset }) => `${String(partition)}:${offset}`)),
      onTaken: () => (reads += 1),
      onGap: () => undefined,
      ...more,
    });
    await tail.start();
    return tail;
  };
  const requests = (asked: readonly Asked[], count: number): Promise<number> =>
    eventually(
      'a request',
      () => asked.length,
      (length) => length === count,
    );
  afterEach(() => tail?.stop());

  it('gives the records of the tenants that are wanted, each once, and goes on behind those of the others', async () => {
    const { kafka, asked } = kafkaWith([
      [0, await batchOf(1000, 7, 8, 7)],
      // a broker gives whole batches, from before what was asked for
      [0, Buffer.concat([await batchOf(1000, 7, 8, 7), await batchOf(1003, 7)])],
      new Error('The connection is lost.'),
      [1, await batchOf(1000, 8, 9)],
      [1, await batchOf(1002, 7)],
    ]);
    const wanted = await open(kafka, { wants: (tenantId) => tenantId === 7 });
    await requests(asked, 6);
    expect(taken).to.deep.equal(['0:1000', '0:1002', '0:1003', '1:1002']);
    expect([...wanted.next]).to.deep.equal([
      [0, 1004],
      [1, 1003],
    ]);
    expect(asked.map(({ offsets }) => offsets[0])).to.deep.equal([1000, 1003, 1004, 1004, 1004, 1004]);
    // it is told of what nobody wants too
    expect(reads).to.equal(4);
  });

  it('waits before it asks again where nothing was wanted', async () => {
    const none = { wants: (): boolean => false };
    const { kafka, asked } = kafkaWith([
      [0, await batchOf(1000, 8)],
      [0, await batchOf(1001, 8)],
    ]);
    await open(kafka, none);
    await requests(asked, 3);
    for (const [index, { at }] of asked.slice(1).entries()) expect(at - (asked[index]?.at ?? 0)).to.be.at.least(49);
    expect([taken, reads]).to.deep.equal([[], 2]);
  });

  it('gives all where nobody is asked', async () => {
    const { kafka, asked } = kafkaWith([[1, await batchOf(1000, 7, 8)]]);
    await open(kafka);
    await requests(asked, 2);
    expect(taken).to.deep.equal(['1:1000', '1:1001']);
  });
});
