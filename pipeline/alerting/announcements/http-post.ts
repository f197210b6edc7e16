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
 * basic authentication. Settles whatever the receiver does; rejects where there is no answer in time, and with
 * PrivateAddress where the URL has an address that may not be connected to.
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
      ...(lookup === undefined ? {} : { lookup }),
      ...(username === '' && password === '' ? {} : { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
      headers: { 'User-Agent': 'Logweir', 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers },
    });
    // whatever a receiver does, one of these comes: without a listener an upgrade would end the connection and nothing else
    const timer = setTimeout(() => {
      fail(new Error(`It did not answer within ${String(timeoutMs)} ms.`));
    }, timeoutMs);
    const end = (): void => {
      clearTimeout(timer);
      request.destroy();
    };
    const take = ({ statusCode = 0 }: http.IncomingMessage): void => {
      end();
      settle(statusCode);
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
    };
    request.on('response', (response) => {
      // an error of the body: it is not read
      response.on('error', () => undefined);
      take(response);
    });
    request.on('upgrade', (response, socket) => {
      socket.on('error', () => undefined).destroy();
      take(response);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      fail(toReason(error));
    });
    request.on('close', () => {
      fail(new Error(REASONS['ECONNRESET']));
    });
    request.end(body);
  });
}

/** Of a name that nobody knows, and of one that only the deployment knows: clients are not told which names that has. */
const NO_ADDRESS = 'Its name has no public address, nor one in a network that this deployment allows.';

/** The errors of systems, in words, and without the addresses in it. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: 'Its name cannot be resolved just now.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before there was an answer.',
};

function toReason(error: NodeJS.ErrnoException): Error {
  const code = error instanceof PrivateAddress ? 'ENOTFOUND' : (error.code ?? error.name);
  return new Error(REASONS[code] ?? `The connection failed (${code}).`, { cause: error });
}
