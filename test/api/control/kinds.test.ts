import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { emptyControlState, fold } from '../../../api/control/control-state.ts';
import { RECORD_KINDS } from '../../../api/control/kinds/index.ts';
import { webhooksOf } from '../../../api/control/webhooks.ts';
import { everyName } from '../../fakes/named-routes.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';

/** What release 0.1 before kinds wrote: every kind that there was, changed, revoked and deleted, and records of others. */
const GOLDEN = readFileSync(path.join(import.meta.dirname, '../../fixtures/records/control.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { key: string; value: string });

describe('the kinds of records of the control topic', () => {
  it('records that earlier commits wrote mean what they meant', async () => {
    const topic = new FakeControlTopic();
    for (const { key, value } of GOLDEN) topic.append(key, value);
    const { store } = await controlNode(topic);
    expect(store.tenants().map(({ id, name, plan, flags }) => [id, name, plan, flags])).to.deep.equal([
      [1, 'default', 'unlimited', {}],
      [2, 'Golden "ü" tenant', 'growth', { metrics: false, demo: true }],
    ]);
    expect(store.find('lw_bootstrap_key_of_the_golden_records')?.principal).to.include({ tenantId: 1, keyId: 'bootstrap', demo: false });
    expect(store.keysOf(2).map(({ scopes, version }) => [scopes, version])).to.deep.equal([[['read', 'write'], 2]]);
    expect(webhooksOf(store, 2).map(({ url, form, slot, version }) => [url, form, slot, version])).to.deep.equal([
      ['https://example.com/2', 'slack', 1, 3],
    ]);
    expect(store.settings.map(({ processor, tenantId, key, value, version }) => [processor, tenantId, key, value, version])).to.deep.equal([
      ['alerting', 2, 'sensitivity', { default: 'high' }, 1],
      ['alerting', 0, 'slot_1', null, 2],
    ]);
    expect(store.lastUseOf('bootstrap')).to.be.at.least(Date.parse('2026-11-28T04:00:00Z'));
  });
  it('each is written back byte for byte, with members that only a newer release knows', () => {
    const state = emptyControlState();
    for (const record of GOLDEN) fold(state, record);
    expect(state.unreadable).to.equal(1);
    const last = new Map(GOLDEN.map(({ key, value }) => [key, value]));
    expect(state.records.size).to.be.greaterThan(6);
    for (const [key, record] of state.records) expect(JSON.stringify(record)).to.equal(last.get(key));
    const newer = JSON.stringify({ ...JSON.parse(last.get('tenant:2') ?? ''), version: 9, write: 'w', later: { a: 1 } });
    fold(state, { key: 'tenant:2', value: newer });
    expect(JSON.stringify(state.records.get('tenant:2'))).to.equal(newer);
  });
  it('names are unique, and every endpoint and command that a kind names exists', () => {
    const names = RECORD_KINDS.map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
    const { routes, commands } = everyName();
    for (const kind of RECORD_KINDS) {
      for (const route of kind.routes) expect(routes, kind.name).to.include(route);
      for (const command of kind.commands) expect(commands, kind.name).to.include(command);
    }
  });
  for (const kind of RECORD_KINDS)
    it(`${kind.name}: emptied, it is a record of its kind at the same place, and stays as it is when it is emptied again`, () => {
      const record = { ...sampleOf(kind.name), version: 1, write: 'one' } as never;
      const emptied = kind.emptied(record);
      expect(kind.schema.validate(emptied, { convert: false }).error).to.equal(undefined);
      expect(kind.keyOf(emptied)).to.equal(kind.keyOf(record));
      expect(kind.emptied(emptied)).to.deep.equal(emptied);
    });
  for (const kind of RECORD_KINDS)
    it(`${kind.name}: of two nodes that write the same version one counts, on both, also after compaction`, () => {
      const one = { ...sampleOf(kind.name), version: 1, write: 'one' };
      const other = { ...one, write: 'other' };
      const key = kind.keyOf(one as never);
      const states = [emptyControlState(), emptyControlState()];
      const records = [one, other].map((record) => ({ key, value: JSON.stringify(record) }));
      for (const state of states) for (const record of records) fold(state, record);
      for (const state of states) {
        expect(state.records.get(key)?.write).to.equal('one');
        expect([...state.stale]).to.deep.equal([key]);
        fold(state, records[0] as (typeof records)[0]);
        expect(state.stale.size).to.equal(0);
      }
      expect(states[0]).to.deep.equal(states[1]);
      for (const value of [
        '',
        '{',
        '[]',
        'null',
        '{"__proto__":{"version":1}}',
        JSON.stringify({ ...one, version: 0 }),
        '['.repeat(1000),
      ]) {
        const state = emptyControlState();
        expect(fold(state, { key, value }), value.slice(0, 30)).to.equal(null);
      }
      expect(fold(emptyControlState(), { key: `${kind.name}:not its key`, value: JSON.stringify(one) })).to.equal(null);
    });
});

/** A record of each kind. */
function sampleOf(kind: string): object {
  const at = '2026-11-28T00:00:00.000Z';
  const slot = { id: 'i', tenantId: 1, slot: 1, createdAt: at, isDeleted: false };
  const samples: Readonly<Record<string, object>> = {
    tenant: { id: 1, name: '', plan: 'team', signupAt: at, disabled: false, payment: false, flags: {} },
    key: { id: 'i', tenantId: 1, hash: 'a'.repeat(64), scopes: ['read'], createdAt: at, expiresAt: null, revokedAt: null },
    setting: { processor: 'p', tenantId: 0, key: 'k', value: 1 },
    webhook: { ...slot, url: 'u', form: 'json', minSeverity: 'info', detectors: [], services: [], isEnabled: true },
    search: {
      ...slot,
      owner: 'k',
      name: 'n',
      query: '*',
      start: null,
      end: null,
      columns: [],
      isShared: true,
      projectId: null,
      updatedAt: at,
    },
    project: { ...slot, name: 'n', filter: '*', labels: {}, updatedAt: at },
    playbook: {
      ...slot,
      ...{ name: 'n', text: 't', services: ['s'], detectors: [], rules: [], pattern: 'p', isDrafted: false, owner: 'k' },
    },
    code: { ...slot, keyId: 'k', hash: 'a'.repeat(64), expiresAt: at },
    ended: { keyId: 'k', sessions: [{ id: 's', until: at }], before: null },
    deletion: { tenantId: 1, requestedAt: at, records: { key: 1 }, rows: { logs: 1 }, checkedAt: null, heldBy: null },
    shards: { set: 'b', partitions: [0, 1], servers: ['x', 'y'] },
  };
  return samples[kind] ?? {};
}
