import { expect } from 'chai';
import { createKey, createTenant, setFlag, setPlan } from '../../../api/control/accounts.ts';
import { PLANS } from '../../../api/tenants/plans.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { eventually } from '../../fakes/eventually.ts';
import { accountNode, BAD_BODIES, BAD_IDS, type AccountNode } from './account-world.ts';

const PROJECTS = '/api/v1/account/projects';
const KEYS = '/api/v1/tenants/1/keys';

describe('projects', () => {
  let topic: FakeControlTopic;
  let node: AccountNode;
  let all: string;
  beforeEach(async () => {
    topic = new FakeControlTopic();
    node = await accountNode(topic);
    for (const name of ['a', 'b']) await createTenant(node.store, name, 'growth');
    all = await node.keyOf(1, ['read', 'write', 'ingest']);
  });
  afterEach(() => node.stop());

  describe('their gate, by plan and flag', () => {
    for (const { name, features } of PLANS)
      for (const flag of [null, 'off', 'on', '1', '3']) {
        const most = flag === null ? features.projects : ({ off: 0, on: 5 }[flag] ?? Number(flag));
        it(`${name}, flag ${String(flag)}: ${String(most)}`, async () => {
          await setPlan(node.store, 1, name);
          if (flag !== null) await setFlag(node.store, 1, 'projects', flag);
          for (let made = 0; made < most; made++)
            expect((await node.call(all, 'POST', PROJECTS, { name: `p${String(made)}` })).status).to.equal(201);
          // the gate stands before the body
          for (const body of [{ name: 'one more' }, 'x', '']) {
            const { status, detail } = await node.call(all, 'POST', PROJECTS, body);
            expect(status).to.equal(403);
            expect(detail).to.contain(most === 0 ? 'multi-project is not enabled' : 'project limit was reached');
          }
          expect(((await node.call(all, 'GET', PROJECTS)).body['items'] as unknown[]).length).to.equal(most);
        });
      }
  });
  it('are created, listed, renamed and deleted; what they are without a filter follows from labels or name', async () => {
    const byName = await node.call(all, 'POST', PROJECTS, { name: 'Pay"ments' });
    expect(byName.body).to.deep.include({ labels: { project: 'Pay"ments' }, filter: '{"project"="Pay\\"ments"}' });
    const byLabels = await node.call(all, 'POST', PROJECTS, { name: 'b', labels: { team: 'x', env: 'prod' } });
    expect(byLabels.body).to.deep.include({ filter: '{"team"="x","env"="prod"}' });
    const byFilter = await node.call(all, 'POST', PROJECTS, { name: 'c', filter: 'service:=cart or level:error' });
    expect(byFilter.body).to.deep.include({ labels: {}, filter: 'service:=cart or level:error' });
    const at = `${PROJECTS}/${String(byName.body['id'])}`;
    expect((await node.call(all, 'PUT', at, { name: 'b' })).status).to.equal(409);
    expect((await node.call(all, 'PUT', at, { name: 'Money' })).body).to.deep.include({ name: 'Money', filter: byName.body['filter'] });
    expect((await node.call(all, 'POST', PROJECTS, { name: 'Money' })).status).to.equal(409);
    expect((await node.call(all, 'DELETE', at)).status).to.equal(204);
    expect((await node.call(all, 'GET', at)).status).to.equal(404);
    const { body } = await node.call(all, 'GET', PROJECTS);
    expect((body['items'] as { name: string }[]).map(({ name }) => name)).to.deep.equal(['b', 'c']);
  });
  it('need `write`; other tenants, hostile ids and bodies get nowhere', async () => {
    const reader = await node.keyOf(1, ['read']);
    expect((await node.call(reader, 'POST', PROJECTS, { name: 'x' })).status).to.equal(403);
    const { body } = await node.call(all, 'POST', PROJECTS, { name: 'own' });
    const other = await node.keyOf(2, ['read', 'write']);
    for (const method of ['GET', 'PUT', 'DELETE'])
      for (const id of [...BAD_IDS, String(body['id'])])
        expect((await node.call(other, method, `${PROJECTS}/${id}`, method === 'GET' ? undefined : { name: 'y' })).status, id).to.equal(
          404,
        );
    expect((await node.call(other, 'POST', '/api/v1/tenants/2/keys', { project: body['id'] })).status).to.equal(404);
    const wrong = [
      ...[
        { filter: 'a (' },
        { filter: '* | fields a' },
        { filter: 'a:in(b:c | fields a)' },
        { filter: 'x'.repeat(2001) },
        { labels: { 'a b': 'c' } },
      ],
      ...[
        { labels: {} },
        { labels: { a: '' } },
        { labels: { a: 1 } },
        { labels: { _msg: 'x' } },
        { labels: { _stream: 'x' } },
        { labels: ['a'] },
      ],
      ...[{ labels: Object.fromEntries(Array.from({ length: 11 }, (_none, at) => [`l${String(at)}`, 'x'])) }, { id: 'x' }],
    ].map((change) => ({ name: 'x', ...change }));
    for (const bad of [...BAD_BODIES, ...wrong])
      expect((await node.call(all, 'POST', PROJECTS, bad)).status, JSON.stringify(bad).slice(0, 80)).to.equal(400);
  });
  it('a key of one reads only what is narrowed, sees only its keys and searches, and ends with it', async () => {
    const made = async (name: string): Promise<string> => String((await node.call(all, 'POST', PROJECTS, { name })).body['id']);
    const [one, two] = [await made('one'), await made('two')];
    const keyFor = async (project: string, by = all): Promise<{ status: number; key: string; id: string }> => {
      const { status, body } = await node.call(by, 'POST', KEYS, { scopes: ['read', 'write'], project });
      return { status, key: String(body['key']), id: String(body['id']) };
    };
    const [own, other] = [await keyFor(one), await keyFor(two)];
    expect(node.store.find(own.key)?.principal.project).to.deep.include({
      id: one,
      filter: '{"project"="one"}',
      labels: { project: 'one' },
    });
    const whole = await node.call(own.key, 'GET', '/api/v1/tenants/1/whole');
    expect([whole.status, whole.detail]).to.deep.equal([
      403,
      'The API key is narrowed to the project "one", and this is of the whole tenant.',
    ]);
    expect((await node.call(all, 'GET', '/api/v1/tenants/1/whole')).status).to.equal(200);
    for (const method of ['GET', 'POST'])
      expect((await node.call(own.key, method, PROJECTS, method === 'GET' ? undefined : { name: 'z' })).status).to.equal(403);
    // never more than itself
    expect((await keyFor(two, own.key)).status).to.equal(403);
    expect((await node.call(own.key, 'POST', KEYS, {})).body).to.deep.include({ project_id: one });
    const seen = (await node.call(own.key, 'GET', KEYS)).body['items'] as { project_id: string }[];
    expect(seen.map((key) => key.project_id)).to.deep.equal([one, one]);
    expect((await node.call(own.key, 'DELETE', `${KEYS}/${other.id}`)).status).to.equal(404);
    const saved = '/api/v1/tenants/1/saved-searches';
    for (const key of [all, own.key, other.key]) await node.call(key, 'POST', saved, { name: 's', query: '*', shared: true });
    for (const key of [all, own.key, other.key])
      expect(((await node.call(key, 'GET', saved)).body['items'] as unknown[]).length).to.equal(1);
    await node.call(all, 'DELETE', `${PROJECTS}/${one}`);
    expect(node.store.find(own.key)).to.equal(null);
    expect((await node.call(own.key, 'GET', KEYS)).status).to.equal(403);
    expect((await node.call(other.key, 'GET', KEYS)).status).to.equal(200);
    // the slot is used again, and the key of the former project stays refused
    await made('three');
    expect(node.store.find(own.key)).to.equal(null);
    topic.compact();
    const late = await accountNode(topic);
    expect(late.store.find(own.key)).to.equal(null);
    expect(late.store.find(other.key)?.principal.project?.id).to.equal(two);
    await late.stop();
  });
  it('a key whose project has not come yet is refused', async () => {
    const { secret } = await createKey(node.store, 1, ['read'], null, { projectId: 'pr_none' });
    expect(node.store.find(secret)).to.equal(null);
  });
  it('of two nodes that reach the limit at once, one more is not made', async () => {
    const other = await accountNode(topic);
    await eventually('the keys', () => other.store.offset === node.store.offset, (is) => is); // prettier-ignore
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_none, at) => (at % 2 === 0 ? node : other).call(all, 'POST', PROJECTS, { name: `p${String(at)}` })),
    );
    const made = answers.filter(({ status }) => status === 201).length;
    await eventually('both', () => other.store.offset === node.store.offset, (is) => is); // prettier-ignore
    expect(made).to.equal(5);
    expect([...node.store.slots('project', 1).values()].filter(({ isDeleted }) => !isDeleted).length).to.equal(5);
    await other.stop();
  });
});
