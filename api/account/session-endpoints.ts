import { randomBytes } from 'node:crypto';
import { forbidden, invalidBody, unauthorized } from '../../pipeline/core/errors.ts';
import { authenticate } from '../auth/authenticate.ts';
import { extractCredential } from '../auth/forms.ts';
import { foreignOrigin, schemeOf } from '../auth/same-origin.ts';
import { sentSession, type Sessions } from '../auth/sessions.ts';
import type { SessionClaims, SessionTokens } from '../auth/session-token.ts';
import type { ControlStore } from '../control/control-store.ts';
import { endSession } from '../control/ended-sessions.ts';
import { useCode } from '../control/session-codes.ts';
import { checkedBody } from '../http/checked-body.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RouteAnswer } from '../http/route.ts';
import * as described from './described-session.ts';
import { whoByKey, whoInSession } from './who.ts';

const PATH = '/api/v1/session';
/** How long a session lasts. Milliseconds. */
const SESSION_MS = 12 * 3_600_000;
/** Characters of a key's hash that a session keeps: it ends with the key's secret. */
const HASH_PREFIX = 16;
const NO_STORE = { 'Cache-Control': 'no-store' };

export type SessionEndpointsOptions = {
  readonly control: ControlStore;
  readonly sessions: Sessions;
  /** Resolves when every process of this instance has read the control topic as far as this one. */
  readonly settled: () => Promise<unknown>;
  /** Counts a change of a tenant: a sign-out is a record, as changes are. Throws HttpError 429. */
  readonly admitChange?: (tenantId: number) => void;
};

/** `GET /api/v1/account/key`: the same as `GET /api/v1/session`, with the bounds of the plan under its name. */
export const keyEndpoint: Endpoint = {
  ...{ methods: ['GET'], path: '/api/v1/account/key', errors: 'query', access: { plane: 'app', scope: 'read' }, isNarrowed: true },
  operation: described.SHOW_KEY,
  handle: ({ principal, session }) => Promise.resolve({ status: 200, headers: NO_STORE, body: whoByKey(principal, session) }),
};

/** Signing in, who am I, and signing out. */
export const sessionEndpoints = (options: SessionEndpointsOptions): readonly Endpoint[] => [
  {
    ...{ methods: ['POST'], path: PATH, errors: 'query', access: null, operation: described.BEGIN_SESSION },
    handle: (exchange) => begin(exchange, options),
  },
  {
    ...{
      methods: ['GET'],
      path: PATH,
      errors: 'query',
      access: { plane: 'app', scope: null },
      isNarrowed: true,
      operation: described.SHOW_SESSION,
    },
    handle: ({ principal, session }) => Promise.resolve({ status: 200, headers: NO_STORE, body: whoInSession(principal, session) }),
  },
  {
    ...{ methods: ['DELETE'], path: PATH, errors: 'query', access: null, operation: described.END_SESSION },
    handle: (exchange) => end(exchange, options),
  },
  keyEndpoint,
];

/** One who is not a browser sends none of the headers that tell where a page is from. */
function refuseForeign(exchange: Exchange): void {
  if (exchange.header('origin') === '' && exchange.header('sec-fetch-site') === '') return;
  const foreign = foreignOrigin(exchange);
  if (foreign !== null) throw forbidden(foreign);
}

async function begin(exchange: Exchange, { control, sessions, settled }: SessionEndpointsOptions): Promise<RouteAnswer> {
  refuseForeign(exchange);
  const hasBody = exchange.contentType !== '';
  if (hasBody && exchange.contentType !== 'application/json') throw invalidBody('The body must be application/json.');
  const sent = hasBody ? await exchange.body() : undefined;
  const { key, code } = sent === undefined ? {} : checkedBody(described.SESSION_BODY, sent);
  const now = Date.now();
  if (code !== undefined) {
    const record = await useCode(control, code, now);
    await settled();
    return answer(exchange, sessions, claimsOf(record.id, record.hash, now, Date.parse(record.expiresAt ?? '')));
  }
  const secret = key ?? extractCredential(exchange, 'app');
  if (secret === null) throw unauthorized('No API key was found: send {"key":"KEY"}, or a one-time code as {"code":"CODE"}.');
  const { keyId } = authenticate(secret, control, now);
  const record = control.key(keyId);
  return answer(exchange, sessions, claimsOf(keyId, record?.hash ?? '', now, Date.parse(record?.expiresAt ?? '')));
}

/** `keyEnds`: NaN where the key does not expire. */
function claimsOf(keyId: string, hash: string, now: number, keyEnds: number): SessionClaims {
  const expiresAt = Math.min(now + SESSION_MS, Number.isNaN(keyEnds) ? Infinity : keyEnds);
  return { keyId, hash: hash.slice(0, HASH_PREFIX), id: randomBytes(12).toString('base64url'), startedAt: now, expiresAt };
}

function answer(exchange: Exchange, { tokens, store }: Sessions, claims: SessionClaims): RouteAnswer {
  const known = store.findSession(claims);
  if (known === null || claims.expiresAt <= claims.startedAt) throw forbidden('The API key was revoked or has expired.');
  if (known.tenantDisabled) throw forbidden('The tenant of this API key is disabled.');
  const { principal } = known;
  if (!principal.scopes.has('read') && !principal.scopes.has('write'))
    throw forbidden('The API key has neither the scope `read` nor `write`: there is nothing to sign in for.');
  const seconds = Math.max(1, Math.floor((claims.expiresAt - claims.startedAt) / 1000));
  const cookie = cookieOf(exchange, tokens, tokens.sign(claims), seconds);
  return { status: 200, headers: { ...NO_STORE, 'Set-Cookie': cookie }, body: whoInSession(principal, claims) };
}

/** The cookie, for all paths of this host alone; never told to scripts, never sent from pages of others. */
const cookieOf = (exchange: Exchange, { cookie }: SessionTokens, value: string, seconds: number): string =>
  `${cookie}=${value}; Path=/; Max-Age=${String(seconds)}; HttpOnly; SameSite=Strict${schemeOf(exchange) === 'https' ? '; Secure' : ''}`;

async function end(exchange: Exchange, { control, sessions, settled, admitChange }: SessionEndpointsOptions): Promise<RouteAnswer> {
  const claims = sentSession(exchange, sessions.tokens);
  refuseForeign(exchange);
  if (claims !== null) {
    const foreign = foreignOrigin(exchange);
    if (foreign !== null) throw forbidden(foreign);
    const found = claims.expiresAt > Date.now() ? sessions.store.findSession(claims) : null;
    if (found !== null) {
      admitChange?.(found.principal.tenantId);
      await endSession(control, claims);
      await settled();
    }
  }
  return { status: 204, headers: { ...NO_STORE, 'Set-Cookie': cookieOf(exchange, sessions.tokens, '', 0) } };
}
