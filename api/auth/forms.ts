import { QUERY_KEY_PATHS, type Plane } from './planes.ts';

/** What a credential is read from. `header` returns the empty string for an absent header. */
export type CredentialRequest = { readonly path: string; header(name: string): string; readonly query: URLSearchParams };

/** One way to send a key. `planes` has the planes that read it, with its place in each plane's order (lower first). */
export interface CredentialForm {
  readonly name: string;
  readonly planes: Readonly<Partial<Record<Plane, number>>>;
  /** The key, trimmed and not empty, or null: absent, or in a shape the plane cannot parse. */
  extract(request: CredentialRequest, plane: Plane): string | null;
}

/** The ways to send a key, one row each. The planes differ on purpose in which header they read first. */
export const CREDENTIAL_FORMS: readonly CredentialForm[] = [
  {
    name: 'Sec-WebSocket-Protocol: <prefix>.bearer.<API_KEY>',
    planes: { websocket: 0 },
    extract: (request) =>
      /(?:^|,)\s*[^.,\s]+\.bearer\.([A-Za-z0-9_-]+)\s*(?:,|$)/.exec(request.header('sec-websocket-protocol'))?.[1] ?? null,
  },
  {
    name: 'Authorization: Bearer <API_KEY>',
    planes: { ingest: 1, app: 2, websocket: 2 },
    extract: (request, plane) => key(afterScheme(request, plane, 'Bearer')),
  },
  {
    name: 'Authorization: Token <API_KEY>',
    planes: { app: 3, websocket: 3 },
    extract: (request, plane) => key(afterScheme(request, plane, 'Token')),
  },
  {
    name: 'Authorization: Basic <base64 of API_KEY:>',
    planes: { ingest: 2, app: 4, websocket: 4 },
    extract: (request, plane) => key(userName(afterScheme(request, plane, 'Basic'))),
  },
  {
    name: 'X-API-Key: <API_KEY>',
    planes: { ingest: 3, app: 1, websocket: 1 },
    extract: (request) => key(request.header('x-api-key')),
  },
  {
    name: 'X-Amz-Firehose-Access-Key: <API_KEY>, on /api/v1/cloudwatch',
    planes: { ingest: 4 },
    extract: (request) => (request.path === '/api/v1/cloudwatch' ? key(request.header('x-amz-firehose-access-key')) : null),
  },
  {
    name: 'query parameter api_key',
    planes: { ingest: 5, app: 5, websocket: 5 },
    extract: (request, plane) => (plane === 'ingest' && !QUERY_KEY_PATHS.has(request.path) ? null : key(request.query.get('api_key'))),
  },
  {
    name: 'query parameter token',
    planes: { websocket: 6 },
    extract: (request) => key(request.query.get('token')),
  },
];

const BY_PLANE: Readonly<Record<Plane, readonly CredentialForm[]>> = {
  ingest: ordered('ingest'),
  app: ordered('app'),
  websocket: ordered('websocket'),
};

function ordered(plane: Plane): CredentialForm[] {
  const place = (form: CredentialForm): number => form.planes[plane] ?? Infinity;
  return CREDENTIAL_FORMS.filter((form) => place(form) !== Infinity).sort((a, b) => place(a) - place(b));
}

/** The key of a request by the rules of its plane; null where none could be extracted, which is a 401. */
export function extractCredential(request: CredentialRequest, plane: Plane): string | null {
  for (const form of BY_PLANE[plane]) {
    const found = form.extract(request, plane);
    if (found !== null) return found;
  }
  return null;
}

/** Schemes of `Authorization` that the planes read, as they are shown. */
const SCHEMES: Readonly<Record<Plane, string>> = {
  ingest: '`Authorization: Bearer KEY` (case-sensitive), `Authorization: Basic` with the key as the user name, or `X-API-Key: KEY`',
  app: '`Authorization: Bearer KEY`, `Token KEY` or `Basic` with the key as the user name, or `X-API-Key: KEY`',
  websocket: 'the subprotocol `logweir.bearer.KEY`, or `Authorization: Bearer KEY`',
};

/** Why no key was found, and what to send: a scheme that is not read is named, but nothing behind it. */
export function missingCredential(request: CredentialRequest, plane: Plane): string {
  const send = `send ${SCHEMES[plane]}`;
  const header = request.header('authorization').trim();
  if (header === '') return `No API key was found: ${send}.`;
  const [scheme = ''] = header.split(/[ \t]/, 1);
  if (!/^[A-Za-z][A-Za-z0-9-]{0,30}$/.test(scheme) || scheme.length === header.length)
    return `No API key was found in the header Authorization, which has no scheme and key: ${send}.`;
  const isKnown = BY_PLANE[plane].some(({ name }) => name.startsWith(`Authorization: ${scheme} `));
  return isKnown
    ? `The header Authorization has the scheme ${scheme}, and no key that can be read: ${send}.`
    : `The scheme ${JSON.stringify(scheme)} of the header Authorization is not accepted here: ${send}.`;
}

function key(text: string | null): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

/** What follows the scheme; it is case-sensitive on the ingest plane, case-insensitive on the app plane. */
function afterScheme(request: CredentialRequest, plane: Plane, scheme: string): string | null {
  const header = request.header('authorization').trimStart();
  const sent = header.slice(0, scheme.length);
  const known = plane === 'ingest' ? sent === scheme : sent.toLowerCase() === scheme.toLowerCase();
  return known && /^[ \t]/.test(header.slice(scheme.length)) ? header.slice(scheme.length) : null;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The user name of Basic credentials; null where it is not valid base64 or has no colon. The password is ignored. */
function userName(credentials: string | null): string | null {
  const text = credentials?.trim() ?? '';
  if (text === '' || !BASE64.test(text)) return null;
  const decoded = Buffer.from(text, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? null : decoded.slice(0, colon);
}
