import { expect } from 'chai';
import type { ITopicConfig, Kafka } from 'kafkajs';
import { topics } from '../../../../main/topics.ts';
import { ensureTopics } from '../../../../pipeline/bus/records/topics.ts';

/** A cluster of three brokers, of which so many are there: one more each time it is asked. */
function clusterOf(there: number): { readonly kafka: Kafka; readonly made: ITopicConfig[] } {
  const made: ITopicConfig[] = [];
  let live = there;
  const admin = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    listTopics: () => Promise.resolve(made.map(({ topic }) => topic)),
    describeCluster: () => Promise.resolve({ brokers: Array.from({ length: Math.min(3, live++) }) }),
    createTopics: ({ topics }: { topics: ITopicConfig[] }) => Promise.resolve(made.push(...topics)),
    fetchTopicMetadata: ({ topics }: { topics: string[] }) =>
      Promise.resolve({ topics: topics.map((name) => ({ name, partitions: [{ leader: 1 }] })) }),
  };
  return { kafka: { admin: () => admin } as unknown as Kafka, made };
}

const copies = (made: readonly ITopicConfig[]): unknown[] => [...new Set(made.map(({ replicationFactor }) => replicationFactor))];

describe('topics', () => {
  it('are made with all their copies, once all brokers are there', async () => {
    const { kafka, made } = clusterOf(1);
    await ensureTopics(kafka, topics.members, { partitions: 2, brokers: 3 });
    expect(copies(made)).to.deep.equal([3]);
  });

  it('have as many copies as is configured, once so many brokers are there', async () => {
    const { kafka, made } = clusterOf(1);
    await ensureTopics(kafka, topics.members, { partitions: 2, brokers: 1, replication: 3, minInSync: 2 });
    expect(copies(made)).to.deep.equal([3]);
    const inSync = made.map(({ configEntries = [] }) => configEntries.find(({ name }) => name === 'min.insync.replicas')?.value);
    expect([...new Set(inSync)]).to.deep.equal(['2']);
    const few = clusterOf(3);
    await ensureTopics(few.kafka, topics.members, { partitions: 2, brokers: 3, replication: 2 });
    expect(copies(few.made)).to.deep.equal([2]);
  });

  it('are not made while brokers are away', async () => {
    const { kafka, made } = clusterOf(1);
    const error = await ensureTopics(kafka, topics.members, { partitions: 2, brokers: 3, timeoutMs: -1 }).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).to.include('Kafka has 1 of its 3 brokers');
    expect(made).to.deep.equal([]);
  });

  it('have a copy on every broker, where fewer addresses than brokers are known', async () => {
    const { kafka, made } = clusterOf(3);
    await ensureTopics(kafka, topics.members, { partitions: 2, brokers: 1 });
    expect(copies(made)).to.deep.equal([3]);
  });

  it('are left as they are where they exist, whoever is away', async () => {
    const { kafka, made } = clusterOf(3);
    await ensureTopics(kafka, topics.members, { partitions: 2, brokers: 1 });
    const before = made.length;
    await ensureTopics(kafka, topics.members, { partitions: 2, brokers: 9, timeoutMs: -1 });
    expect(made.length).to.equal(before);
  });
});
