import { expect } from 'chai';
import type { Kafka } from 'kafkajs';
import { pino } from 'pino';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { LogTail, type LogTailOptions } from '../../../../pipeline/bus/reading/log-tail.ts';
import { eventually } from '../../../fakes/eventually.ts';
import { fetchAnswer, kafkaBatch } from '../../../fakes/kafka-batches.ts';

type Asked = { readonly collects: boolean; readonly offsets: readonly number[] };
type FetchRequest = {
  readonly minBytes: number;
  readonly topics: readonly [{ readonly partitions: readonly { readonly fetchOffset: number }[] }];
};
type Response = { decode(bytes: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };

/** Two partitions with these batches, one in each answer; afterwards there is nothing more. What it was asked for, and when. */
function kafkaWith(answers: readonly (readonly [partition: number, batches: Buffer] | Error)[]): { kafka: Kafka; asked: Asked[] } {
  const asked: Asked[] = [];
  const broker = {
    lookupRequest: () => (request: FetchRequest) => ({ request: { ...request, apiVersion: 11 }, response: {} }),
    connectionPool: {
      send: async ({ request, response }: { readonly request: FetchRequest; readonly response: Response }) => {
        const answer = answers[asked.length];
        asked.push({ collects: request.minBytes > 1, offsets: request.topics[0].partitions.map(({ fetchOffset }) => fetchOffset) });
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

  it('lets the broker collect records while nothing of them is wanted, until something is, or nothing comes', async () => {
    const [other, own] = [await batchOf(1000, 8), await batchOf(1001, 7)];
    const { kafka, asked } = kafkaWith([
      [0, other],
      [0, other],
      [0, own],
      [0, other],
      [0, other],
      [0, Buffer.alloc(0)],
    ]);
    await open(kafka, { wants: (tenantId) => tenantId === 7, clock: () => 0 });
    await requests(asked, 7);
    expect(asked.map(({ collects }) => collects)).to.deep.equal([false, true, true, false, true, true, false]);
    expect([taken, reads]).to.deep.equal([['0:1001'], 5]);
  });

  it('asks for each record at once where records come seldom', async () => {
    const other = await batchOf(1000, 8);
    const { kafka, asked } = kafkaWith([
      [0, other],
      [0, other],
    ]);
    await open(kafka, { wants: () => false, clock: () => asked.length * 75 });
    await requests(asked, 3);
    expect(asked.map(({ collects }) => collects)).to.deep.equal([false, false, false]);
  });

  it('gives all where nobody is asked', async () => {
    const { kafka, asked } = kafkaWith([[1, await batchOf(1000, 7, 8)]]);
    await open(kafka);
    await requests(asked, 2);
    expect(taken).to.deep.equal(['1:1000', '1:1001']);
  });
});
