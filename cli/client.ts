import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EXIT, RefusedError, UsageError, type Env } from './output.ts';
import { serviceUrl } from './service-url.ts';
import { ApiError, Client, type Answer, type OperationName, type Taken } from '../web/client/client.ts';

export type { Env };

/** How a command reaches the service: its addresses, the tenant, and the key. */
export type Target = { readonly appUrl: string; readonly ingestUrl: string; readonly tenantId: string; readonly key: string };

/** The flags that every command has that talks to the public hosts. */
export const TARGET_FLAGS = ['url', 'tenant', 'key'] as const;

export const TARGET_HELP = `  --url URL       the host to talk to (default: LOGWEIR_URL, or the instance of LOGWEIR_HOST and its port)
  --tenant ID     the tenant (default: LOGWEIR_TENANT, or 1)
  --key KEY       the API key (default: LOGWEIR_API_KEY, or the first key of the instance in LOGWEIR_DATA_DIR)
`;

/**
 * Finds the service: flags first, then LOGWEIR_URL (the app host, which takes entries too), LOGWEIR_INGEST_URL, LOGWEIR_TENANT and
 * LOGWEIR_API_KEY, then the instance of this machine.
 */
export function findTarget(flags: Readonly<Record<string, unknown>>, env: Env): Target {
  const host = hostText(env['LOGWEIR_HOST'] || '127.0.0.1');
  const given = urlOf(flags['url'], '--url') ?? urlOf(env['LOGWEIR_URL'], 'LOGWEIR_URL');
  const ingest = urlOf(flags['url'], '--url') ?? urlOf(env['LOGWEIR_INGEST_URL'], 'LOGWEIR_INGEST_URL') ?? given;
  const tenantId = text(flags['tenant']) ?? text(env['LOGWEIR_TENANT']) ?? '1';
  if (!/^[1-9]\d{0,9}$/.test(tenantId)) throw new UsageError('--tenant is an integer of at least 1.');
  return {
    appUrl: given ?? `http://${host}:${env['LOGWEIR_APP_PORT'] || '8080'}`,
    ingestUrl: ingest ?? `http://${host}:${env['LOGWEIR_INGEST_PORT'] || '8081'}`,
    tenantId,
    key: text(flags['key']) ?? text(env['LOGWEIR_API_KEY']) ?? text(env['LOGWEIR_BOOTSTRAP_KEY']) ?? keyOfInstance(env),
  };
}

function urlOf(value: unknown, name: string): string | undefined {
  const given = text(value);
  return given === undefined ? undefined : serviceUrl(given, name);
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** A listener on every address is reached on the loopback; an IPv6 address has brackets in a URL. */
function hostText(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
}

function keyOfInstance(env: Env): string {
  const file = path.join(env['LOGWEIR_DATA_DIR'] || './data', 'bootstrap.key');
  if (!existsSync(file)) throw new UsageError(`No key: give --key or LOGWEIR_API_KEY (there is no ${file}).`);
  return readFileSync(file, 'utf8').trim();
}

/** Sends a request with the key; returns the body of a 2xx. Throws a sentence with the service's error, or that none answered. */
export async function request(
  url: string,
  key: string,
  init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
): Promise<Buffer> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new Error(`No service answers on ${new URL(url).origin}; is Logweir running there?`, { cause: error });
  }
  const body = Buffer.from(await response.arrayBuffer());
  if (response.ok) return body;
  throw refusalOf(response.status, detailOf(body), Number(response.headers.get('retry-after') ?? 1));
}

/** What a command throws for an answer that is an error. */
function refusalOf(status: number, detail: string, retryAfter: number): Error {
  if (status === 400) return new UsageError(detail);
  if (status === 401 || status === 403) return new RefusedError(detail);
  return Object.assign(new Error(`${detail} (HTTP ${String(status)})`), { status, retryAfter });
}

/**
 * The answer of an operation of the API, as it comes, by the client that is typed by the API's description. Throws as `request` does. An operation of
 * `{tenant_id}` gets the target's tenant.
 */
export async function send<Name extends OperationName>(
  { appUrl, tenantId, key }: Target,
  name: Name,
  taken: Omitted<Name>,
): Promise<Response> {
  const { path = {}, ...more } = taken as { readonly path?: object };
  const all = { ...more, path: { tenant_id: Number(tenantId), ...path } } as unknown as Taken<Name>;
  return new Client({ base: appUrl, key }).send(name, all).catch((error: unknown) => {
    if (error instanceof ApiError) throw refusalOf(error.status, error.message, error.retryAfter ?? 1);
    if ((error as Error).name === 'AbortError') throw error;
    throw new Error(`No service answers on ${new URL(appUrl).origin}; is Logweir running there?`, { cause: error });
  });
}

/** What an operation takes without the tenant. */
export type Omitted<Name extends OperationName> = Omit<Taken<Name>, 'path'> &
  ('path' extends keyof Taken<Name>
    ? object extends Omit<NonNullable<Taken<Name>['path']>, 'tenant_id'>
      ? { readonly path?: object }
      : { readonly path: Omit<NonNullable<Taken<Name>['path']>, 'tenant_id'> }
    : object);

/** The bytes of an answer: numbers of 64 bits are shown as they are. */
export const bytesOf = async <Name extends OperationName>(target: Target, name: Name, taken: Omitted<Name>): Promise<Buffer> =>
  Buffer.from(await (await send(target, name, taken)).arrayBuffer());

/** An answer as a value. */
export const answerOf = async <Name extends OperationName>(target: Target, name: Name, taken: Omitted<Name>): Promise<Answer<Name>> =>
  JSON.parse((await bytesOf(target, name, taken)).toString()) as Answer<Name>;

/** The detail in the body of an error. */
export function detailOf(body: Buffer): string {
  try {
    const { detail } = JSON.parse(body.toString()) as { detail?: unknown };
    if (typeof detail === 'string') return detail;
  } catch {
    // not JSON: shown as it is
  }
  return body.toString().slice(0, 500);
}

/** The exit code of what a command threw. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof RefusedError ? EXIT.refused : EXIT.failed;
}
