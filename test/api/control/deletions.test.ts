import { expect } from 'chai';
import { pino } from 'pino';
import { TenantErasure } from '../../../api/admin/tenant-erasure.ts';
import { createKey, createTenant, raiseShards, setDisabled } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { changeDeletion, deletionOf, deleteTenant, emptyRecords } from '../../../api/control/deletions.ts';
import { createProject } from '../../../api/control/projects.ts';
import type { SettingRecord } from '../../../api/control/records.ts';
import { sweepTrials } from '../../../api/control/trial-sweep.ts';
import { createWebhook } from '../../../api/control/webhooks.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { laterRefusalOf } from '../../fakes/refusal.ts';

const SECRETS = ['Acme-Name', 'acme-hook', 'acme-rule', 'acme-project', 'acme-key'];

/** Two nodes, and a tenant that has written something of each kind. */
async function world(): Promise<{
  readonly one: ControlStore;
  readonly other: ControlStore;
  readonly id: number;
  readonly secret: string;
}> {
  const topic = new FakeControlTopic();
  const { store: one } = await controlNode(topic);
  const { store: other } = await controlNode(topic);
  await createTenant(one, 'default', 'unlimited');
  const { id } = await createTenant(one, 'Acme-Name', 'growth');
  await createTenant(one, 'neighbour', 'growth');
  const { secret } = await createKey(one, id, ['read', 'write'], null, { name: 'acme-key' });
  await createKey(one, 3, ['read'], null, { name: 'of the neighbour' });
  const hook = {
    url: 'https://acme-hook.example/',
    form: 'json',
    minSeverity: 'info',
    detectors: [],
    services: [],
    isEnabled: true,
  } as const;
  await createWebhook(one, id, hook);
  await createWebhook(one, 3, hook);
  await createProject(one, id, { name: 'acme-project', filter: 'team:"acme-project"', labels: {} });
  await put(one, id);
  return { one, other, id, secret };
}

const put = (store: ControlStore, tenantId: number): Promise<SettingRecord> =>
  store.write<SettingRecord>(
    `setting:alerting:${String(tenantId)}:rule`,
    () => store.setting(`setting:alerting:${String(tenantId)}:rule`),
    () => ({ processor: 'alerting', tenantId, key: 'rule', value: { query: 'acme-rule' } }),
  );
const textOf = (store: ControlStore, tenant: number): string =>
  JSON.stringify([...store.allRecords()].filter(({ tenantId }) => tenantId === tenant).map(({ record }) => record));

describe('a tenant that is deleted', () => {
  it('has no key that is accepted and no record with anything of its own, on every node; others keep theirs', async () => {
    const { one, other, id, secret } = await world();
    const before = textOf(one, 3);
    expect(other.find(secret)?.principal.tenantId).to.equal(id);
    for (const text of SECRETS) expect(textOf(one, id)).to.include(text);
    const deletion = await deleteTenant(one, id, 'Acme-Name');
    expect(deletion.records).to.deep.equal({ tenant: 1, key: 1, webhook: 1, project: 1, setting: 1 });
    for (const node of [one, other]) {
      expect(node.find(secret)).to.equal(null);
      for (const text of SECRETS) expect(textOf(node, id)).to.not.include(text);
      expect(textOf(node, 3)).to.equal(before);
      expect(node.tenant(id)?.disabled).to.equal(true);
    }
  });

  it('is named, so that no wrong number deletes another one; never that of the bootstrap key', async () => {
    const { one, id } = await world();
    const rows: readonly (readonly [number, string, number])[] = [
      [id, 'acme-name', 400],
      [id, '', 400],
      [99, 'Acme-Name', 404],
      [1, 'default', 409],
    ];
    for (const [tenant, name, status] of rows)
      expect((await laterRefusalOf(() => deleteTenant(one, tenant, name))).status, name).to.equal(status);
    expect(textOf(one, id)).to.include('acme-hook');
  });

  it('stays deleted: nothing enables it, and what is written late is emptied too', async () => {
    const { one, other, id } = await world();
    await deleteTenant(one, id, 'Acme-Name');
    expect((await laterRefusalOf(() => setDisabled(other, id, false))).status).to.equal(409);
    expect((await laterRefusalOf(() => createKey(other, id, ['read'], null))).status).to.equal(409);
    expect((await laterRefusalOf(() => raiseShards(other, id, 9))).status).to.equal(409);
    await put(other, id);
    expect(textOf(one, id)).to.include('acme-rule');
    await emptyRecords(other, new Set([id]));
    expect(textOf(one, id)).to.not.include('acme-rule');
    expect(deletionOf(one, id)?.records).to.include({ setting: 2 });
    const again = await deleteTenant(one, id, 'whatever');
    expect(again.requestedAt).to.equal(deletionOf(other, id)?.requestedAt);
    expect((await createTenant(one, 'next', 'team')).id, 'ids are not used again').to.equal(4);
  });

  it('does not keep the sweep of trials from others', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'default', 'unlimited');
    for (const name of ['gone', 'ended']) await createTenant(store, name, 'trial', new Date('2026-01-01T00:00:00Z'));
    await deleteTenant(store, 2, 'gone');
    expect((await sweepTrials(store, Date.parse('2026-03-01T00:00:00Z'))).map(({ id }) => id)).to.deep.equal([3]);
  });
});

describe('the rows of deleted tenants', () => {
  /** Tables with how many rows each tenant has; what is deleted of them. */
  function fakeStore(tables: Record<string, Record<string, number>>) {
    const commands: string[] = [];
    const ownerRows = (text: string, params: Record<string, unknown> = {}): Promise<unknown[][]> => {
      const table = /FROM `(\w+)`/.exec(text)?.[1];
      if (table === undefined) return Promise.resolve(Object.keys(tables).map((name) => [name]));
      const own = Object.entries(tables[table] ?? {}).filter(
        ([id, rows]) => rows > 0 && (params['tenants'] as number[]).includes(Number(id)),
      );
      return Promise.resolve(own);
    };
    const command = (text: string): Promise<void> => {
      commands.push(text);
      const [, table = '', id = ''] = /^ALTER TABLE `(\w+)` DELETE WHERE tenant_id IN \((\d+)\)$/.exec(text) ?? [];
      const own = tables[table];
      if (own === undefined) throw new Error(text);
      own[id] = 0;
      return Promise.resolve();
    };
    return { store: { ownerRows, command }, commands };
  }
  const erasure = (control: ControlStore, store: ReturnType<typeof fakeStore>['store'], clock = Date.now): TenantErasure =>
    new TenantErasure({ control, stores: [store], log: pino({ level: 'silent' }), clock });

  it('are deleted in each table that has some, counted, and again where some come late', async () => {
    const { one, id } = await world();
    const tables = { logs: { 2: 5, 3: 7 }, spans: { 3: 1 }, volume: { 2: 2 } };
    const { store, commands } = fakeStore(tables);
    const service = erasure(one, store);
    await service.look();
    expect(commands, 'nothing is deleted of a tenant that is not').to.deep.equal([]);
    await deleteTenant(one, id, 'Acme-Name');
    await service.look();
    expect(tables).to.deep.equal({ logs: { 2: 0, 3: 7 }, spans: { 3: 1 }, volume: { 2: 0 } });
    expect(deletionOf(one, id)).to.deep.include({ rows: { logs: 5, volume: 2 }, heldBy: null });
    const { checkedAt } = deletionOf(one, id) ?? {};
    expect(checkedAt).to.be.a('string');
    await service.look();
    expect(deletionOf(one, id)?.checkedAt, 'a look that finds nothing writes nothing').to.equal(checkedAt);
    tables.logs[2] = 3;
    await service.look();
    expect(deletionOf(one, id)?.rows).to.deep.equal({ logs: 8, volume: 2 });
    expect(commands).to.have.length(3);
  });

  it('are left to the node that is at them, until its time is over', async () => {
    const { one, other, id } = await world();
    await deleteTenant(one, id, 'Acme-Name');
    const until = Date.parse('2026-11-28T12:00:00Z');
    await changeDeletion(one, id, (current) => ({ ...current, heldBy: { node: 'one', until: new Date(until).toISOString() } }));
    const { store, commands } = fakeStore({ logs: { 2: 5 } });
    await erasure(other, store, () => until - 1).look();
    expect(commands).to.deep.equal([]);
    await erasure(other, store, () => until + 1).look();
    expect(commands).to.have.length(1);
    expect(deletionOf(one, id)?.rows).to.deep.equal({ logs: 5 });
  });

  it('are deleted in every set, and those of a set that was unavailable when it has recovered', async () => {
    const { one, id } = await world();
    await deleteTenant(one, id, 'Acme-Name');
    const [first, second] = [{ logs: { 2: 5 } }, { logs: { 2: 4, 3: 1 } }];
    const later = fakeStore(second).store;
    let isUp = false;
    const store = { ...later, ownerRows: (...given: Parameters<typeof later.ownerRows>) => (isUp ? later.ownerRows(...given) : Promise.reject(new Error('away'))) }; // prettier-ignore
    const service = new TenantErasure({ control: one, stores: [fakeStore(first).store, store], log: pino({ level: 'silent' }) });
    await service.look();
    await service.look();
    expect([first, second]).to.deep.equal([{ logs: { 2: 0 } }, { logs: { 2: 4, 3: 1 } }]);
    expect(deletionOf(one, id)).to.deep.include({ rows: { logs: 5 }, checkedAt: null });
    isUp = true;
    await service.look();
    expect(second).to.deep.equal({ logs: { 2: 0, 3: 1 } });
    expect(deletionOf(one, id)?.rows).to.deep.equal({ logs: 9 });
    expect(deletionOf(one, id)?.checkedAt).to.be.a('string');
  });

  it('are left to any node where a set has gone in the middle: what was deleted by then is counted once', async () => {
    const { one, other, id } = await world();
    await deleteTenant(one, id, 'Acme-Name');
    const tables = { logs: { 2: 5 }, volume: { 2: 2 } };
    const { store } = fakeStore(tables);
    const going = { ...store, command: (text: string) => (text.includes('volume') ? Promise.reject(new Error('away')) : store.command(text)) }; // prettier-ignore
    await erasure(one, going).look();
    expect(deletionOf(one, id)).to.deep.include({ rows: { logs: 5 }, checkedAt: null, heldBy: null });
    await erasure(other, store).look();
    expect(tables).to.deep.equal({ logs: { 2: 0 }, volume: { 2: 0 } });
    expect(deletionOf(one, id)?.rows).to.deep.equal({ logs: 5, volume: 2 });
  });

  it('are tried again where the store does not answer', async () => {
    const { one, id } = await world();
    await deleteTenant(one, id, 'Acme-Name');
    const failing = { ownerRows: () => Promise.reject(new Error('away')), command: () => Promise.resolve() };
    await erasure(one, failing).look();
    expect(deletionOf(one, id)?.checkedAt).to.equal(null);
  });
});
