/**
 * The TypeScript client: typed by the description of the API (`operations.ts`), over `fetch`. It runs in browsers and in Node.
 *
 *     const client = new Client({ base: 'http://127.0.0.1:8080', key });
 *     const { hits } = await client.call('GET /api/v1/tenants/{tenant_id}/hits', { path: { tenant_id: 1 }, query: { step: '5m' } });
 */
import type { Operations } from './operations.ts';

/** The name of an operation: its method and path. */
export type OperationName = keyof Operations;

/** What an operation takes. Members that have no required parts may be left out. */
export type Taken<Name extends OperationName> = Part<'path', Operations[Name]['path']> &
  Part<'query', Operations[Name]['query']> &
  (undefined extends Operations[Name]['body'] ? { readonly body?: Operations[Name]['body'] } : { readonly body: Operations[Name]['body'] });
type Part<Key extends string, Value> = object extends Value ? { readonly [key in Key]?: Value } : { readonly [key in Key]: Value };

/** What it answers when all is well. */
export type Answer<Name extends OperationName> = Operations[Name]['answer'];

export type ClientOptions = {
  /** The app host; the page's own without it. */
  readonly base?: string;
  /** Sent as `X-API-Key`; without it a browser's cookie counts. */
  readonly key?: string | null;
};

/** An answer that is an error: its status, what the service has to report, and the request's id, by which operators find it. */
export class ApiError extends Error {
  readonly status: number;
  readonly requestId: string;
  /** Seconds after which it may work; null where the service gave none. */
  readonly retryAfter: number | null;

  constructor(status: number, detail: string, requestId: string, retryAfter: number | null) {
    super(detail);
    this.name = 'ApiError';
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

export class Client {
  readonly #base: string;
  readonly #key: string | null;

  constructor({ base = '', key = null }: ClientOptions) {
    this.#base = base;
    this.#key = key;
  }

  /** Sends a request; throws ApiError where the answer is one, and what `fetch` throws where there is none. */
  async call<Name extends OperationName>(name: Name, taken: Taken<Name>, signal?: AbortSignal): Promise<Answer<Name>> {
    const response = await this.send(name, taken, signal);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return (isJson ? JSON.parse(text) : text === '' ? undefined : text) as Answer<Name>;
  }

  /** The answer as it comes, for those that are read piece by piece. Throws as `call` does. */
  async send<Name extends OperationName>(name: Name, taken: Taken<Name>, signal?: AbortSignal): Promise<Response> {
    const [method = 'GET', path = ''] = name.split(' ');
    const { path: parts = {}, query = {}, body } = taken as { path?: object; query?: object; body?: unknown };
    const response = await fetch(this.#base + pathOf(path, parts) + searchOf(query), {
      method,
      credentials: 'same-origin',
      headers: {
        ...(this.#key === null ? {} : { 'X-API-Key': this.#key }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

const pathOf = (path: string, parts: object): string =>
  path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent((parts as Record<string, string | number>)[name] ?? ''));

type Plain = string | number | boolean | null | undefined;

/** Parameters as the service reads them: a list is repeated, undefined and null are left out. */
function searchOf(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, Plain | readonly Plain[]][])
    for (const one of Array.isArray(value) ? (value as readonly Plain[]) : [value as Plain])
      if (one !== undefined && one !== null) search.append(name, String(one));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** What an answer that is an error has to report. */
export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  let body: { readonly detail?: unknown; readonly request_id?: unknown } = {};
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    // a proxy's page: its status has to do
  }
  const detail = typeof body.detail === 'string' ? body.detail : `The service answered ${String(response.status)}.`;
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(response.status, detail, response.headers.get('x-request-id') ?? '', Number.isFinite(wait) ? wait : null);
}
