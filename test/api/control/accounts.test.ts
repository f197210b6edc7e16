import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addPayment,
  bootstrapTenant,
  createKey,
  createTenant,
  revokeKey,
  rotateKey,
  setDisabled,
  setFlag,
  setPlan,
} from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { effectivePlan } from '../../../api/control/flags.ts';
import type { TenantRecord } from '../../../api/control/records.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';

async function refused(promise: Promise<unknown>): Promise<HttpError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('It was done.');
}

describe('tenants and keys', () => {
  it('ids go up from 1, keys are found by their secret alone', async () => {
    const topic = new FakeControlTopic();
    const { store } = await controlNode(topic);
    expect((await createTenant(store, 'first', 'team')).id).to.equal(1);
    expect((await createTenant(store, 'second', 'enterprise')).plan).to.equal('custom');
    const { record, secret } = await createKey(store, 2, ['read', 'ingest'], null);
    expect(secret).to.match(/^lw_[A-Za-z0-9_-]{43}$/);
    expect(store.find(secret)?.principal).to.include({ tenantId: 2, keyId: record.id });
    expect(store.find(`${secret}x`)).to.equal(null);
    expect(store.find('')).to.equal(null);
    expect(store.find(record.hash)).to.equal(null);
    expect(topic.records.map(({ value }) => value).join('')).not.to.contain(secret);
  });

  it('a change is seen by the next look-up here, and soon on other nodes', async () => {
    const topic = new FakeControlTopic();
    const [{ store: a }, { store: b }] = [await controlNode(topic), await controlNode(topic)];
    await createTenant(a, 'x', 'trial');
    const { secret, record } = await createKey(a, 1, ['read'], null);
    expect(await b.seen(a.offset, 60_000)).to.equal(true);
    expect(b.find(secret)?.principal.plan.name).to.equal('trial');
    await setDisabled(b, 1, true);
    expect(b.find(secret)?.tenantDisabled).to.equal(true);
    await setDisabled(b, 1, false);
    await setPlan(b, 1, 'growth');
    await setFlag(b, 1, 'demo', 'on');
    expect(b.find(secret)?.principal).to.include({ demo: true });
    const { secret: next } = await rotateKey(b, 1, record.id);
    expect(b.find(secret)).to.equal(null);
    expect(b.find(next)?.principal.plan.name).to.equal('growth');
    await a.seen(b.offset, 60_000);
    await revokeKey(a, 1, record.id);
    expect(a.find(next)).to.equal(null);
    expect(a.keysOf(1)).to.deep.equal([]);
    expect((await refused(rotateKey(a, 1, record.id))).status).to.equal(404);
    expect((await refused(revokeKey(a, 1, record.id))).status).to.equal(404);
  });

  it('says 404 for what does not exist, also for a key of another tenant', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'a', 'team');
    await createTenant(store, 'b', 'team');
    const { record } = await createKey(store, 1, ['read'], null);
    for (const action of [
      () => setDisabled(store, 9, true),
      () => createKey(store, 9, ['read'], null),
      () => rotateKey(store, 2, record.id),
      () => revokeKey(store, 1, '__proto__'),
    ]) {
      expect((await refused(action())).status).to.equal(404);
    }
    expect((await refused(createTenant(store, 'c', 'golden'))).message).to.contain('No plan is named "golden"');
    expect((await refused(setPlan(store, 1, 'golden'))).status).to.equal(400);
    expect((await refused(setFlag(store, 1, 'nothing', 'on'))).status).to.equal(400);
  });

  it('a payment takes a trial to the plan team, and leaves paid plans alone', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    for (const [plan, after] of [
      ['trial', 'team'],
      ['trial_expired', 'team'],
      ['growth', 'growth'],
      ['custom', 'custom'],
    ] as const) {
      const { id } = await createTenant(store, plan, plan);
      expect(await addPayment(store, id)).to.include({ plan: after, payment: true });
    }
  });

  it('flags come and go', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'a', 'custom');
    expect((await setFlag(store, 1, 'entries_per_second', '7')).flags).to.deep.equal({ entries_per_second: 7 });
    expect((await setFlag(store, 1, 'replay', 'off')).flags).to.deep.equal({ entries_per_second: 7, replay: false });
    expect((await setFlag(store, 1, 'entries_per_second', 'default')).flags).to.deep.equal({ replay: false });
  });

  describe('races between nodes', () => {
    it('many tenants at once, on three nodes: every id once', async () => {
      const topic = new FakeControlTopic();
      const stores = await Promise.all([1, 2, 3].map(async () => (await controlNode(topic)).store));
      const created = await Promise.all(
        stores.flatMap((store, node) => [1, 2, 3, 4].map((n) => createTenant(store, `${node}.${n}`, 'team'))),
      );
      expect(created.map(({ id }) => id).sort((x, y) => x - y)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      await Promise.all(stores.map((store) => store.seen(topic.next - 1n, 60_000)));
      for (const store of stores)
        expect(store.tenants().map(({ name }) => name)).to.deep.equal(stores[0]?.tenants().map(({ name }) => name));
      for (const { id, name } of created) expect(stores[0]?.tenant(id)?.name).to.equal(name);
    });

    it('keys up to the ceiling of the plan, and no more: who is late on the topic is told so', async () => {
      const topic = new FakeControlTopic();
      const stores = await Promise.all([1, 2, 3].map(async () => (await controlNode(topic)).store));
      const [first] = stores as [ControlStore];
      await createTenant(first, 'a', 'trial_expired');
      const most = effectivePlan(first.tenant(1) as TenantRecord).ceilings.keys;
      const asked = stores.flatMap((store) => Array.from({ length: most }, () => createKey(store, 1, ['read'], null)));
      const answers = await Promise.allSettled(asked);
      const issued = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.record.id] : []));
      const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [(answer.reason as HttpError).status] : []));
      expect([issued.length, [...new Set(refused)]]).to.deep.equal([most, [403]]);
      await Promise.all(stores.map((store) => store.seen(topic.next - 1n, 60_000)));
      for (const store of stores) expect(store.keysOf(1).map(({ id }) => id).sort()).to.deep.equal([...issued].sort()); // prettier-ignore
    });

    it('the loser repeats the winner, so that compaction keeps the right record', async () => {
      const topic = new FakeControlTopic();
      const [a, b] = [await controlNode(topic), await controlNode(topic)];
      const faster: Promise<unknown>[] = [];
      b.log.beforeAppend = () => {
        if (faster.length === 0) faster.push(createTenant(a.store, 'winner', 'team'));
      };
      expect((await createTenant(b.store, 'loser', 'team')).id).to.equal(2);
      await Promise.all(faster);
      topic.compact();
      const { store: fresh } = await controlNode(topic);
      expect(fresh.tenants().map(({ id, name }) => `${id} ${name}`)).to.deep.equal(['1 winner', '2 loser']);
    });

    it('a node that died between losing and repairing is made good at the next start', async () => {
      const topic = new FakeControlTopic();
      const { store } = await controlNode(topic);
      const winner = await createTenant(store, 'winner', 'team');
      topic.append('tenant:1', JSON.stringify({ ...winner, write: 'loser', name: 'loser' }));
      await controlNode(topic);
      await sleep(5);
      topic.compact();
      const { store: fresh } = await controlNode(topic);
      expect(fresh.tenant(1)?.name).to.equal('winner');
    });

    it('two changes at once both come in', async () => {
      const topic = new FakeControlTopic();
      const [{ store: a }, { store: b }] = [await controlNode(topic), await controlNode(topic)];
      await createTenant(a, 'x', 'team');
      await b.seen(a.offset, 60_000);
      await Promise.all([setDisabled(a, 1, true), setPlan(b, 1, 'growth'), setFlag(a, 1, 'demo', 'on'), setFlag(b, 1, 'ai', 'off')]);
      await Promise.all([a, b].map((store) => store.seen(topic.next - 1n, 60_000)));
      for (const store of [a, b])
        expect(store.tenant(1)).to.deep.include({ disabled: true, plan: 'growth', flags: { demo: true, ai: false } });
    });
  });

  describe('bootstrap', () => {
    it('makes tenant 1 and its key, once', async () => {
      const topic = new FakeControlTopic();
      const { store } = await controlNode(topic);
      await bootstrapTenant(store, 'first-key');
      await bootstrapTenant(store, 'first-key');
      expect(topic.records).to.have.lengthOf(2);
      expect(store.tenant(1)).to.include({ plan: 'unlimited', disabled: false });
      expect([...(store.find('first-key')?.principal.scopes ?? [])]).to.deep.equal(['read', 'write', 'ingest']);
    });
    it('replaces the key when it has changed', async () => {
      const { store } = await controlNode(new FakeControlTopic());
      await bootstrapTenant(store, 'old');
      await bootstrapTenant(store, 'new');
      expect(store.find('old')).to.equal(null);
      expect(store.find('new')?.principal.tenantId).to.equal(1);
      expect(store.tenants()).to.have.lengthOf(1);
    });
    it('brings a revoked bootstrap key back', async () => {
      const { store } = await controlNode(new FakeControlTopic());
      await bootstrapTenant(store, 'key');
      await revokeKey(store, 1, 'bootstrap');
      await bootstrapTenant(store, 'key');
      expect(store.find('key')?.principal.tenantId).to.equal(1);
    });
    it('several nodes at once', async () => {
      const topic = new FakeControlTopic();
      const stores = await Promise.all([1, 2, 3].map(async () => (await controlNode(topic)).store));
      await Promise.all(stores.map((store) => bootstrapTenant(store, 'key')));
      await Promise.all(stores.map((store) => store.seen(topic.next - 1n, 60_000)));
      for (const store of stores) {
        expect(store.tenants()).to.have.lengthOf(1);
        expect(store.keysOf(1)).to.have.lengthOf(1);
        expect(store.find('key')?.principal.tenantId).to.equal(1);
      }
    });
    it('without a key makes the tenant alone', async () => {
      const { store } = await controlNode(new FakeControlTopic());
      await bootstrapTenant(store, '');
      expect(store.tenants()).to.have.lengthOf(1);
      expect(store.keysOf(1)).to.have.lengthOf(0);
    });
  });
});

describe('the control store while Kafka is away', () => {
  it('503 until the topic was read once, then the last state for ever', async () => {
    const topic = new FakeControlTopic();
    const { store: first } = await controlNode(topic);
    await bootstrapTenant(first, 'key');
    topic.down = true;
    const { store } = await controlNode(topic);
    expect(store.ready).to.equal(false);
    expect(() => store.find('key')).to.throw(HttpError, 'authentication');
    expect((await refused(createTenant(store, 'x', 'team'))).status).to.equal(503);
    topic.down = false;
    await store.whenReady();
    expect(store.find('key')?.principal.tenantId).to.equal(1);
    topic.down = true;
    expect(store.find('key')?.principal.tenantId).to.equal(1);
    expect(store.find('unknown')).to.equal(null);
    const error = await refused(setDisabled(store, 1, true));
    expect(error).to.include({ status: 503, slug: 'control_unavailable' });
    expect(store.tenant(1)?.disabled).to.equal(false);
    await store.stop();
  });

  it('a key that was found was used', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await bootstrapTenant(store, '');
    const { secret, record } = await createKey(store, 1, ['read'], null);
    const before = Date.now();
    store.find(`${secret}x`);
    expect(store.lastUseOf(record.id)).to.equal(null);
    store.find(secret);
    expect(store.lastUseOf(record.id)).to.be.at.least(before);
  });

  it('the first key cannot have the value of another one', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await bootstrapTenant(store, '');
    const { secret, record } = await createKey(store, 1, ['read'], null);
    expect(await refused(bootstrapTenant(store, secret))).to.include({ status: 409, slug: 'conflict' });
    expect(store.find(secret)?.principal.keyId).to.equal(record.id);
    await bootstrapTenant(store, 'a value of its own');
    await bootstrapTenant(store, 'a value of its own');
    expect(store.find('a value of its own')?.principal.keyId).to.equal('bootstrap');
  });

  it('a write that is not read back in time is a 503', async () => {
    const topic = new FakeControlTopic();
    const { store } = await controlNode(topic, { writeMs: 30 });
    topic.logs.clear();
    expect((await refused(createTenant(store, 'x', 'team'))).status).to.equal(503);
  });

  it('can be stopped while it waits, twice and before the start', async () => {
    const topic = new FakeControlTopic();
    topic.down = true;
    const { store, log } = await controlNode(topic);
    await store.stop();
    await store.stop();
    expect(log.stopped).to.equal(true);
    const { store: never } = await controlNode(topic, { start: false });
    await never.stop();
  });

  it('seen() gives up after its time', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    expect(await store.seen(99n, 20)).to.equal(false);
    expect(await store.seen(-1n, 20)).to.equal(true);
  });
});
