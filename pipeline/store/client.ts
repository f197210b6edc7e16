import { ClickHouseError, createClient, type ClickHouseClient, type ClickHouseSettings } from '@clickhouse/client';
import https from 'node:https';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseAccess } from '../core/config-sets.ts';
import { coldUnavailable, HttpError, invalidParameter, queryTimeout, storeUnavailable } from '../core/errors.ts';
import { bodyWith } from '../core/fault-points.ts';
import { renderSql, type Sql } from '../core/sql.ts';
import { quietClickHouseLog } from './client-log.ts';
import { BINARY, NATIVE, PARSED, SelectClient, TEXTS, type Row, type Select } from './select.ts';

/** Whose rows a query may see, how long it may run (milliseconds), and what may end it early. */
export type QueryOptions = {
  readonly tenantId: number;
  readonly timeoutMs: number;
  /** The request that it is for: ClickHouse's `query_id` begins with it. */
  readonly requestId?: string;
  readonly signal?: AbortSignal;
  /** Called for a statement that `signal` has ended: `ended` settles when it no longer runs, or is known not to exist. */
  readonly onKill?: (ended: Promise<void>) => void;
  /** Called with the rows that a statement has read, where its answer is buffered until it is whole. */
  readonly onRead?: ((rows: number) => void) | undefined;
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Of `bytes`: blocks of columns, as Native has them, in place of rows. */
  readonly isNative?: boolean;
};

export type { Row } from './select.ts';

/** A statement that runs in ClickHouse for a tenant, and the CPU time that it has used so far, milliseconds. */
export type RunningStatement = { readonly id: string; readonly tenantId: number; readonly cpuMs: number };

const MAX_RESULT_MEMORY = 1_000_000_000;
const PING_DEADLINE_MS = 2000;
/** A statement that was given up may not have begun when it is killed first. Milliseconds. */
const KILL_AGAIN_MS = 1000;
/** The longest wait for the end of one. Milliseconds. */
const KILL_MS = 10_000;
/** A range of 10,000 records has four numbers for each in its statement. */
const MAX_STATEMENT_BYTES = 4_000_000;

const RUNNING = `SELECT query_id, toUInt32OrZero(Settings['log_comment']) AS tenant_id, intDiv(ProfileEvents['OSCPUVirtualTimeMicroseconds'], 1000)
FROM system.processes WHERE user = {user:String} AND (current_database = {database:String} OR NOT is_initial_query) AND tenant_id > 0`;
/**
 * What a statement over all shards of a set needs: rows that are found first are sent to each shard; one shard that is unavailable fails it, as
 * it would give half an answer else; and it is not waited for longer than a query has.
 */
const OVER_SHARDS = {
  distributed_product_mode: 'global',
  skip_unavailable_shards: 0,
  connections_with_failover_max_tries: 2,
  // conditions that ClickHouse 26.7 moves into a subquery are held twice against rows, and times before 1970 cannot be read there
  allow_push_predicate_ast_for_distributed_subqueries: 0,
};

/** ClickHouse over HTTP: a reader for queries, behind the tenant's row filter, and the owner for writes and migrations. */
export class Store {
  readonly database: string;
  /** The owner without a database, for when there is none yet. */
  readonly #server: ClickHouseClient;
  readonly #owner: ClickHouseClient;
  readonly #reader: ClickHouseClient;
  readonly #select: SelectClient;
  readonly #mark: string;
  readonly #readerUser: string;
  /** Where the reader's statements run. */
  readonly #front: string;

  /** `mark` ends the `query_id` of each of its queries, so that all of them can be ended together (`endMarked`). */
  constructor(config: ClickHouseAccess, mark = '') {
    this.database = config.database;
    this.#mark = mark;
    this.#readerUser = config.readerUser;
    this.#front = config.front ?? config.database;
    const common = {
      url: config.url,
      log: { LoggerClass: quietClickHouseLog },
      keep_alive: { enabled: true, idle_socket_ttl: 2000 },
      request_timeout: 600_000,
    };
    const owner = { ...common, username: config.user, password: config.password };
    this.#server = createClient({ ...owner, ...connections(config, 16) });
    this.#owner = createClient({ ...owner, ...connections(config, 16), database: config.database });
    this.#reader = createClient({
      ...common,
      username: config.readerUser,
      password: config.readerPassword,
      database: this.#front,
      ...connections(config, 64),
      use_multipart_params: true,
    });
    const { url, tls, readerUser, readerPassword } = config;
    this.#select = new SelectClient({
      url,
      database: this.#front,
      user: readerUser,
      password: readerPassword,
      ...(tls === undefined ? {} : { tls }),
    });
  }

  /**
   * Runs a SELECT and yields its rows in chunks as they arrive. Values go as bound parameters only. The tenant is put into
   * `log_comment` too, which the reader's row filter demands (docs/architecture.md, tenant isolation).
   * Throws HttpError: 504 time or memory, 400 a regexp or depth that ClickHouse refuses, 429 too many queries, 503 unreachable.
   */
  query(statement: Sql, options: QueryOptions): AsyncGenerator<Row[]> {
    const select = this.#selectOf(statement, options);
    const path = this.#select.path(select, PARSED);
    return this.#answered(select, options, path === null ? this.#long(select) : this.#select.rows(path, select, PARSED));
  }

  /** As `query`, but each column as its JSON text; null for a statement that has too many values for it. */
  texts(statement: Sql, options: QueryOptions): AsyncGenerator<(readonly string[])[]> | null {
    const select = this.#selectOf(statement, options);
    const path = this.#select.path(select, TEXTS);
    return path === null ? null : this.#answered(select, options, this.#select.rows(path, select, TEXTS));
  }

  /** As `query`, but the rows as bytes of RowBinary, or of Native, in chunks that end anywhere. Throws HttpError 400 for more values than a statement can have. */
  bytes(statement: Sql, options: QueryOptions): AsyncGenerator<Buffer> {
    const select = this.#selectOf(statement, options);
    const path = this.#select.path(select, options.isNative === true ? NATIVE : BINARY);
    if (path === null) throw invalidParameter('The query has too many values, or values that are too long.');
    return this.#answered(select, options, this.#select.bytes(path, select));
  }

  /** The rows; what ends them early ends the statement too. ClickHouse itself looks only as it reads whether the other end is still there. */
  async *#answered<T>({ queryId, signal }: Select, { onKill }: QueryOptions, rows: AsyncGenerator<T>): AsyncGenerator<T> {
    const kill = (): void => {
      const ended = this.#kill(queryId);
      onKill?.(ended);
    };
    if (signal?.aborted !== true) signal?.addEventListener('abort', kill, { once: true });
    try {
      yield* rows;
    } catch (error) {
      throw toHttpError(error);
    } finally {
      signal?.removeEventListener('abort', kill);
    }
  }

  /** Ends a statement of the reader, and waits until it has. One that had not begun yet is ended a second later. */
  async #kill(queryId: string): Promise<void> {
    if (await this.#killed('query_id = {id:String}', queryId)) return;
    void sleep(KILL_AGAIN_MS, undefined, { ref: false }).then(() => this.#killed('query_id = {id:String}', queryId));
  }

  /** Ends all queries with this mark, whose process has ended, and waits for that (10 s at most); those that begin within a second too. */
  async endMarked(mark: string): Promise<void> {
    if (mark === '') throw new Error('BUG: Queries without a mark cannot be distinguished.');
    await this.#killed('endsWith(query_id, {id:String})', mark);
    void sleep(KILL_AGAIN_MS, undefined, { ref: false }).then(() => this.#killed('endsWith(query_id, {id:String})', mark));
  }

  /** The statements of tenants that run now, of all processes, also those that another shard has sent. Rejects after 2 s. */
  async runningStatements(): Promise<RunningStatement[]> {
    const rows = await this.ownerRows(RUNNING, { user: this.#readerUser, database: this.#front }, AbortSignal.timeout(PING_DEADLINE_MS));
    return rows.map(([id, tenantId, cpuMs]) => ({ id: String(id), tenantId: Number(tenantId), cpuMs: Number(cpuMs) }));
  }

  /** False where no query matched, or this user must not end it. */
  async #killed(condition: string, id: string): Promise<boolean> {
    try {
      const result = await this.#owner.query({
        query: `KILL QUERY WHERE ${condition} SYNC`,
        query_params: { id },
        format: 'JSONCompactEachRow',
        abort_signal: AbortSignal.timeout(KILL_MS),
      });
      return (await result.json<Row>()).length > 0;
    } catch {
      return false;
    }
  }

  #selectOf(statement: Sql, options: QueryOptions): Select {
    const { requestId, signal, onRead } = options;
    return {
      ...renderSql(statement),
      settings: this.#front === this.database ? settingsOf(options) : { ...OVER_SHARDS, ...settingsOf(options) },
      queryId: queryIdOf(requestId ?? 'logweir') + this.#mark,
      ...(signal === undefined ? {} : { signal }),
      ...(onRead === undefined ? {} : { onRead }),
    };
  }

  /** A statement with many values. */
  async *#long({ text, params, settings, queryId, signal }: Select): AsyncGenerator<Row[]> {
    const result = await this.#reader.query({
      query: text,
      format: 'JSONCompactEachRow',
      query_params: Object.fromEntries([...params].map(([name, param]) => [name, param.value])),
      query_id: queryId,
      ...(signal === undefined ? {} : { abort_signal: signal }),
      clickhouse_settings: settings,
    });
    const stream = result.stream<Row>();
    // the client's own signal ends only what has not begun to be answered
    const end = (): void => void stream.destroy(signal?.reason as Error);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    try {
      for await (const rows of stream) yield rows.map((row) => row.json<Row>());
    } finally {
      signal?.removeEventListener('abort', end);
      result.close();
    }
  }

  /** All rows of a SELECT; for results that are small by construction. */
  async rows(statement: Sql, options: QueryOptions): Promise<Row[]> {
    const all: Row[] = [];
    for await (const chunk of this.query(statement, options)) all.push(...chunk);
    return all;
  }

  /** Rows of a statement of our own fixed text, as the owner and without a tenant: migrations, read-back, audits. */
  async ownerRows(text: string, params: Record<string, unknown> = {}, signal?: AbortSignal, requestId?: string): Promise<Row[]> {
    const result = await this.#owner.query({
      query: text,
      format: 'JSONCompactEachRow',
      query_params: params,
      ...(requestId === undefined ? {} : { query_id: queryIdOf(requestId) }),
      ...(signal === undefined ? {} : { abort_signal: signal }),
    });
    return result.json<Row>();
  }

  async createDatabase(): Promise<void> {
    await this.#server.command({ query: `CREATE DATABASE IF NOT EXISTS ${this.database}` });
  }

  /** Runs a statement of our own fixed text that has no result (DDL), as the owner. */
  async command(text: string, settings: ClickHouseSettings = {}): Promise<void> {
    await this.#owner.command({ query: text, clickhouse_settings: settings });
  }

  /**
   * Sends `INSERT … FORMAT …` with a body of ready-made bytes. Resolves when ClickHouse has written it all, with the number of
   * rows it reports. The body is not retried here: the caller repeats the same range under the same token.
   */
  async insert(
    text: string,
    body: readonly Buffer[],
    options: { readonly queryId: string; readonly settings: ClickHouseSettings; readonly signal?: AbortSignal },
  ): Promise<number> {
    // what stands in the URL may not have more than 128 KiB; ClickHouse reads on in the body
    const [head = '', ...rest] = text.split('\n');
    const statement = rest.length === 0 ? [] : [Buffer.from(`${rest.join('\n')}\n`)];
    const result = await this.#owner.exec({
      query: head,
      values: Readable.from(bodyWith('mid-insert', text, [...statement, ...body]), { objectMode: false, highWaterMark: 1 << 20 }),
      query_id: options.queryId,
      ...(options.signal === undefined ? {} : { abort_signal: options.signal }),
      clickhouse_settings: { wait_end_of_query: 1, max_query_size: String(MAX_STATEMENT_BYTES), ...options.settings },
    });
    result.stream.resume();
    await finished(result.stream);
    return Number(result.summary?.written_rows ?? NaN);
  }

  /** True when the engine answers within 2 s. Those that wait for one that is silent take no connections from writes. */
  async ping(): Promise<boolean> {
    return (await this.#server.ping({ select: false, abort_signal: AbortSignal.timeout(PING_DEADLINE_MS) })).success;
  }

  async close(): Promise<void> {
    this.#select.close();
    await Promise.all([this.#server.close(), this.#owner.close(), this.#reader.close()]);
  }
}

type ClientOptions = NonNullable<Parameters<typeof createClient>[0]>;

/** With the client's own TLS a certificate would take the place of the password. */
function connections({ tls }: ClickHouseAccess, most: number): Pick<ClientOptions, 'http_agent' | 'max_open_connections'> {
  if (tls === undefined) return { max_open_connections: most };
  return { http_agent: new https.Agent({ ...tls, keepAlive: true, maxSockets: most }) };
}

/** A request has several statements, and a client may send its id again: ClickHouse refuses an id that is running. */
const queryIdOf = (requestId: string): string => `${requestId}-${randomUUID()}`;

const settingsOf = ({ tenantId, timeoutMs, settings }: QueryOptions): Record<string, string | number> => ({
  log_comment: String(tenantId),
  max_execution_time: Math.max(1, Math.ceil(timeoutMs / 1000)),
  max_memory_usage: String(MAX_RESULT_MEMORY),
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  wait_end_of_query: 1,
  // a query mostly looks at several keys of the map: it is decoded once, not once for each of them
  optimize_functions_to_subcolumns: 0,
  // a search stops at its limit: nothing is read ahead of it
  read_in_order_use_buffering: 0,
  ...settings,
});

const TIME = new Set(['159', '160', '394']);
/** ClickHouse does not reach the store of old rows. */
const COLD = '499';
/** ClickHouse does not reach what it needs for an answer: a socket was silent, the network failed, or no connection came about. */
const CUT_OFF = new Set(['209', '210', '279']);
/** Another shard has ended in the middle of its answer: nothing more could be read of it, or not all of a block. */
const BROKEN = new Set(['32', '33']);
const BROKEN_OFF = /while receiving packet from/;
/** ClickHouse's parser gives up: too deep, or too many parts. */
const NESTED = new Set(['167', '168', '306']);
const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH', 'UND_ERR_SOCKET']);

/** Whether an error is that ClickHouse, or what it needs, is unavailable: another set may answer. */
export const isUnavailable = (error: unknown): boolean => {
  const known = toHttpError(error);
  return known instanceof HttpError && known.slug === storeUnavailable().slug;
};

/** The error that an analyst gets for one of ClickHouse; an unexpected one is passed on as it is (a 500, and a bug). */
export function toHttpError(error: unknown): unknown {
  if (error instanceof HttpError) return error;
  if (error instanceof ClickHouseError) {
    if (error.code === COLD) return coldUnavailable(error);
    if (CUT_OFF.has(error.code) || (BROKEN.has(error.code) && BROKEN_OFF.test(error.message))) return storeUnavailable(error);
    if (TIME.has(error.code)) return queryTimeout('The query ran too long; narrow the time range or simplify the query.');
    if (error.code === '241') return queryTimeout('The query needs too much memory; narrow the time range or simplify the query.');
    if (error.code === '191')
      return queryTimeout('A query inside another one would hold more values than the query may have; narrow the query or its time range.');
    if (error.code === '158' || error.code === '396')
      return queryTimeout('The query reads or returns too many rows; narrow the time range.');
    if (error.code === '427') return invalidParameter('The query holds a regexp that RE2 does not accept.');
    if (NESTED.has(error.code) || (error.code === '62' && error.message.includes('Max query size')))
      return invalidParameter('The query is nested too deeply, or has too many parts.');
    if (error.code === '202') return new HttpError(429, 'rate_limited', 'Too many queries run at once.', { retryAfter: 1 });
    return error;
  }
  const code = (error as { code?: unknown } | null)?.code;
  const message = error instanceof Error ? error.message : '';
  if ((typeof code === 'string' && UNREACHABLE.has(code)) || /socket hang up|Timeout error/.test(message)) return storeUnavailable(error);
  return error;
}
