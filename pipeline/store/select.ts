import { EXCEPTION_TAG_HEADER_NAME, extractErrorAtTheEndOfChunk, parseError } from '@clickhouse/client';
import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import type { Tls } from '../core/config.ts';
import type { Param } from '../core/sql.ts';
import { readJson } from '../core/read-json.ts';

/** One row of a result, in the order of the SELECT; 64-bit integers are decimal strings. */
export type Row = readonly unknown[];

/** Which user queries ClickHouse, and where. */
export type SelectTarget = {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Of an https URL. */
  readonly tls?: Tls;
};

export type Select = {
  readonly text: string;
  readonly params: ReadonlyMap<string, Param>;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly queryId: string;
  readonly signal?: AbortSignal;
  readonly onRead?: (rows: number) => void;
};

/** Longer addresses are left to the client, which sends values as a form: ClickHouse takes up to 1 MiB, Node's header less. */
const MAX_ADDRESS = 12_000;

/** How rows are written: parsed, or each column as the JSON text it has. */
export type RowFormat<R> = { readonly settings: Readonly<Record<string, string | number>>; parse(lines: string): R[] };

/** Lines of JSON arrays; lines have no other newlines. */
export const PARSED: RowFormat<Row> = {
  settings: { default_format: 'JSONCompactEachRow' },
  parse: (lines) => readJson(`[${lines.replaceAll('\n', ',')}]`) as Row[],
};

/** Lines of JSON strings separated by tabs; the strings have none. */
export const TEXTS: RowFormat<readonly string[]> = {
  settings: {
    default_format: 'CustomSeparated',
    format_custom_escaping_rule: 'JSON',
    format_custom_field_delimiter: '\t',
    format_custom_row_before_delimiter: '',
    format_custom_row_after_delimiter: '\n',
    output_format_json_escape_forward_slashes: 0,
  },
  parse: (lines) => lines.split('\n').map((line) => line.split('\t')),
};

/** Rows as bytes, and as they come: nothing of them is held back until the last is read. */
export const BINARY: RowFormat<never> = { settings: { default_format: 'RowBinary', wait_end_of_query: 0 }, parse: () => [] };

/** The same as blocks of columns. */
export const NATIVE: RowFormat<never> = { ...BINARY, settings: { ...BINARY.settings, default_format: 'Native' } };

/**
 * SELECTs over HTTP connections that are kept, whether ClickHouse holds their answer back until it is whole (`wait_end_of_query`) or not. It does what
 * `query` of @clickhouse/client does, in 1 ms instead of 3: the client lets a timer pass before each request and sends values
 * as a form (docs/adr/0009-latency-of-a-query.md); and of an answer that streams it holds one chunk and no more. A statement that went over a connection which ClickHouse was just closing is sent once more, over a new one.
 */
export class SelectClient {
  readonly #target: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #database: string;
  readonly #tls: Tls;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;

  constructor({ url, user, password, database, tls = {} }: SelectTarget) {
    this.#target = new URL(url);
    this.#headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password };
    this.#database = database;
    const { Agent, request } = this.#target.protocol === 'https:' ? https : http;
    this.#tls = tls;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64 });
    this.#request = request;
  }

  /** The path under which a statement is sent, or null where it is too long to be sent so. */
  path({ params, settings, queryId }: Select, format: RowFormat<unknown>): string | null {
    const query = new URLSearchParams({ database: this.#database });
    for (const [name, value] of Object.entries({ ...settings, ...format.settings })) query.set(name, String(value));
    for (const [name, { value }] of params) query.set(`param_${name}`, formatParam(value));
    query.set('query_id', queryId);
    const path = `${this.#target.pathname.replace(/\/?$/, '/')}?${query.toString()}`;
    return path.length > MAX_ADDRESS ? null : path;
  }

  /** The rows in chunks as they come in. Throws a ClickHouseError, or what the connection threw. */
  async *rows<R>(path: string, { text, signal, onRead }: Select, { parse }: RowFormat<R>): AsyncGenerator<R[]> {
    try {
      const response = await this.#send(path, Buffer.from(text), signal);
      if (response.statusCode !== 200) throw parseError(String(await bytesOf(response)));
      onRead?.(rowsRead(response));
      yield* rowsOf(response, parse);
    } catch (error) {
      // the error of a request that was given up is not the reason
      throw signal?.aborted === true ? signal.reason : error;
    }
  }

  /** The answer of a statement as bytes, in chunks as they come in. Throws as `rows` does, also where it breaks off. */
  async *bytes(path: string, { text, signal, onRead }: Select): AsyncGenerator<Buffer> {
    try {
      const response = await this.#send(path, Buffer.from(text), signal);
      if (response.statusCode !== 200) throw parseError(String(await bytesOf(response)));
      onRead?.(rowsRead(response));
      yield* wholeBytes(response);
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(path: string, body: Buffer, signal: AbortSignal | undefined): Promise<http.IncomingMessage> {
    try {
      return await this.#attempt(path, body, this.#agent, signal);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return await this.#attempt(path, body, false, signal);
    }
  }

  #attempt(path: string, body: Buffer, agent: http.Agent | false, signal: AbortSignal | undefined): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = this.#request(
        {
          // an IPv6 address without its brackets
          hostname: urlToHttpOptions(this.#target).hostname,
          port: this.#target.port,
          path,
          method: 'POST',
          agent,
          ...this.#tls,
          headers: { ...this.#headers, 'Content-Length': body.length },
          ...(signal === undefined ? {} : { signal }),
        },
        resolve,
      );
      request.on('error', (error: NodeJS.ErrnoException) => {
        const wasClosed = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(wasClosed ? new StaleConnection(error.message, { cause: error }) : error);
      });
      // whatever answered without an answer, such as an upgrade: what has settled before stays so
      request.on('close', () => {
        reject(new StaleConnection('The connection was closed before there was an answer.'));
      });
      request.end(body);
    });
  }
}

/** The rows that were read for an answer, by its header; 0 without one. */
function rowsRead({ headers }: http.IncomingMessage): number {
  const summary = headers['x-clickhouse-summary'];
  return typeof summary === 'string' ? Number(/"read_rows":"(\d+)"/.exec(summary)?.[1] ?? 0) : 0;
}

/** The connection was kept from an earlier statement and ended before this one was answered. */
class StaleConnection extends Error {
  readonly code = 'ECONNRESET';
}

const NEWLINE = 0x0a;
/** In no row: it begins an error that follows rows which were sent already. */
const RETURN = 0x0d;

/** The last rows come after the end of the answer: a reader that stops at one of them does not cost the connection. */
async function* rowsOf<R>(response: http.IncomingMessage, parse: (lines: string) => R[]): AsyncGenerator<R[]> {
  // a row may come in many chunks, and is put together once
  let parts: Buffer[] = [];
  let held: R[] | null = null;
  const tag = response.headers[EXCEPTION_TAG_HEADER_NAME];
  const chunks = (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  try {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      const chunk = next.value;
      if (typeof tag === 'string' && chunk.includes(RETURN)) throw extractErrorAtTheEndOfChunk(await restOf(chunk, chunks), tag);
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      if (end === 0) {
        parts.push(chunk);
        continue;
      }
      if (held !== null) yield held;
      held = parse(textOf([...parts, chunk.subarray(0, end - 1)]));
      parts = end < chunk.length ? [chunk.subarray(end)] : [];
    }
    if (held !== null) yield held;
    if (parts.length > 0) yield parse(textOf(parts));
  } finally {
    // a reader that stops before the end
    await chunks.return?.();
  }
}

/** An error at the end of an answer is shorter. Bytes. */
const MOST_ERROR = 65_536;

/** The bytes of an answer. So much of its end is held back as an error may take that follows on what was sent already. */
async function* wholeBytes(response: http.IncomingMessage): AsyncGenerator<Buffer> {
  const tag = response.headers[EXCEPTION_TAG_HEADER_NAME];
  const held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    held.push(chunk);
    bytes += chunk.length;
    while (bytes - (held[0] as Buffer).length >= MOST_ERROR) {
      const first = held.shift() as Buffer;
      bytes -= first.length;
      yield first;
    }
  }
  const end = Buffer.concat(held);
  const mark = Buffer.from(`${String(tag)}\r\n__exception__\r\n`);
  if (typeof tag === 'string' && end.subarray(-mark.length).equals(mark)) throw extractErrorAtTheEndOfChunk(end, tag);
  if (end.length > 0) yield end;
}

/** A chunk with all that follows it. */
async function restOf(first: Buffer, chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const all = [first];
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) all.push(next.value);
  return Buffer.concat(all);
}

const textOf = (parts: readonly Buffer[]): string => (parts.length === 1 ? String(parts[0]) : String(Buffer.concat(parts)));

async function bytesOf(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A value as ClickHouse reads it in `param_…`: text as in TSV, an array as in SQL. */
export function formatParam(value: Param['value']): string {
  if (typeof value === 'string') return escapeText(value);
  if (typeof value === 'object')
    return `[${value.map((one) => (typeof one === 'string' ? `'${escapeText(one)}'` : String(one))).join(',')}]`;
  if (Number.isNaN(value)) return 'nan';
  if (value === Infinity) return '+inf';
  return value === -Infinity ? '-inf' : String(value);
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', "'": "\\'", '\\': '\\\\', '\0': '\\0' };
const escapeText = (text: string): string => text.replace(/[\t\n\r'\\\0]/g, (char) => ESCAPES[char] ?? char);
