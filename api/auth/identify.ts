import type { Principal, Scope } from '../tenants/principal.ts';
import { authenticate, type KeyStore } from './authenticate.ts';
import { extractCredential, missingCredential, type CredentialRequest } from './forms.ts';
import type { Plane } from './planes.ts';
import type { Sender } from './same-origin.ts';
import type { SessionClaims } from './session-token.ts';
import { sessionOf, type Sessions } from './sessions.ts';

/** Who sends a request, and the browser session that says so; null where it was a key. */
export type Identity = { readonly principal: Principal; readonly session: SessionClaims | null };

export type Identifier = {
  readonly keys: KeyStore;
  /** Absent: cookies are not read. */
  readonly sessions?: Sessions | undefined;
};

/**
 * Who sends a request: by its key, else, on the app plane and for WebSockets, by its session. Cookies are never read where entries are
 * sent. Throws as `authenticate` and `sessionOf` do.
 */
export function identify(
  request: CredentialRequest & Sender,
  { keys, sessions }: Identifier,
  { plane, scope }: { readonly plane: Plane; readonly scope: Scope | null },
): Identity {
  const secret = extractCredential(request, plane);
  if (secret === null && sessions !== undefined && plane !== 'ingest' && scope !== 'ingest') {
    const session = sessionOf(request, sessions, Date.now(), plane === 'websocket');
    if (session !== null) return { principal: session.principal, session: session.claims };
  }
  const missing = secret === null ? missingCredential(request, plane) : undefined;
  return { principal: authenticate(secret, keys, Date.now(), plane, missing), session: null };
}
