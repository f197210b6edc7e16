import { expect } from 'chai';
import { createKey, createTenant, revokeKey, setPlan } from '../../../api/control/accounts.ts';
import { MAX_SAVED_CHARACTERS, MAX_SAVED_SEARCHES } from '../../../api/control/bounds.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { eventually } from '../../fakes/eventually.ts';
import { accountNode, BAD_BODIES, BAD_IDS, type AccountNode } from './account-world.ts';

const SAVED = '/api/v1/tenants/1/saved-searches';
const errors = { name: 'Errors', query: 'level:error | stats by (service) count()', start: '-1h', end: null, columns: ['service', '_msg'] };

describe('saved searches', () => {
  let topic: FakeControlTopic;
  let node: AccountNode;
  let one: string;
  let two: string;
  beforeEach(async () => {
    topic = new FakeControlTopic();
    node = await accountNode(topic);
    for (const name of ['a', 'b']) await createTenant(node.store, name, 'growth');
    [one, two] = [await node.keyOf(1, ['read', 'write']), await node.keyOf(1, ['read', 'write'])];
  });
  afterEach(() => node.stop());
  const names = async (key: string): Promise<unknown[]> =>
    ((await node.call(key, 'GET', SAVED)).body['items'] as { name: string }[]).map(({ name }) => name);

  it('are created, changed, shared and deleted by the key that owns them', async () => {
    const made = await node.call(one, 'POST', SAVED, errors);
    expect(made.status).to.equal(201);
    expect(made.body).to.deep.include({ ...errors, shared: false, is_own: true });
    const at = `${SAVED}/${String(made.body['id'])}`;
    expect([await names(one), await names(two)]).to.deep.equal([['Errors'], []]);
    expect((await node.call(two, 'GET', at)).status).to.equal(404);
    expect((await node.call(two, 'PUT', at, errors)).status).to.equal(404);
    const shared = await node.call(one, 'PUT', at, { ...errors, name: 'All errors', shared: true });
    expect(shared.body).to.deep.include({ name: 'All errors', shared: true, created_at: made.body['created_at'] });
    expect((await node.call(two, 'GET', at)).body).to.include({ name: 'All errors', is_own: false });
    for (const method of ['PUT', 'DELETE']) expect((await node.call(two, method, at, errors)).status, method).to.equal(403);
    expect((await node.call(one, 'DELETE', at)).status).to.equal(204);
    expect((await node.call(one, 'GET', at)).status).to.equal(404);
    expect(await names(two)).to.deep.equal([]);
    expect(JSON.parse(topic.records.at(-1)?.value ?? '')).to.deep.include({ isDeleted: true, query: '', columns: [] });
  });
  it('of a key that was revoked belong to whoever sees them', async () => {
    const gone = await createKey(node.store, 1, ['read', 'write'], null);
    const { body } = await node.call(gone.secret, 'POST', SAVED, { ...errors, shared: true });
    await revokeKey(node.store, 1, gone.record.id);
    expect((await node.call(two, 'DELETE', `${SAVED}/${String(body['id'])}`)).status).to.equal(204);
  });
  it('need the scope, and the tenant', async () => {
    const [reader, ingester] = [await node.keyOf(1, ['read']), await node.keyOf(1, ['ingest'])];
    const { body } = await node.call(one, 'POST', SAVED, { ...errors, shared: true });
    expect(await names(reader)).to.deep.equal(['Errors']);
    for (const method of ['PUT', 'DELETE'])
      expect((await node.call(reader, method, `${SAVED}/${String(body['id'])}`, errors)).status, method).to.equal(403);
    expect((await node.call(reader, 'POST', SAVED, errors)).status).to.equal(403);
    expect((await node.call(ingester, 'GET', SAVED)).status).to.equal(403);
    const other = await node.keyOf(2, ['read', 'write']);
    expect((await node.call(other, 'GET', SAVED)).status).to.equal(403);
    expect((await node.call(other, 'GET', `/api/v1/tenants/2/saved-searches/${String(body['id'])}`)).status).to.equal(404);
  });
  it('hostile ids and bodies get nowhere', async () => {
    for (const id of BAD_IDS) expect((await node.call(one, 'GET', `${SAVED}/${id}`)).status, id).to.equal(404);
    const wrong = [
      ...[{ query: 'a (' }, { query: '* | stats' }, { query: 'x'.repeat(10_001) }, { columns: Array.from({ length: 101 }, String) }],
      ...[{ columns: ['a', 'a'] }, { columns: 'a' }, { shared: 'yes' }, { start: 1 }, { owner: 'x' }, { start: 'x'.repeat(101) }],
    ].map((change) => ({ ...errors, ...change }));
    for (const body of [...BAD_BODIES, ...wrong, { ...errors, query: `_msg:~"${'(a+)+'.repeat(50)}$" (` }])
      expect((await node.call(one, 'POST', SAVED, body)).status, JSON.stringify(body).slice(0, 80)).to.equal(400);
    expect(await names(one)).to.deep.equal([]);
  });
  it('the expired trial has 50, and any tenant a bounded number and length', async () => {
    await setPlan(node.store, 1, 'trial_expired');
    for (let made = 0; made < 50; made++)
      expect((await node.call(one, 'POST', SAVED, { ...errors, name: String(made) })).status).to.equal(201);
    const refused = await node.call(two, 'POST', SAVED, errors);
    expect([refused.status, refused.detail]).to.deep.equal([
      403,
      'The plan trial_expired allows 50 saved searches; delete one, or add a payment method.',
    ]);
    const [first] = (await node.call(one, 'GET', SAVED)).body['items'] as { id: string }[];
    await node.call(one, 'DELETE', `${SAVED}/${first?.id ?? ''}`);
    expect((await node.call(one, 'POST', SAVED, errors)).status).to.equal(201);
    expect(node.store.slots('search', 1).size).to.equal(50);
    await setPlan(node.store, 1, 'growth');
    const long = { ...errors, query: `"${'x'.repeat(9_990)}"` };
    let status = 201;
    for (let made = 50; status === 201; made++) ({ status } = await node.call(one, 'POST', SAVED, long));
    expect(status).to.equal(409);
    const length = [...node.store.slots('search', 1).values()].reduce((sum, record) => sum + JSON.stringify(record).length, 0);
    expect(length).to.be.within(MAX_SAVED_CHARACTERS * 0.9, MAX_SAVED_CHARACTERS * 1.2);
    expect(node.store.slots('search', 1).size).to.be.below(MAX_SAVED_SEARCHES);
  }).timeout(60_000);
  it('of two nodes that save at once each has its slot, and both agree', async () => {
    const other = await accountNode(topic);
    await eventually('the keys', () => other.store.offset === node.store.offset, (is) => is); // prettier-ignore
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_none, at) => (at % 2 === 0 ? node : other).call(one, 'POST', SAVED, { ...errors, name: String(at) })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 201));
    await eventually('both', () => other.store.offset === node.store.offset, (is) => is); // prettier-ignore
    const all = [...node.store.slots('search', 1).values()];
    expect(all.map((record) => record.slot).sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 10 }, (_none, at) => at + 1));
    expect([...other.store.slots('search', 1)]).to.have.deep.members([...node.store.slots('search', 1)]);
    await other.stop();
  });
});
