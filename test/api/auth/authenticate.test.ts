import { expect } from 'chai';
import { authenticate, authorize } from '../../../api/auth/authenticate.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { fakePrincipal, FakeKeyStore } from '../../fakes/key-store.ts';

function thrown(action: () => unknown): HttpError {
  try {
    action();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

const NOW = Date.parse('2026-11-20T00:00:00Z');

describe('authenticate', () => {
  const keys = new FakeKeyStore({ good: { tenantId: 7 } });
  keys.keys.set('expired', { principal: fakePrincipal(), expiresAt: NOW, tenantDisabled: false });
  keys.keys.set('fresh', { principal: fakePrincipal(), expiresAt: NOW + 1, tenantDisabled: false });
  keys.keys.set('disabled', { principal: fakePrincipal(), expiresAt: null, tenantDisabled: true });

  const rows: readonly (readonly [string | null, number, string])[] = [
    [null, 401, 'unauthorized'],
    ['unknown', 403, 'forbidden'],
    ['lw_', 403, 'forbidden'],
    ["'; DROP TABLE keys; --", 403, 'forbidden'],
    ['__proto__', 403, 'forbidden'],
    ['expired', 403, 'forbidden'],
    ['disabled', 403, 'forbidden'],
  ];
  for (const [secret, status, slug] of rows) {
    it(`${String(secret)}: ${status} ${slug}`, () => expect(thrown(() => authenticate(secret, keys, NOW))).to.include({ status, slug }));
  }

  it('gives the principal of a good key', () => {
    expect(authenticate('good', keys, NOW).tenantId).to.equal(7);
    expect(authenticate('fresh', keys, NOW).tenantId).to.equal(1);
  });

  it('says 503 with "authentication" while keys were never read, but 401 without a credential', () => {
    const down = new FakeKeyStore({});
    down.down = true;
    expect(thrown(() => authenticate('x', down, NOW))).to.include({ status: 503, slug: 'auth_unavailable' });
    expect(thrown(() => authenticate('x', down, NOW)).message).to.contain('authentication');
    expect(thrown(() => authenticate(null, down, NOW)).status).to.equal(401);
  });
});

describe('authorize', () => {
  for (const tenant of ['0', '-1', 'abc', '1.5', '1e3', ' 1', '', '9999999999999999', '1x', '%31']) {
    it(`tenant_id ${JSON.stringify(tenant)}: 400`, () =>
      expect(thrown(() => authorize(fakePrincipal(), 'read', tenant)).status).to.equal(400));
  }

  it('tenant_id of another tenant: 403, before the scope is looked at', () => {
    const error = thrown(() => authorize(fakePrincipal({ scopes: new Set<Scope>() }), 'read', '2'));
    expect(error.status).to.equal(403);
    expect(error.message).to.contain('another tenant');
  });

  const scopes: readonly Scope[] = ['read', 'write', 'ingest'];
  for (const held of scopes) {
    for (const needed of scopes) {
      it(`scope ${held}, needed ${needed}: ${held === needed ? 'goes' : '403'}`, () => {
        const action = (): void => authorize(fakePrincipal({ scopes: new Set([held]) }), needed, '1');
        if (held === needed) action();
        else expect(thrown(action)).to.include({ status: 403, message: `The API key lacks the scope \`${needed}\`.` });
      });
    }
  }

  it('the demo tenant may read and ingest but not write', () => {
    const demo = fakePrincipal({ demo: true });
    authorize(demo, 'read', undefined);
    authorize(demo, 'ingest', undefined);
    expect(thrown(() => authorize(demo, 'write', undefined)).message).to.contain('read-only');
  });
});
