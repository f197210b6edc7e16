import { forbidden, invalidParameter, unauthorized, type ErrorOptions, type HttpError } from '../../pipeline/core/errors.ts';
import type { Principal, Scope } from '../tenants/principal.ts';
import type { Plane } from './planes.ts';

/** A key that exists, and what it stands for now. */
export type KnownKey = {
  readonly principal: Principal;
  /** Milliseconds since the epoch; null: never. */ readonly expiresAt: number | null;
  readonly tenantDisabled: boolean;
};

/** Looks keys up by their secret. */
export interface KeyStore {
  /** The key, or null where none has this secret. Throws HttpError 503 while the keys were never read. */
  find(secret: string): KnownKey | null;
  /** The tenant that a secret belongs or belonged to, also of a revoked key; null where it is not known. Never throws. */
  ownerOf?(secret: string): number | null;
}

/** A key that is known and yet refused, in Splunk's code on the HEC paths ("Token disabled"). */
const DISABLED = { code: 1 };

const NO_KEY = 'No API key was found: send `Authorization: Bearer KEY`, or `X-API-Key: KEY`.';

/** The principal of a credential; throws 401 without one, with the sentence `missing`, 403 (of a WebSocket 401) for one that is rejected, 503 where that cannot be known. */
export function authenticate(secret: string | null, keys: KeyStore, now: number, plane: Plane = 'app', missing = NO_KEY): Principal {
  if (secret === null) throw unauthorized(missing);
  const known = keys.find(secret);
  if (known === null) throw rejected('The API key is not known.', plane);
  if (known.expiresAt !== null && known.expiresAt <= now) throw rejected('The API key has expired.', plane, DISABLED);
  if (known.tenantDisabled) throw forbidden('The tenant of this API key is disabled.', DISABLED);
  return known.principal;
}

const rejected = (detail: string, plane: Plane, options: ErrorOptions = {}): HttpError =>
  plane === 'websocket' ? unauthorized(detail) : forbidden(detail, options);

/** Checks the tenant of the path (undefined: the path names none), then the scope, then the demo rule. */
export function authorize(principal: Principal, scope: Scope | null, pathTenant: string | undefined): void {
  if (pathTenant !== undefined) {
    const tenantId = /^\d{1,15}$/.test(pathTenant) ? Number(pathTenant) : 0;
    if (tenantId < 1) throw invalidParameter('tenant_id must be an integer of at least 1.');
    if (tenantId !== principal.tenantId) throw forbidden('The API key belongs to another tenant than the one in the path.');
  }
  if (scope !== null && !principal.scopes.has(scope)) throw forbidden(`The API key lacks the scope \`${scope}\`.`, DISABLED);
  if (principal.demo && scope === 'write') throw forbidden('The demo tenant is read-only.');
}
