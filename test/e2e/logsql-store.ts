import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { startClickHouse, type ClickHouse } from '../../compose/embedded/clickhouse.ts';
import { Literal, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { parseStream } from '../../pipeline/core/labels.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import { patternOf } from '../../logsql/values/message-pattern.ts';
import { Store } from '../../pipeline/store/client.ts';
import { atEnd } from '../at-end.ts';
import { migrate } from '../../pipeline/store/migrations.ts';

/** Those that no store uses now. */
const idle: ClickHouse[] = [];

/** Ends with the tests of this process, and with the process. */
async function startEngine(): Promise<ClickHouse> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-logsql-'));
  const clickhouse = await startClickHouse({ dataDir: folder });
  const end = (): void => {
    clickhouse.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  atEnd(end);
  process.once('exit', end);
  return clickhouse;
}

/**
 * A ClickHouse of its own with the product's tables, new ones, into which entries are put without Kafka. One that was
 * stopped stays up without tables for the next: a start takes longer than the tables.
 */
export class LogsqlStore {
  readonly store: Store;
  readonly #engine: ClickHouse;
  #inserts = 0;
  protected constructor(engine: ClickHouse, store: Store) {
    this.#engine = engine;
    this.store = store;
  }

  static async start(): Promise<LogsqlStore> {
    const engine = idle.pop() ?? (await startEngine());
    const { url, user, password, database, readerUser, readerPassword } = engine;
    const store = new Store({ url, user, password, database, readerUser, readerPassword });
    await migrate(store);
    return new LogsqlStore(engine, store);
  }

  /** How it is reached. */
  get config(): ConstructorParameters<typeof Store>[0] {
    const { url, user, password, database, readerUser, readerPassword } = this.#engine;
    return { url, user, password, database, readerUser, readerPassword };
  }

  /** The same tables without the row filter of readers: what is seen here is what statements alone let through. Closed by its user. */
  withoutRowFilter(): Store {
    const { url, user, password, database } = this.#engine;
    return new Store({ url, user, password, database, readerUser: user, readerPassword: password });
  }

  /** The same tables through another client. Closed by its user. */
  open<Own extends Store>(client: new (config: ConstructorParameters<typeof Store>[0]) => Own): Own {
    return new client(this.config);
  }

  /** Puts entries (oldest first) into the tables of a tenant; those with equal times arrive in their order. */
  async insert(tenantId: number, entries: readonly LogEntry[]): Promise<void> {
    const batch = (this.#inserts += 1);
    const streams = new Map<string, { readonly id: string; readonly days: Set<string> }>();
    const lines = entries.map((entry, index) => {
      const text = textOf(entry.get('_stream')) || '{}';
      const at = parseTime(textOf(entry.get('_time'))) ?? 0n;
      const stream = streams.get(text) ?? { id: streamId(text), days: new Set<string>() };
      streams.set(text, stream);
      const time = clickHouseTime(at);
      stream.days.add(time.slice(0, 10));
      return JSON.stringify({
        tenant_id: tenantId,
        _time: time,
        arrived: '2026-11-18 12:00:00.000',
        kafka_part: 0,
        kafka_off: batch,
        kafka_idx: index,
        retention_days: 0,
        stream_id: stream.id,
        severity: 0,
        pattern: patternNumber(textOf(entry.get('_msg'))),
        ...columnsOf(entry),
      });
    });
    const rows = [...streams].flatMap(([text, { id, days }]) =>
      [...days].map((day) =>
        JSON.stringify({
          tenant_id: tenantId,
          day,
          stream_id: id,
          _stream: text,
          labels: Object.fromEntries(parseStream(text)),
          retention_days: 0,
        }),
      ),
    );
    await this.put('streams', rows);
    await this.put('logs', lines);
  }
  /** Puts rows as JSON into a table. */
  protected async put(table: 'logs' | 'streams', lines: readonly string[], into = this.store): Promise<void> {
    if (lines.length > 0)
      await into.insert(`INSERT INTO ${table} FORMAT JSONEachRow`, [Buffer.from(lines.join('\n'))], {
        queryId: `test-${table}-${String(Math.random())}`,
        settings: {},
      });
  }

  /** Called when rows were put into a table otherwise: where there are shards, they get theirs. */
  async spread(_table: string): Promise<void> {
    // one shard has all
  }

  async stop(): Promise<void> {
    await this.store.ownerRows('DROP DATABASE logweir SYNC');
    await this.store.close();
    idle.push(this.#engine);
  }
}

/** As ingest works it out. */
function patternNumber(message: string): string {
  const digits = patternOf(message);
  return digits === '' ? '0' : BigInt(`0x${digits}`).toString();
}

const streamId = (text: string): string => BigInt(`0x${createHash('sha1').update(text).digest('hex').slice(0, 16)}`).toString();

function clickHouseTime(ns: bigint): string {
  const second = ns - (((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n);
  return `${new Date(Number(second / 1_000_000n)).toISOString().slice(0, 19).replace('T', ' ')}.${(ns - second).toString().padStart(9, '0')}`;
}

/** The columns of `logs` that hold an entry's fields, as record codec and sink fill them. */
function columnsOf(entry: LogEntry): Record<string, unknown> {
  const own: Record<string, string> = { level: '', service: '', trace_id: '', span_id: '', _msg: '' };
  const fields: [string, string][] = [];
  const types: string[] = [];
  for (const [name, value] of entry) {
    if (name === '_time' || name === '_stream') continue;
    const isTyped = value instanceof Literal;
    if (isTyped) types.push(name);
    if (Object.hasOwn(own, name)) own[name] = textOf(value);
    if (!Object.hasOwn(own, name) || (isTyped && name.endsWith('_id'))) fields.push([name, textOf(value)]);
  }
  return { ...own, fields: Object.fromEntries(fields), json_keys: types };
}
