import { expect } from 'chai';
import { claimServer, serversFault } from '../../../api/control/set-servers.ts';
import { hasPlaced, ShardMap, shardsInUse, shardsOf } from '../../../api/control/shard-map.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';

type Node = Awaited<ReturnType<typeof controlNode>>['store'];

describe('the shards of a set', () => {
  const mapOf = (control: Node, shards: number, stored: readonly number[] = []): ShardMap =>
    new ShardMap({ control, set: 'b', shards, stored: () => Promise.resolve(new Set(stored)), servers: () => Promise.resolve(['x', 'y', 'z'].slice(0, shards)) }); // prettier-ignore
  const all = (map: ShardMap, partitions: number): Promise<number[]> =>
    Promise.all(Array.from({ length: partitions }, (_none, partition) => map.shardOf(partition)));

  it('take up partitions in turn, and every node and later process knows the same', async () => {
    const topic = new FakeControlTopic();
    const [one, other] = [await controlNode(topic), await controlNode(topic)];
    const found = await Promise.all([all(mapOf(one.store, 2), 6), all(mapOf(other.store, 2), 6)]);
    expect(found).to.deep.equal([[0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 0, 1]]); // prettier-ignore
    const later = await controlNode(topic);
    expect(await all(mapOf(later.store, 2), 6)).to.deep.equal([0, 1, 0, 1, 0, 1]);
    expect(shardsInUse(later.store, 'b')).to.equal(2);
    expect(shardsInUse(later.store, 'c')).to.equal(1);
  });

  it('keep what they have where one is added: it gets the partitions that are added', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    expect(await all(mapOf(store, 2), 4)).to.deep.equal([0, 1, 0, 1]);
    expect(await all(mapOf(store, 3), 7)).to.deep.equal([0, 1, 0, 1, 2, 2, 0]);
  });

  it('leave to the first one what was stored there when it was the only one', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    expect(await all(mapOf(store, 2, [0, 1, 2, 3]), 8)).to.deep.equal([0, 0, 0, 0, 1, 1, 1, 1]);
  });

  it('leave that to it also where a partition is read long after the first one, or by another node', async () => {
    const topic = new FakeControlTopic();
    const { store } = await controlNode(topic);
    expect(await mapOf(store, 2, [0, 1, 2, 5]).shardOf(1)).to.equal(0);
    const later = await controlNode(topic);
    expect(await all(mapOf(later.store, 2), 8)).to.deep.equal([0, 0, 0, 1, 1, 0, 1, 1]);
  });

  it('leave it to the server of a set that has become the first of several, which stays known by its id', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await claimServer(store, 'b', 'x');
    expect([hasPlaced(store, 'b'), shardsInUse(store, 'b')]).to.deep.equal([false, 1]);
    expect(await all(mapOf(store, 2, [0, 1, 2]), 5)).to.deep.equal([0, 0, 0, 1, 1]);
    expect([hasPlaced(store, 'b'), shardsOf(store, 'b')?.servers]).to.deep.equal([true, ['x', 'y']]);
  });

  it('are the servers that they were: another order, or one that has lost its tables, is a fault', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    expect(serversFault(store, 'b', ['x', 'y'])).to.equal(null);
    await all(mapOf(store, 2), 4);
    expect(shardsOf(store, 'b')?.servers).to.deep.equal(['x', 'y']);
    // the third one has no partitions yet
    for (const ids of [['x', 'y'], ['x', 'y', 'z'], ['x', 'y', 'w']]) expect(serversFault(store, 'b', ids)).to.equal(null); // prettier-ignore
    expect(serversFault(store, 'b', ['y', 'x'])).to.match(/^has another server as its shard 1 than .* whose shard_id is x:/);
    expect(serversFault(store, 'b', ['x', 'new'])).to.match(/^has another server as its shard 2 than .* whose shard_id is y:/);
    await all(mapOf(store, 3), 5);
    expect(shardsOf(store, 'b')?.servers).to.deep.equal(['x', 'y', 'z']);
    expect(serversFault(store, 'b', ['x', 'y', 'w'])).to.match(/^has another server as its shard 3 /);
  });

  it('refuse a partition whose shard the file does not name any more', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await all(mapOf(store, 2), 2);
    const refused = await mapOf(store, 1).shardOf(1).catch((error: unknown) => (error as Error).message); // prettier-ignore
    expect(refused).to.match(/^The set b has partitions in its shard 2, and LOGWEIR_CLICKHOUSE_SETS_FILE names 1:/);
  });

  it('are not known before the control topic was read', async () => {
    const control = { ready: false, record: () => undefined, write: () => Promise.reject(new Error('not asked')) };
    const map = new ShardMap({ control, set: 'b', shards: 2, stored: () => Promise.resolve(new Set()), servers: () => Promise.resolve([]) }); // prettier-ignore
    expect(await map.shardOf(0).catch((error: unknown) => (error as { status?: number }).status)).to.equal(503);
  });
});
