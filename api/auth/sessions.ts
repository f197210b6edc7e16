import { forbidden, unauthorized } from '../../pipeline/core/errors.ts';
import type { Principal, Scope } from '../tenants/principal.ts';
import type { KeyStore, KnownKey } from './authenticate.ts';
import { foreignOrigin, type Sender } from './same-origin.ts';
import type { SessionClaims, SessionTokens } from './session-token.ts';

/** A browser session that holds, and what it may do. */
export type Session = { readonly claims: SessionClaims; readonly principal: Principal };

/** Who knows what a session stands for. */
export type SessionStore = { findSession(claims: SessionClaims): KnownKey | null };

/** The browser sessions of a host. */
export type Sessions = { readonly tokens: SessionTokens; readonly store: SessionStore & KeyStore };

/** A cookie may do what its key may, but never send entries. */
const SCOPES: readonly Scope[] = ['read', 'write'];
const EXPIRED = 'Token expired';
const ENDED = 'The session has ended; sign in again.';

/** The claims of the cookie of a request, expired or not; null where it has none that was signed here. */
export function sentSession(sender: Pick<Sender, 'header'>, tokens: SessionTokens): SessionClaims | null {
  for (const part of sender.header('cookie').split(';')) {
    const at = part.indexOf('=');
    if (at < 0 || part.slice(0, at).trim() !== tokens.cookie) continue;
    const claims = tokens.read(part.slice(at + 1).trim());
    if (claims !== null) return claims;
  }
  return null;
}

/**
 * The session of a request that has no key: null where it has no cookie. Throws HttpError 401 where the session is over, 403 where the request
 * comes from another site or its tenant is disabled, 503 where that cannot be known.
 */
export function sessionOf(sender: Sender, { tokens, store }: Sessions, now: number, needsOrigin = false): Session | null {
  const claims = sentSession(sender, tokens);
  if (claims === null) return null;
  const foreign = foreignOrigin(sender, needsOrigin);
  if (foreign !== null) throw forbidden(foreign);
  if (claims.expiresAt <= now) throw unauthorized(EXPIRED);
  const known = store.findSession(claims);
  if (known === null) throw unauthorized(ENDED);
  if (known.expiresAt !== null && known.expiresAt <= now) throw unauthorized(EXPIRED);
  if (known.tenantDisabled) throw forbidden('The tenant of this session is disabled.');
  const { principal } = known;
  return { claims, principal: { ...principal, scopes: new Set(SCOPES.filter((scope) => principal.scopes.has(scope))) } };
}
