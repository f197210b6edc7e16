import type { Principal, Scope } from '../tenants/principal.ts';
import type { Operation } from './operation.ts';

/** What a route is given. Credential, tenant of the path and scope are checked by then. */
export type RouteContext = {
  readonly principal: Principal;
  /** Named parts of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly requestId: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** `performance.now()` when the request came. */
  readonly startedAt: number;
  /** The body as JSON, at most 1 MiB each way; undefined where it is empty. Throws HttpError 400 or 413. */
  body(): Promise<unknown>;
};

/**
 * An answer. A string is JSON unless the headers give another type; an object becomes JSON. A stream is sent as its strings or bytes come,
 * and cut off where it throws. Nothing is an empty body.
 */
export type RouteAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | object;
  /** The body is the same buffer for every request: it is compressed once. */
  readonly isConstant?: true;
  /** In place of `body`. */
  readonly stream?: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
};

/** An endpoint of the app plane. Parts of the path in braces are parameters; `{tenant_id}` must be the key's tenant. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly scope: Scope;
  /** It gives a key of a project that project alone; all others refuse such keys. */
  readonly isNarrowed?: true;
  /** What it takes and answers. */
  readonly operation?: Operation;
  handle(context: RouteContext): Promise<RouteAnswer>;
}
