import { expect } from 'chai';
import type { Range, RangeStore } from '../../pipeline/bus/consumer/range.ts';
import { ShardedWriter } from '../../sinks/sharded-writer.ts';

/** Notes what it is asked for. */
class FakeWriter implements RangeStore {
  readonly calls: string[] = [];
  fails = false;
  canJoin = true;

  store({ partition }: Range, again: boolean): Promise<[]> {
    this.calls.push(`store ${String(partition)} ${String(again)}`);
    return Promise.resolve([]);
  }

  joins(): Promise<boolean> {
    return Promise.resolve(this.canJoin);
  }

  storeJointly(id: string, ranges: readonly Range[]): Promise<void> {
    this.calls.push(`${id}: ${ranges.map(({ partition }) => partition).join()}`);
    return this.fails ? Promise.reject(new Error('down')) : Promise.resolve();
  }

  fence(id: string, partition: number): Promise<void> {
    this.calls.push(`fence ${id} ${String(partition)}`);
    return Promise.resolve();
  }

  highest(partition: number, from: number): Promise<number> {
    this.calls.push(`highest ${String(partition)}`);
    return Promise.resolve(from);
  }
}

const rangeOf = (partition: number): Range => ({ topic: 't', partition, start: 0, end: 1, rows: 1, records: [] });

describe('a writer into shards', () => {
  let [one, other] = [new FakeWriter(), new FakeWriter()];
  let writer: ShardedWriter;
  beforeEach(() => {
    [one, other] = [new FakeWriter(), new FakeWriter()];
    writer = new ShardedWriter({ writers: [one, other], shardOf: (partition) => Promise.resolve(partition % 2) });
  });

  it('asks, stores and fences where the partition lies', async () => {
    await writer.store(rangeOf(3), true);
    expect(await writer.highest(3, 7, null)).to.equal(7);
    await writer.fence('x', 3);
    await writer.store(rangeOf(0), false);
    expect([one.calls, other.calls]).to.deep.equal([['store 0 false'], ['store 3 true', 'highest 3', 'fence x 3']]);
  });

  it('stores a round by one insert in each shard that has some of it, under one id', async () => {
    await writer.storeJointly('r', [0, 1, 2, 3].map(rangeOf));
    await writer.storeJointly('s', [1, 3].map(rangeOf));
    expect([one.calls, other.calls]).to.deep.equal([['r: 0,2'], ['r: 1,3', 's: 1,3']]);
  });

  it('waits for every shard before it says that one has failed', async () => {
    one.fails = true;
    const reason = await writer.storeJointly('r', [0, 1].map(rangeOf)).catch((error: unknown) => (error as Error).message);
    expect([reason, other.calls]).to.deep.equal(['down', ['r: 1']]);
  });

  it('joins where all shards do', async () => {
    expect(await writer.joins()).to.equal(true);
    other.canJoin = false;
    expect(await writer.joins()).to.equal(false);
  });

  it('stores nothing of a partition without a shard', async () => {
    const lost = new ShardedWriter({ writers: [one, other], shardOf: () => Promise.reject(new Error('unknown')) });
    for (const ask of [
      () => lost.store(rangeOf(0), false),
      () => lost.highest(0, 0, null),
      () => lost.fence('x', 0),
      () => lost.storeJointly('r', [rangeOf(0)]),
    ])
      // prettier-ignore
      expect(await ask().then(String, (error: unknown) => (error as Error).message)).to.equal('unknown');
    expect([...one.calls, ...other.calls]).to.deep.equal([]);
  });
});
