import { expect } from 'chai';
import { LogBehind, type SetGroup } from '../../../../pipeline/bus/measured/log-behind.ts';
import type { OffsetQueries } from '../../../../pipeline/bus/reading/group-positions.ts';

const GROUPS: readonly SetGroup[] = ['a', 'b'].flatMap((set) =>
  ['logs', 'spans'].map((topic) => ({ set, topic, groupId: `${set}-${topic}` })),
);

/** A log whose topics get a record a second in each of two partitions, beginning an hour and more ago, and what groups have committed of it. */
class FakeLog {
  now = 10_000_000;
  low = 0;
  readonly committed: Record<string, number> = {};
  readonly admin = {
    fetchOffsets: ({ groupId, topics: [topic = ''] = [] }: { groupId: string; topics?: string[] }) =>
      Promise.resolve([{ topic, partitions: [0, 1].map((partition) => ({ partition, offset: String(this.committed[`${groupId}-${String(partition)}`] ?? this.committed[groupId] ?? -1), metadata: null })) }]), // prettier-ignore
    fetchTopicOffsets: () => Promise.resolve([0, 1].map((partition) => ({ partition, offset: String(this.end), high: String(this.end), low: String(this.low) }))), // prettier-ignore
    fetchTopicOffsetsByTimestamp: (_topic: string, time = 0) =>
      Promise.resolve([0, 1].map((partition) => ({ partition, offset: String(Math.max(this.low, Math.floor(time / 1000))) }))),
  } as unknown as OffsetQueries;

  get end(): number {
    return this.now / 1000;
  }

  /** These groups have all but so many records. */
  commit(groups: readonly string[], lag: number): void {
    for (const group of groups) this.committed[group] = this.end - lag;
  }
}

describe('how far sets are behind', () => {
  let log: FakeLog;
  let behind: LogBehind;
  const look = async (): Promise<unknown> =>
    Object.fromEntries(
      [...(await behind.look(log.admin))].map(([set, { behindMs, missed }]) => [set, missed === null ? behindMs : missed]),
    );
  beforeEach(() => {
    log = new FakeLog();
    behind = new LogBehind(GROUPS, () => log.now);
    log.commit(['a-logs', 'a-spans', 'b-logs', 'b-spans'], 0);
  });

  it('is nothing where all is stored', async () => {
    expect(await look()).to.deep.equal({ a: 0, b: 0 });
  });

  it('is known from the first look on, by where the log ended before', async () => {
    log.commit(['b-logs'], 30);
    expect(await look()).to.deep.equal({ a: 0, b: 60_000 });
    log.commit(['b-logs'], 5000);
    expect(await look()).to.deep.equal({ a: 0, b: 3_600_000 });
  });

  it('is that of the topic, and of the partition, that is furthest behind', async () => {
    await look();
    for (let second = 0; second < 5; second++) {
      log.now += 1000;
      await look();
    }
    log.commit(['a-logs', 'a-spans', 'b-logs'], 1);
    log.commit(['b-spans'], 2);
    log.committed['b-spans-1'] = log.end - 3;
    expect(await look()).to.deep.equal({ a: 1000, b: 3000 });
  });

  it('grows while a set stores nothing, and ends as it catches up', async () => {
    await look();
    for (let minute = 0; minute < 50; minute++) {
      log.now += 60_000;
      log.commit(['a-logs', 'a-spans'], 0);
      await look();
    }
    expect(await look()).to.deep.equal({ a: 0, b: 3_000_000 });
    log.commit(['b-logs', 'b-spans'], 0);
    expect(await look()).to.deep.equal({ a: 0, b: 0 });
  });

  it('names a topic whose records Kafka deleted before a set had stored them, of one that had stored some', async () => {
    log.commit(['b-spans'], 500);
    log.committed['a-logs'] = -1;
    log.low = log.end - 100;
    expect(await look()).to.deep.equal({ a: 3_600_000, b: 'spans' });
  });
});
