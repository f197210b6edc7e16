import type { IncomingMessage } from 'node:http';
import { HttpError, invalidParameter } from '../../../pipeline/core/errors.ts';
import { headerOf } from '../../http/exchange.ts';

/** The subprotocol that is spoken (docs/live.md). */
const SUBPROTOCOL = 'logweir.v1';
const CREDENTIAL = /^[^.,\s]+\.bearer\.[A-Za-z0-9_-]+$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const KEY = /^[+/0-9A-Za-z]{22}==$/;

const offered = (request: IncomingMessage): string[] => {
  const header = headerOf(request, 'sec-websocket-protocol');
  return header === '' ? [] : header.split(',').map((name) => name.trim());
};

/** Checks what RFC 6455 (4.1) requires of the request for a WebSocket. Throws HttpError 400, or 426 for any other request. */
export function checkHandshake(request: IncomingMessage): void {
  const version = headerOf(request, 'sec-websocket-version');
  if (version === '' && headerOf(request, 'sec-websocket-key') === '') throw upgradeRequired('This path speaks WebSocket only.');
  if (version !== '13' && version !== '8') throw upgradeRequired('The version of WebSocket must be 13.');
  if (!KEY.test(headerOf(request, 'sec-websocket-key'))) throw invalidParameter('Sec-WebSocket-Key is not a key of 16 bytes in base64.');
  const names = offered(request);
  if (new Set(names).size < names.length || !names.every((name) => TOKEN.test(name)))
    throw invalidParameter('Sec-WebSocket-Protocol must be a list of different names.');
}

const upgradeRequired = (detail: string): HttpError => new HttpError(426, 'upgrade_required', detail);

/** The subprotocol that is selected: SUBPROTOCOL where it is offered, else the credential that was sent as one; false for none. */
export function selectProtocol(names: ReadonlySet<string>): string | false {
  if (names.has(SUBPROTOCOL)) return SUBPROTOCOL;
  return [...names].find((name) => CREDENTIAL.test(name)) ?? false;
}
