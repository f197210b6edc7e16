import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientClosed } from '../../pipeline/core/errors.ts';
import type { Coding } from '../../pipeline/compression/inflate.ts';
import type { CredentialRequest } from '../auth/forms.ts';
import type { SessionClaims } from '../auth/session-token.ts';
import { BodiesInFlight } from './bodies-in-flight.ts';
import { jsonBody, readBody, type BodyCaps, type BodyMeter } from './body.ts';
import { parseJson } from './json.ts';
import { requestIdOf } from './request-id.ts';
import type { RouteContext } from './route.ts';
import type { Principal } from '../tenants/principal.ts';

const NO_QUERY = new URLSearchParams();
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const JSON_CAPS = jsonBody();
/** Bodies of the app plane that come at once, which are 1 MiB each at most. */
const MAX_SMALL_BODIES = 64 * 1024 * 1024;
const smallBodies = new BodiesInFlight({ maxBytes: MAX_SMALL_BODIES });
const NO_TENANT = 0;

/** One request and its answer on the way through the middleware. What a request may not need is made on first use. */
export class Exchange implements RouteContext, CredentialRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly requestId: string;
  readonly startedAt = performance.now();
  /** The path as sent, without the query and without a slash at its end. */
  readonly path: string;
  /** The path's template; the label of this request in metrics. */
  template = 'unknown';
  params: Readonly<Record<string, string>> = NO_PARAMS;
  /** Checks the key again during a long answer. Throws HttpError where the key is no longer accepted. */
  checkKey: () => void = noCheck;
  /** True once this service has cut its answer off. */
  isCutOff = false;
  /** The browser session that it was accepted by; null: a key. */
  session: SessionClaims | null = null;
  readonly #search: string;
  #query: URLSearchParams | null = null;
  #principal: Principal | null = null;
  #closed: AbortController | null = null;
  readonly #outer: AbortSignal | null;

  /** `outer`: the signal of the request that this one is made for. */
  constructor(request: IncomingMessage, response: ServerResponse, outer: AbortSignal | null = null) {
    this.#outer = outer;
    this.request = request;
    this.response = response;
    this.method = request.method ?? 'GET';
    this.requestId = requestIdOf(request.headers['x-request-id']);
    const { path, search } = targetOf(request);
    this.path = path;
    this.#search = search;
  }

  get query(): URLSearchParams {
    this.#query ??= this.#search === '' ? NO_QUERY : new URLSearchParams(this.#search);
    return this.#query;
  }

  get principal(): Principal {
    if (this.#principal === null) throw new Error('BUG: the principal of a path that asks for no key.');
    return this.#principal;
  }

  /** Whose request it is; null as long as no key was accepted. */
  get tenantId(): number | null {
    return this.#principal?.tenantId ?? null;
  }

  set principal(principal: Principal) {
    this.#principal = principal;
  }

  /** True once no one can be answered any more. */
  isClosed(): boolean {
    return this.response.destroyed;
  }

  get signal(): AbortSignal {
    if (this.#outer !== null) return this.#outer;
    if (this.#closed === null) {
      const closed = new AbortController();
      this.#closed = closed;
      if (this.isClosed()) closed.abort(clientClosed());
      else
        this.response.once('close', () => {
          if (!this.response.writableFinished) closed.abort(clientClosed());
        });
    }
    return this.#closed.signal;
  }

  header(name: string): string {
    return headerOf(this.request, name);
  }

  /** The media type alone, in lower case; empty where none was sent. */
  get contentType(): string {
    const type = this.header('content-type');
    const end = type.indexOf(';');
    return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase();
  }

  /** The decoded body within these caps; `implied`: the coding of a body whose request names none. What is held is for the meter's owner to count. */
  bytes(caps: BodyCaps, implied: Coding | null = null, meter: BodyMeter | null = null): Promise<Buffer> {
    return readBody(this.request, this.response, caps, implied, meter);
  }

  /** What is made of a body of the app plane at once, within these caps or those of all its paths; all such bodies of a tenant, and of the process, are bounded while they come. */
  async bodyAs<T>(made: (body: Buffer) => T, caps = JSON_CAPS): Promise<T> {
    const meter = smallBodies.enter(this.tenantId ?? NO_TENANT);
    try {
      return made(await this.bytes(caps, null, meter));
    } finally {
      meter.leave();
    }
  }

  body(caps = JSON_CAPS): Promise<unknown> {
    return this.bodyAs(parseJson, caps);
  }
}

function noCheck(): void {
  /* the path requires no key */
}

/** The value of a header; empty where it was not sent. */
export function headerOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string {
  const value = headers[name];
  return value === undefined ? '' : typeof value === 'string' ? value : value.join(', ');
}

/** The path of a request as sent, without a slash at its end, and what stands behind its question mark. */
export function targetOf({ url = '/' }: Pick<IncomingMessage, 'url'>): { readonly path: string; readonly search: string } {
  const target = originForm(url);
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return { path: path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path, search: mark < 0 ? '' : target.slice(mark + 1) };
}

/** The target without scheme and host, which a client of a proxy sends (RFC 9112, 3.2.2), and without a fragment. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const absolute = /^https?:\/\/[^/?#]*([^#]*)/i.exec(url);
  const target = absolute?.[1] ?? url;
  return target.startsWith('?') || target === '' ? `/${target}` : target;
}
