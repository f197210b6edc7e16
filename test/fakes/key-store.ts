import type { KeyStore, KnownKey } from '../../api/auth/authenticate.ts';
import { findPlan, type Plan } from '../../api/tenants/plans.ts';
import type { Principal, Scope } from '../../api/tenants/principal.ts';
import { authUnavailable } from '../../pipeline/core/errors.ts';

export function fakePrincipal(change: Partial<Principal> = {}): Principal {
  return {
    tenantId: 1,
    keyId: 'k',
    scopes: new Set<Scope>(['read', 'write', 'ingest']),
    plan: findPlan('unlimited') as Plan,
    demo: false,
    ...change,
  };
}

/** Keys by their secret; `down`: they were never read. */
export class FakeKeyStore implements KeyStore {
  readonly keys: Map<string, KnownKey>;
  down = false;

  constructor(principals: Readonly<Record<string, Partial<Principal>>>) {
    this.keys = new Map(
      Object.entries(principals).map(([secret, change]) => [
        secret,
        { principal: fakePrincipal(change), expiresAt: null, tenantDisabled: false },
      ]),
    );
  }

  find(secret: string): KnownKey | null {
    if (this.down) throw authUnavailable();
    return this.keys.get(secret) ?? null;
  }
}
