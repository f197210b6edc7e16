import { expect } from 'chai';
import { createKey, createTenant, revokeKey, setFlag, setPlan } from '../../../api/control/accounts.ts';
import { MAX_KEYS, MAX_REVOKED_KEYS } from '../../../api/control/bounds.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { accountNode, BAD_BODIES, BAD_IDS, type AccountNode } from './account-world.ts';

const KEYS = '/api/v1/tenants/1/keys';
type Key = { id: string; key?: string; scopes: string[]; project_id: string | null; is_own: boolean; expires_at: string | null };

describe("a tenant's own keys", () => {
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
  const list = async (key = all): Promise<Key[]> => (await node.call(key, 'GET', KEYS)).body['items'] as Key[];

  it('are created, shown once, listed with their last use, and revoked', async () => {
    const made = await node.call(all, 'POST', KEYS, { name: 'shipper', scopes: ['ingest'], expires: '2099-01-01T00:00:00Z' });
    expect(made.status).to.equal(201);
    const secret = String(made.body['key']);
    expect(secret).to.match(/^lw_[\w-]{43}$/);
    expect(node.store.find(secret)?.principal.scopes).to.deep.equal(new Set(['ingest']));
    const [own, listed] = await list();
    expect(own).to.include({ is_own: true });
    expect(own).not.to.have.property('key');
    expect(listed).to.deep.include({
      name: 'shipper',
      scopes: ['ingest'],
      expires_at: '2099-01-01T00:00:00.000Z',
      is_own: false,
      project_id: null,
    });
    expect(Math.abs(Date.parse((listed as unknown as { last_used: string }).last_used) - Date.now())).to.be.below(60_000);
    expect(topic.records.map(({ value }) => value).join('')).not.to.contain(secret);
    expect((await node.call(all, 'DELETE', `${KEYS}/${String(made.body['id'])}`)).status).to.equal(204);
    expect(node.store.find(secret)).to.equal(null);
    expect((await node.call(all, 'DELETE', `${KEYS}/${String(made.body['id'])}`)).status).to.equal(404);
    expect((await node.call(all, 'POST', KEYS)).body['scopes']).to.deep.equal(['read']);
  });

  const SCOPES = ['read', 'write', 'ingest'] as const;
  for (const own of [['write'], ['write', 'read'], ['write', 'ingest'], ['read', 'write', 'ingest'], ['read'], ['ingest']] as const)
    for (const wanted of [...SCOPES.map((scope) => [scope]), ['read', 'write'], [...SCOPES]])
      it(`a key with ${own.join('+')} grants ${wanted.join('+')}, and revokes such a key, only where it has all of it`, async () => {
        const key = await node.keyOf(1, [...own]);
        const mayWrite = (own as readonly string[]).includes('write');
        const hasAll = wanted.every((scope) => (own as readonly string[]).includes(scope));
        const { status, detail } = await node.call(key, 'POST', KEYS, { scopes: wanted });
        expect(status, detail).to.equal(mayWrite && hasAll ? 201 : 403);
        const other = await createKey(node.store, 1, [...wanted] as (typeof SCOPES)[number][], null);
        const revoked = await node.call(key, 'DELETE', `${KEYS}/${other.record.id}`);
        expect(revoked.status, revoked.detail).to.equal(mayWrite && hasAll ? 204 : 403);
      });

  it('none lasts longer than the key that grants it', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const short = await node.keyOf(1, ['read', 'write'], until);
    expect((await node.call(short, 'POST', KEYS, {})).body['expires_at']).to.equal(until);
    expect((await node.call(short, 'POST', KEYS, { expires: '2099-01-01T00:00:00Z' })).status).to.equal(403);
    expect((await node.call(all, 'POST', KEYS, { expires: '2001-01-01T00:00:00Z' })).status).to.equal(400);
  });
  it('other tenants, hostile ids and bodies get nowhere', async () => {
    const other = await createKey(node.store, 2, ['read'], null);
    expect((await node.call(all, 'GET', '/api/v1/tenants/2/keys')).status).to.equal(403);
    for (const id of [...BAD_IDS, other.record.id]) expect((await node.call(all, 'DELETE', `${KEYS}/${id}`)).status, id).to.equal(404);
    const before = (await list()).length;
    for (const body of BAD_BODIES.filter((one) => one !== '' && one !== 'null'))
      expect((await node.call(all, 'POST', KEYS, body)).status, JSON.stringify(body).slice(0, 60)).to.be.oneOf([400, 201]);
    for (const scopes of [[], ['admin'], ['read', 'read'], 'read', [1], { 0: 'read' }])
      expect((await node.call(all, 'POST', KEYS, { scopes })).status, JSON.stringify(scopes)).to.equal(400);
    // an own member `__proto__` that a parser drops leaves an empty object, which is a key that reads
    expect((await list()).length - before).to.be.below(2);
    expect(node.store.find(other.secret)?.principal.tenantId).to.equal(2);
  });
  it('the demo tenant has no changes, and the expired trial two keys', async () => {
    await setFlag(node.store, 1, 'demo', 'on');
    expect((await node.call(all, 'POST', KEYS, {})).status).to.equal(403);
    await setFlag(node.store, 1, 'demo', 'off');
    await setPlan(node.store, 1, 'trial_expired');
    expect((await node.call(all, 'POST', KEYS, {})).status).to.equal(201);
    const { status, detail } = await node.call(all, 'POST', KEYS, {});
    expect([status, detail]).to.deep.equal([403, 'The plan trial_expired allows 2 API keys; revoke one, or add a payment method.']);
  });
  it('are bounded, and records of keys that were revoked first are used again', async () => {
    const first = await createKey(node.store, 1, ['read'], null, { name: 'first' });
    await revokeKey(node.store, 1, first.record.id);
    for (let made = 1; made < MAX_REVOKED_KEYS; made++) {
      const { record } = await createKey(node.store, 1, ['read'], null);
      await revokeKey(node.store, 1, record.id);
    }
    const again = await createKey(node.store, 1, ['read'], null);
    expect(again.record).to.include({ id: first.record.id, version: 3, revokedAt: null });
    expect(again.record).not.to.have.property('name');
    expect(node.store.find(first.secret)).to.equal(null);
    expect(node.store.find(again.secret)?.principal.keyId).to.equal(first.record.id);
    while (node.store.keysOf(1).length < MAX_KEYS) await createKey(node.store, 1, ['read'], null);
    const { status, detail } = await node.call(all, 'POST', KEYS, {});
    expect([status, detail]).to.deep.equal([409, 'There are 1000 API keys already, which is the most; revoke one.']);
  }).timeout(120_000);
});
