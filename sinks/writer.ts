import type { ClickHouseSettings } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Range, RangeStore } from '../pipeline/bus/range-consumer.ts';
import type { Store } from '../pipeline/store/client.ts';
import type { Sink } from './sink.ts';

/** How an insert must be made for its block to be formed once and in the order of the rows. */
const SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  max_threads: 1,
  max_insert_threads: '1',
  input_format_parallel_parsing: 0,
  // partitions by day, month and year stay under 500 for any mix of times and plans (docs/adr/0001)
  max_partitions_per_insert_block: '1000',
  max_execution_time: 120,
};

const INSERT_DEADLINE_MS = 130_000;

export type WriterMetrics = { stored(table: string, rows: number, bytes: number, seconds: number): void };

/** Stores ranges of a topic in a table, each exactly once: a token for each range, and a look at what is there before a repeat. */
export class TableWriter implements RangeStore {
  readonly #sink: Sink;
  readonly #store: Store;
  readonly #log: Logger;
  readonly #metrics: WriterMetrics;

  constructor(options: { readonly sink: Sink; readonly store: Store; readonly log: Logger; readonly metrics: WriterMetrics }) {
    this.#sink = options.sink;
    this.#store = options.store;
    this.#log = options.log;
    this.#metrics = options.metrics;
  }

  async store(all: Range, again: boolean): Promise<void> {
    if (all.rows === 0) return;
    const range = { ...all, records: all.records.filter(({ count }) => count > 0) };
    const name = `${this.#sink.name}-${range.topic}-${String(range.partition)}-${String(range.start)}-${String(range.end)}`;
    if (again && (await this.#isStored(range, name))) return;
    await this.#sink.prepare(range, this.#store);
    const began = performance.now();
    const { text, body } = this.#sink.insert(range);
    const written = await this.#store.insert(text, body, {
      queryId: `${name}-${randomUUID()}`,
      settings: {
        ...SETTINGS,
        insert_deduplication_token: `${range.topic}:${String(range.partition)}:${String(range.start)}-${String(range.end)}`,
      },
      signal: AbortSignal.timeout(INSERT_DEADLINE_MS),
    });
    // a repeat that was recognised by its token writes nothing, so only the table itself can tell
    if (written !== range.rows && !(await this.#isStored(range, name))) {
      throw new Error(`ClickHouse wrote ${String(written)} of ${String(range.rows)} rows of range ${name}.`);
    }
    const bytes = body.reduce((sum, part) => sum + part.length, 0);
    this.#metrics.stored(this.#sink.table, range.rows, bytes, (performance.now() - began) / 1000);
  }

  /** Whether every row of a range is in the table; first waits until no insert of it is running any more. */
  async #isStored(range: Range, name: string): Promise<boolean> {
    await this.#waitForRunning(name);
    const found = await this.#store.ownerRows(
      `SELECT toString(kafka_off), toString(count()), toString(uniqExact(kafka_idx)) FROM ${this.#sink.table}
       WHERE kafka_part = {part:UInt16} AND kafka_off BETWEEN {start:UInt64} AND {end:UInt64} GROUP BY kafka_off`,
      { part: range.partition, start: range.start, end: range.end },
    );
    const rows = new Map(found.map(([offset, count, distinct]) => [Number(offset), { count: Number(count), distinct: Number(distinct) }]));
    for (const [offset, { count, distinct }] of rows) {
      if (count !== distinct) this.#log.error({ range: name, offset, count, distinct }, 'A record is stored more than once.');
    }
    const complete = range.records.every(({ offset, count }) => rows.get(offset)?.distinct === count);
    this.#log.info({ range: name, rows: range.rows, complete }, 'A range was read back.');
    return complete;
  }

  async #waitForRunning(name: string): Promise<void> {
    const deadline = Date.now() + INSERT_DEADLINE_MS;
    for (;;) {
      const [row] = await this.#store.ownerRows('SELECT count() FROM system.processes WHERE startsWith(query_id, {name:String})', {
        name: `${name}-`,
      });
      if (Number(row?.[0]) === 0) return;
      if (Date.now() > deadline) throw new Error(`An insert of range ${name} has been running for ${String(INSERT_DEADLINE_MS)} ms.`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
