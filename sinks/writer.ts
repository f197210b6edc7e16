import type { ClickHouseSettings } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Fault } from '../pipeline/bus/records/dead-letter.ts';
import type { Range, RangeStore, Refusal, Stored } from '../pipeline/bus/consumer/range.ts';
import { appendedAt, positionOf } from '../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../pipeline/bus/records/signal-record.ts';
import { isOn } from '../pipeline/core/fault-points.ts';
import type { Store } from '../pipeline/store/client.ts';
import { FENCE_QUERY, FENCE_STATEMENT, fenceRow } from './insert-fence.ts';
import { MAX_PARTITIONS, type Insert, type Sink } from './sink.ts';
import { ServerWatch, type ServerLook } from './server-watch.ts';
import { storedRows } from './stored-rows.ts';
import { findRefused, isOutOfMemory, mayBeCutOff, refusalOf } from './refused.ts';

/** How an insert must be made for its block to be formed once and in the order of the rows. */
const SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  ...(isOn('deduplication')
    ? { insert_deduplicate: 1, deduplicate_blocks_in_dependent_materialized_views: 1 }
    : {
        insert_deduplicate: 0,
        deduplicate_insert: 'disable',
        deduplicate_insert_select: 'disable',
        deduplicate_blocks_in_dependent_materialized_views: 0,
      }),
  ...(isOn('one-block') ? { max_threads: 1, max_insert_threads: '1', input_format_parallel_parsing: 0 } : {}),
  // a range is one block, and so one part for each partition of the table
  min_insert_block_size_rows: '1000000',
  min_insert_block_size_bytes: '1000000000',
  max_partitions_per_insert_block: MAX_PARTITIONS,
  max_execution_time: 120,
};

const JOINS = isOn('joint-insert');
const HAS_TOKEN = isOn('token');
const FENCES = isOn('fence');
const READS_BACK = isOn('read-back');

const INSERT_DEADLINE_MS = 130_000;
/** A connection may stay open and silent: what is short by nature is not waited for as long. */
const READ_DEADLINE_MS = 30_000;
/** How many fences are remembered. */
const MAX_FENCES = 1000;
/** How many tokens of a range may be spent, of rows that the table has lost. */
const MOST_TOKENS = 20;

export type WriterMetrics = {
  stored(table: string, rows: number, bytes: number, seconds: number): void;
  /** A range was dealt with (null), or could not be, which is tried again. */
  outcome?(table: string, error: unknown): void;
};

/**
 * What identifies the rows of a record in the table: its position, and when it was appended, since offsets are reused after log
 * truncation.
 */
const keyOf = (record: SignalRecord): string => `${String(positionOf(record))}@${String(record.timestamp)}`;

/** How many rows of a record are in the table, and how many different ones. */
type Found = { readonly count: number; readonly distinct: number };

/** What the inserts of a range, and of its partition, are called, and the token of its first one. */
type InsertNames = { readonly name: string; readonly partition: string; readonly token: string };

export type TableWriterOptions = {
  readonly sink: Sink;
  readonly store: Store;
  readonly log: Logger;
  readonly metrics: WriterMetrics;
  /** When this number of records of a range are refused, no more are looked for. */
  readonly mostRefused: number;
};

/** Stores ranges of a topic in a table, each exactly once: a token for each range, and a look at what is there before a repeat. */
export class TableWriter implements RangeStore {
  readonly #sink: Sink;
  readonly #store: Store;
  readonly #log: Logger;
  readonly #metrics: WriterMetrics;
  readonly #mostRefused: number;
  readonly #watch: ServerWatch;
  /** The server's run that the sink's knowledge is of. */
  #run: number | null = null;
  /** Whether the table has replicas, and in which run that was asked. */
  #replicas: { readonly run: number; readonly are: boolean } | null = null;
  #joins: boolean | null = null;
  /** The fences that stand, or are being put up. */
  readonly #fences = new Map<string, Promise<void>>();

  constructor(options: TableWriterOptions) {
    this.#sink = options.sink;
    this.#store = options.store;
    this.#watch = new ServerWatch(options.store);
    this.#log = options.log;
    this.#metrics = options.metrics;
    this.#mostRefused = options.mostRefused;
  }

  async store(range: Range, repeated: boolean): Promise<Stored> {
    try {
      const refused = await this.#storeAtOnce(range, repeated);
      this.#metrics.outcome?.(this.#sink.table, null);
      if (refused !== null) return refused;
    } catch (error) {
      this.#metrics.outcome?.(this.#sink.table, error);
      if (!isOutOfMemory(error)) throw error;
      const { partition, start, end, rows } = range;
      const cannotFence = start === end || (await this.#isReplicated());
      this.#log.warn(
        { err: error, partition, start, end, rows },
        cannotFence
          ? 'ClickHouse lacks the memory for a range that cannot be split; retrying.'
          : 'ClickHouse lacks the memory for a range; it is stored in halves.',
      );
      if (cannotFence) throw error;
    }
    await this.fence(this.#namesOf(range).name);
    return 'too large';
  }

  /** The records that are refused; null where the inserts of this range are fenced, since it was too large before. */
  async #storeAtOnce(all: Range, repeated: boolean): Promise<readonly Refusal[] | null> {
    const inDoubt = all.inDoubt ?? null;
    const again = repeated || inDoubt !== null;
    const { partition, name } = this.#namesOf(all);
    if (again) await this.#waitForRunning(inDoubt === null ? name : partition);
    const rest = await this.#withoutStored(all);
    if (rest.rows === 0) return [];
    const before = await this.#look();
    // where rows are in doubt, so is what was written before them
    if (again) this.#sink.forget();
    const isReadBack = again && READS_BACK;
    if (isReadBack && (await this.#isStored(rest, name))) return [];
    // ClickHouse remembers blocks, not inserts, and not for ever: of a range that may be there in part only the rest is inserted
    const range = isReadBack ? { ...rest, inDoubt: inDoubt ?? appendedAt(rest.records.at(-1)) } : rest;
    await this.#sink.prepare(range.records, this.#store);
    const began = performance.now();
    // the range token also with fewer records than before: ClickHouse drops an insert whose token it knows (docs/adr/0008-dead-letters.md)
    const token = `${range.topic}:${String(range.partition)}:${String(range.start)}-${String(range.end)}`;
    let bytes: number | null;
    try {
      bytes = await this.#insert(range, { name, partition, token, before });
    } catch (error) {
      // a body that was cut off on its way gives the error of one that cannot be read: it is sent once more
      if (!repeated && mayBeCutOff(error)) throw error;
      const refused = refusalOf(error) === null ? [] : await this.#refusedOf(range);
      if (refused.length === 0) throw error;
      return refused;
    }
    if (bytes === null) return null;
    this.#metrics.stored(this.#sink.table, range.rows, bytes, (performance.now() - began) / 1000);
    return [];
  }

  /** What the inserts of a partition's ranges are called, and those of this range, which are fenced by this name. */
  #namesOf({ topic, partition, start, end }: Range): { readonly partition: string; readonly name: string } {
    const all = `${this.#sink.name}-${topic}-${String(partition)}`;
    return { partition: all, name: `${all}-${String(start)}-${String(end)}` };
  }

  /** A fence must be seen by each insert that begins after it: not where the table has replicas. */
  async joins(): Promise<boolean> {
    return (this.#joins ??= JOINS && this.#sink.insertAll !== undefined && !(await this.#isReplicated()));
  }

  async storeJointly(id: string, ranges: readonly Range[]): Promise<void> {
    const filled = ranges.map((range) => ({ ...range, records: range.records.filter(({ count }) => count > 0) }));
    const rows = filled.reduce((sum, range) => sum + range.rows, 0);
    const insert = this.#sink.insertAll?.(filled, { fence: id });
    if (rows === 0 || insert === undefined) return;
    const before = await this.#look();
    await this.#sink.prepare(
      filled.flatMap(({ records }) => records),
      this.#store,
    );
    const began = performance.now();
    const { written, bytes } = await this.#send(insert, id, id);
    if (written !== rows) throw new Error(`ClickHouse wrote ${String(written)} of ${String(rows)} rows of insert ${id}.`);
    if (!(await this.#hasKept(before)))
      for (const range of filled) if (!(await this.#isStored(range, id))) throw new Error(`ClickHouse has not all rows of insert ${id}.`);
    this.#metrics.outcome?.(this.#sink.table, null);
    this.#metrics.stored(this.#sink.table, rows, bytes, (performance.now() - began) / 1000);
  }

  fence(id: string): Promise<void> {
    const known = this.#fences.get(id);
    if (known !== undefined) return known;
    const fence = FENCES ? this.#putUpFence(id) : Promise.resolve();
    this.#fences.set(id, fence);
    fence.catch(() => this.#fences.delete(id));
    if (this.#fences.size > MAX_FENCES) for (const [oldest] of [...this.#fences].slice(0, MAX_FENCES / 2)) this.#fences.delete(oldest);
    return fence;
  }

  async #putUpFence(id: string): Promise<void> {
    await this.#store.insert(FENCE_STATEMENT, [fenceRow(id)], {
      queryId: `fence-${randomUUID()}`,
      settings: { async_insert: 0 },
      signal: AbortSignal.timeout(READ_DEADLINE_MS),
    });
    await this.#waitForRunning(id);
    this.#log.info({ insert: id }, 'An insert was fenced.');
  }

  async #isFenced(id: string): Promise<boolean> {
    const [row] = await this.#store.ownerRows(FENCE_QUERY, { id }, AbortSignal.timeout(READ_DEADLINE_MS));
    return Number(row?.[0] ?? 0) > 0;
  }

  /** Inserts what is missing of a range; throws unless all of it is in the table then. Resolves to the size of what was sent; null: it is fenced. */
  async #insert(range: Range, { name, partition, token, before }: InsertNames & { readonly before: ServerLook }): Promise<number | null> {
    const { written, bytes } = await this.#insertOnce(range, name, token);
    // of a repeat that ClickHouse has dropped the rows count as written: only the table itself shows it
    if (written === range.rows && (await this.#hasKept(before))) return bytes;
    if (await this.#isStored(range, name)) return bytes;
    if (range.start < range.end && (await this.#isFenced(name))) return null;
    const lack = `ClickHouse wrote ${String(written)} of ${String(range.rows)} rows of range ${name}.`;
    // a replica may not have yet what another one has accepted
    if (await this.#isReplicated()) throw new Error(lack);
    // the token was used for other rows, after log truncation, or the table has lost what it accepted
    const inDoubt = appendedAt(range.records.at(-1));
    await this.#waitForRunning(partition);
    for (let spent = 0; spent < MOST_TOKENS; spent++) {
      await this.#insertOnce({ ...range, inDoubt }, name, `${token}@${String(inDoubt)}${spent === 0 ? '' : `#${String(spent)}`}`);
      if (await this.#isStored(range, name)) return bytes;
    }
    throw new Error(lack);
  }

  #insertOnce(range: Range, name: string, token: string): Promise<{ readonly written: number; readonly bytes: number }> {
    return this.#send(this.#sink.insert(range, { fence: name }), name, token);
  }

  /** One insert: the rows that it wrote, and the size of what was sent. */
  async #send(
    { text, body, settings }: Insert,
    name: string,
    token: string,
  ): Promise<{ readonly written: number; readonly bytes: number }> {
    const written = await this.#store.insert(text, body, {
      queryId: `${name}-${randomUUID()}`,
      settings: { ...SETTINGS, ...settings, insert_deduplication_token: HAS_TOKEN ? token : randomUUID() },
      signal: AbortSignal.timeout(INSERT_DEADLINE_MS),
    });
    return { written, bytes: body.reduce((sum, part) => sum + part.length, 0) };
  }

  /** What the server said lately. Where it has begun anew, what the sink knows to be there may not be. */
  async #look(): Promise<ServerLook> {
    const look = await this.#watch.recent();
    if (this.#run !== null && this.#run !== look.run) this.#sink.forget();
    this.#run = look.run;
    return look;
  }

  /** Whether it is certain that the server has dropped none of what it was sent since `before`. What one replica counts, another may not. */
  async #hasKept(before: ServerLook): Promise<boolean> {
    if (!READS_BACK) return true;
    if (this.#replicas?.run !== before.run) this.#replicas = { run: before.run, are: await this.#isReplicated() };
    return !this.#replicas.are && (await this.#watch.hasDroppedNone(before));
  }

  async #isReplicated(): Promise<boolean> {
    const [row] = await this.#store.ownerRows(
      'SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
      { table: this.#sink.table },
      AbortSignal.timeout(READ_DEADLINE_MS),
    );
    return String(row?.[0]).startsWith('Replicated');
  }

  /** The range without records that have no rows, and without replays of what is stored whole or comes earlier in it. */
  async #withoutStored(range: Range): Promise<Range> {
    const found = range.records.some(({ replayOf }) => replayOf !== null) ? await this.#find(range) : new Map<string, Found>();
    const keys = new Set<string>();
    const records = range.records.filter((record) => {
      const key = keyOf(record);
      const stored = record.replayOf !== null && found.get(key)?.distinct === record.count;
      if (record.count === 0 || stored || keys.has(key)) return false;
      keys.add(key);
      return true;
    });
    return { ...range, records, rows: records.reduce((sum, { count }) => sum + count, 0) };
  }

  /** The records of a range that the table refuses, found by inserts into a table like it that keeps nothing. */
  async #refusedOf(range: Range): Promise<Refusal[]> {
    const table = `${this.#sink.table}_trial_${String(range.partition)}`;
    await this.#store.command(`CREATE OR REPLACE TABLE ${table} AS ${this.#sink.table} ENGINE = Null`);
    try {
      return await findRefused(range.records, (records) => this.#try(range, records, table), this.#mostRefused);
    } finally {
      await this.#store.command(`DROP TABLE IF EXISTS ${table}`);
    }
  }

  /** What the table has against these records; null where it takes them. */
  async #try(range: Range, records: readonly SignalRecord[], table: string): Promise<Fault | null> {
    const rows = records.reduce((sum, { count }) => sum + count, 0);
    const { text, body, settings } = this.#sink.insert({ ...range, records, rows, inDoubt: null }, { table });
    try {
      await this.#store.insert(text, body, {
        queryId: `trial-${randomUUID()}`,
        settings: { ...SETTINGS, ...settings },
        signal: AbortSignal.timeout(INSERT_DEADLINE_MS),
      });
      return null;
    } catch (error) {
      const fault = refusalOf(error);
      if (fault === null) throw error;
      return fault;
    }
  }

  /** Whether every row of a range is in the table; no insert of it may be running any more. */
  async #isStored(range: Range, name: string): Promise<boolean> {
    const rows = await this.#find(range);
    for (const [record, { count, distinct }] of rows) {
      if (count !== distinct) this.#log.error({ range: name, record, count, distinct }, 'A record is stored more than once.');
    }
    const complete = range.records.every((record) => rows.get(keyOf(record))?.distinct === record.count);
    this.#log.info({ range: name, rows: range.rows, complete }, 'A range was read back to verify it.');
    return complete;
  }

  /** The rows that are stored of a range, and of the records that it replays, by the record that they belong to. */
  async #find(range: Range): Promise<Map<string, Found>> {
    const where = storedRows(range, { own: true, replays: true });
    const found = await this.#store.ownerRows(
      `SELECT toString(kafka_off), toString(toUnixTimestamp64Milli(arrived)), toString(count()), toString(uniqExact(kafka_idx)) FROM ${this.#sink.table}
       WHERE ${where} GROUP BY kafka_off, arrived`,
      {},
      AbortSignal.timeout(READ_DEADLINE_MS),
    );
    return new Map(
      found.map((row) => {
        const [offset = 0, arrived = 0, count = 0, distinct = 0] = row.map(Number);
        return [`${String(offset)}@${String(arrived)}`, { count, distinct }];
      }),
    );
  }

  async highest(partition: number, from: number, since: number | null): Promise<number> {
    const appended = since === null ? '' : ' AND toUnixTimestamp64Milli(arrived) >= {since:Int64}';
    try {
      const [row] = await this.#store.ownerRows(
        `SELECT toString(ifNull(maxOrNull(kafka_off), -1)) FROM ${this.#sink.table} WHERE kafka_part = {part:UInt16} AND kafka_off >= {from:UInt64}${appended}`,
        { part: partition, from, ...(since === null ? {} : { since }) },
        AbortSignal.timeout(READ_DEADLINE_MS),
      );
      this.#metrics.outcome?.(this.#sink.table, null);
      return Number(row?.[0] ?? -1);
    } catch (error) {
      // no insert is made before it is known
      this.#metrics.outcome?.(this.#sink.table, error);
      throw error;
    }
  }

  async #waitForRunning(name: string): Promise<void> {
    const deadline = Date.now() + INSERT_DEADLINE_MS;
    for (;;) {
      const [row] = await this.#store.ownerRows(
        'SELECT count() FROM system.processes WHERE startsWith(query_id, {name:String})',
        { name: `${name}-` },
        AbortSignal.timeout(READ_DEADLINE_MS),
      );
      if (Number(row?.[0]) === 0) return;
      if (Date.now() > deadline) throw new Error(`An insert of range ${name} has been running for ${String(INSERT_DEADLINE_MS)} ms.`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
