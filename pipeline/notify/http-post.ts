import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { PrivateAddress, type Addresses } from './addresses.ts';

export type PostOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** From the first look-up of the name to the head of the answer. Milliseconds. */
  readonly timeoutMs: number;
  /** Where connections may be made to; anywhere without it. */
  readonly addresses?: Addresses;
  /** Resolves names; the system's without it. */
  readonly resolve?: LookupFunction;
};

/**
 * Sends a body of JSON and gives the status of the answer, whose body is not read; redirects are not followed. User and password of the URL go as
 * basic authentication. Rejects where there is no answer in time, and with PrivateAddress where the address may not be connected to.
 */
export function postJson(url: URL, body: string, { headers = {}, timeoutMs, addresses, resolve }: PostOptions): Promise<number> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (addresses !== undefined && isIP(host) !== 0 && !addresses.allows(host)) return Promise.reject(new PrivateAddress());
  const lookup = addresses?.lookup(resolve) ?? resolve;
  const { username, password } = url;
  return new Promise((settle, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      // a connection of another one, whose address was looked at under other rules, is not taken
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      ...(lookup === undefined ? {} : { lookup }),
      ...(username === '' && password === '' ? {} : { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
      headers: { 'User-Agent': 'Logweir', 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers },
    });
    request.on('response', (response) => {
      settle(response.statusCode ?? 0);
      // an error of the body: it is not read
      response.on('error', () => undefined);
      request.destroy();
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      reject(toReason(error, timeoutMs));
    });
    request.end(body);
  });
}

/** The errors of systems, in words, and without the addresses in it. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'Its name cannot be resolved.',
  EAI_AGAIN: 'Its name cannot be resolved just now.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before there was an answer.',
};

function toReason(error: NodeJS.ErrnoException, timeoutMs: number): Error {
  if (error instanceof PrivateAddress) return error;
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return new Error(`It did not answer within ${String(timeoutMs)} ms.`, { cause: error });
  const code = error.code ?? error.name;
  return new Error(REASONS[code] ?? `The connection failed (${code}).`, { cause: error });
}
