import { expect } from 'chai';
import { claimServer, replaceServer, serversFault } from '../../../api/control/set-servers.ts';
import { shardsOf } from '../../../api/control/shard-map.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';

type Node = Awaited<ReturnType<typeof controlNode>>['store'];

describe('the only server of a set', () => {
  const known = async (): Promise<Node> => {
    const { store } = await controlNode(new FakeControlTopic());
    await claimServer(store, 'a', 'x');
    await claimServer(store, 'b', 'y');
    return store;
  };

  const CASES: readonly (readonly [about: string, set: string, id: string, fault: RegExp | null])[] = [
    ['fresh, or with rows of an earlier version: it has no id, and none is known', 'c', '', null],
    ['fresh, or with rows of an earlier version: it was given one, and none is known', 'c', 'z', null],
    ['the same', 'b', 'y', null],
    [
      'one that has lost its tables',
      'b',
      '',
      /^is in another server than the one .*, whose server_id is y: that server has lost its tables/,
    ],
    ['one that has lost its tables, and was given new ones', 'b', 'z', /, whose server_id is y: .* \(logweir admin restore --set b\)$/],
    ['that of another set', 'b', 'x', /, whose server_id is y: .* or the url is that of another one/],
    ['that of another set, and none is known', 'c', 'x', /^is in a server of the set a$/],
  ];
  for (const [about, set, id, fault] of CASES)
    it(`${fault === null ? 'is taken' : 'is refused'}: ${about}`, async () => {
      const found = serversFault(await known(), set, [id]);
      if (fault === null) expect(found).to.equal(null);
      else expect(found).to.match(fault);
    });

  it('is the one that was known first, to every node and later process', async () => {
    const topic = new FakeControlTopic();
    const [one, other] = [await controlNode(topic), await controlNode(topic)];
    await Promise.all([claimServer(one.store, 'b', 'x'), claimServer(other.store, 'b', 'y')]);
    const later = await controlNode(topic);
    for (const { store } of [one, other, later]) expect(shardsOf(store, 'b')?.servers).to.deep.equal(['x']);
    expect(serversFault(later.store, 'b', ['y'])).to.match(/whose server_id is x/);
    await claimServer(later.store, 'b', 'y');
    expect(shardsOf(one.store, 'b')?.servers, 'one that is known stays').to.deep.equal(['x']);
  });

  it('is another one after a restore, also of a set of which none was known, and the old one is refused', async () => {
    const store = await known();
    await replaceServer(store, 'b', 'z');
    await replaceServer(store, 'c', 'w');
    expect([serversFault(store, 'b', ['z']), serversFault(store, 'c', ['w'])]).to.deep.equal([null, null]);
    expect(serversFault(store, 'b', ['y'])).to.match(/whose server_id is z/);
  });
});
