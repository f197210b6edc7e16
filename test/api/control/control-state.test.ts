import { expect } from 'chai';
import fc from 'fast-check';
import { emptyControlState, fold, parseControl } from '../../../api/control/control-state.ts';
import { settingKey, type KeyRecord, type SettingRecord, type TenantRecord } from '../../../api/control/records.ts';
import type { ControlState } from '../../../api/control/state.ts';

const tenant = (change: Partial<TenantRecord> = {}): TenantRecord => ({
  version: 1,
  write: 'w1',
  id: 1,
  name: 'a',
  plan: 'team',
  signupAt: '2026-11-20T00:00:00.000Z',
  disabled: false,
  payment: false,
  flags: {},
  ...change,
});
const key = (change: Partial<KeyRecord> = {}): KeyRecord => ({
  version: 1,
  write: 'k1',
  id: 'x',
  tenantId: 1,
  hash: 'a'.repeat(64),
  scopes: ['read'],
  createdAt: '2026-11-20T00:00:00.000Z',
  expiresAt: null,
  revokedAt: null,
  ...change,
});

type Sent = { key: string; value: string | null };
const sent = (record: TenantRecord | KeyRecord): Sent => ({
  key: 'plan' in record ? `tenant:${record.id}` : `key:${record.id}`,
  value: JSON.stringify(record),
});

function folded(...records: readonly Sent[]): ControlState {
  const state = emptyControlState();
  for (const record of records) fold(state, record);
  return state;
}

describe('the fold of the control topic', () => {
  it('knows a key once its tenant is there, in either order', () => {
    for (const records of [
      [sent(tenant()), sent(key())],
      [sent(key()), sent(tenant())],
    ]) {
      const known = folded(...records).known.get('a'.repeat(64));
      expect(known?.principal).to.include({ tenantId: 1, keyId: 'x', demo: false });
      expect(known?.principal.plan.name).to.equal('team');
      expect([...(known?.principal.scopes ?? [])]).to.deep.equal(['read']);
    }
    expect(folded(sent(key())).known.size).to.equal(0);
  });
  it('a second key with the same hash is refused, whichever record comes first and is the last of its key', () => {
    const second = key({ id: 'a', write: 'k2', tenantId: 2, createdAt: '2026-11-21T00:00:00.000Z' });
    const tenants = [sent(tenant()), sent(tenant({ id: 2, write: 'w2' }))];
    const holds = (...records: readonly KeyRecord[]): string | undefined =>
      folded(...tenants, ...records.map(sent)).known.get('a'.repeat(64))?.principal.keyId;
    expect(holds(key(), second)).to.equal('x');
    expect(holds(second, key())).to.equal('x');
    // of the same moment: by the id
    expect(holds(key(), { ...second, createdAt: key().createdAt })).to.equal('a');
    // a secret that was revoked does not come back under another id
    const revoked = key({ version: 2, write: 'k3', revokedAt: '2026-11-22T00:00:00.000Z' });
    for (const records of [
      [key(), second, revoked],
      [second, revoked],
      [revoked, second],
    ])
      expect(holds(...records)).to.equal(undefined);
    // one that has another hash by now holds the former one no more
    const rotated = key({ version: 2, write: 'k4', hash: 'b'.repeat(64) });
    for (const records of [
      [key(), second, rotated],
      [second, rotated],
      [rotated, second],
    ]) {
      expect(holds(...records)).to.equal('a');
      expect(folded(...tenants, ...records.map(sent)).known.get('b'.repeat(64))?.principal.keyId).to.equal('x');
    }
  });
  it('follows changes of the tenant', () => {
    const known = folded(
      sent(tenant()),
      sent(key()),
      sent(tenant({ version: 2, write: 'w2', disabled: true, plan: 'growth', flags: { demo: true } })),
    ).known.get('a'.repeat(64));
    expect(known).to.include({ tenantDisabled: true });
    expect(known?.principal).to.include({ demo: true });
    expect(known?.principal.plan.name).to.equal('growth');
  });
  it('a rotated key is known by its new hash alone, a revoked one not at all', () => {
    const rotated = folded(sent(tenant()), sent(key()), sent(key({ version: 2, write: 'k2', hash: 'b'.repeat(64) })));
    expect([...rotated.known.keys()]).to.deep.equal(['b'.repeat(64)]);
    const revoked = folded(
      sent(tenant()),
      sent(key()),
      sent(key({ version: 2, write: 'k2', revokedAt: '2026-11-20T00:00:00.000Z' })),
      sent(tenant({ version: 2, write: 'w2' })),
    );
    expect(revoked.known.size).to.equal(0);
  });
  it('reads the expiry', () =>
    expect(folded(sent(tenant()), sent(key({ expiresAt: '2026-12-01T00:00:00.000Z' }))).known.get('a'.repeat(64))?.expiresAt).to.equal(
      Date.parse('2026-12-01T00:00:00Z'),
    ));

  describe('races', () => {
    it('of two records of one version the first counts, and the subject is stale until that one is repeated', () => {
      const state = folded(sent(tenant()), sent(tenant({ write: 'other', name: 'loser' })));
      expect(state.tenants.get(1)?.name).to.equal('a');
      expect([...state.stale]).to.deep.equal(['tenant:1']);
      fold(state, sent(tenant()));
      expect(state.stale.size).to.equal(0);
    });
    it('a later version ends staleness; an older one brings it', () => {
      const state = folded(sent(tenant()), sent(tenant({ write: 'other' })), sent(tenant({ version: 2, write: 'w2', name: 'b' })));
      expect(state.tenants.get(1)?.name).to.equal('b');
      expect(state.stale.size).to.equal(0);
      fold(state, sent(tenant()));
      expect(state.tenants.get(1)?.name).to.equal('b');
      expect(state.stale.size).to.equal(1);
    });
    it('a revoked key cannot be brought back by a slower write', () => {
      const state = folded(
        sent(tenant()),
        sent(key()),
        sent(key({ version: 2, write: 'revoke', revokedAt: '2026-11-20T00:00:00.000Z' })),
        sent(key({ version: 2, write: 'rotate', hash: 'b'.repeat(64) })),
      );
      expect(state.known.size).to.equal(0);
    });
    it('a gap in versions, as compaction leaves it, is no matter', () =>
      expect(folded(sent(tenant({ version: 7, write: 'w7', name: 'later' }))).tenants.get(1)?.name).to.equal('later'));
  });

  describe('what is no record', () => {
    const rows: readonly (readonly [string, Sent, number])[] = [
      ['other kinds of records', { key: 'search:1', value: '{}' }, 0],
      ['a tombstone', { key: 'tenant:1', value: null }, 0],
      ['no JSON', { key: 'tenant:1', value: '{' }, 1],
      ['null', { key: 'tenant:1', value: 'null' }, 1],
      ['a field missing', { key: 'tenant:1', value: '{"id":1}' }, 1],
      ['the key of another record', { key: 'tenant:2', value: JSON.stringify(tenant()) }, 1],
      ['a scope that does not exist', { key: 'key:x', value: JSON.stringify({ ...key(), scopes: ['root'] }) }, 1],
      ['a hash of another length', { key: 'key:x', value: JSON.stringify({ ...key(), hash: 'abc' }) }, 1],
      ['a tenant id that is text', { key: 'key:x', value: JSON.stringify({ ...key(), tenantId: '1' }) }, 1],
    ];
    for (const [name, record, unreadable] of rows) {
      it(name, () => {
        const state = folded(record);
        expect(state.tenants.size + state.keys.size).to.equal(0);
        expect(state.unreadable).to.equal(unreadable);
      });
    }
    it('fields of a newer release are let through', () =>
      expect(parseControl('tenant:1', JSON.stringify({ ...tenant(), galaxy: true }))).not.to.equal(null));
    it('any bytes', () => {
      fc.assert(
        fc.property(fc.constantFrom('tenant:1', 'key:x'), fc.oneof(fc.string(), fc.json()), (name, value) => {
          expect(fold(emptyControlState(), { key: name, value })).to.equal(null);
        }),
      );
    });
  });

  it('gives equal states for equal records', () => {
    const change = fc.record({
      id: fc.integer({ min: 1, max: 3 }),
      version: fc.integer({ min: 1, max: 4 }),
      write: fc.constantFrom('a', 'b', 'c', 'd'),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const records = changes.map((one) => sent(tenant({ ...one, write: `${one.id}.${one.version}.${one.write}` })));
        expect(folded(...records)).to.deep.equal(folded(...records));
        // reading everything twice, as after a restart of the reader, changes nothing
        const twice = folded(...records, ...records);
        expect(twice.tenants).to.deep.equal(folded(...records).tenants);
      }),
    );
  });

  it('knows the newest of each setting, and repairs what lost against it', () => {
    const said = (change: Partial<SettingRecord> = {}): Sent => {
      const record = { version: 1, write: 's1', processor: 'p', tenantId: 0, key: 'k', value: 1, ...change };
      return { key: settingKey(record), value: JSON.stringify(record) };
    };
    const state = folded(said({ version: 2, write: 's2', value: 2 }), said(), said({ tenantId: 3, value: null }));
    expect([...state.settings.values()].map(({ tenantId, value }) => [tenantId, value])).to.deep.equal([
      [0, 2],
      [3, null],
    ]);
    expect([...state.stale]).to.deep.equal(['setting:p:0:k']);
    const wrong = [said({ key: 'K' }), said({ value: 'x'.repeat(4096) }), { ...said(), key: 'setting:p:1:k' }];
    expect(folded(...wrong)).to.deep.include({ unreadable: 3, settings: new Map() });
  });
});
