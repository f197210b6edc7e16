import { ClickHouseError } from '@clickhouse/client';
import { pino } from 'pino';
import { decodeMetadata } from '../../pipeline/bus/reading/commit-metadata.ts';
import { InsertPace } from '../../pipeline/bus/consumer/insert-pace.ts';
import { PartitionReader } from '../../pipeline/bus/consumer/partition-reader.ts';
import type { Range } from '../../pipeline/bus/consumer/range.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import type { LogRecord } from '../../pipeline/logs/record.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { TableWriter } from '../../sinks/writer.ts';
import type { Sink } from '../../sinks/sink.ts';
import { logRecord, timedValue, timesIn } from './log-record.ts';

const log = pino({ level: 'silent' });
const TIMESTAMP = 1_795_000_000_000;

/** An insert as the statement tells it: which rows, what is looked up for each, and the id by which it may be fenced. */
type Statement = {
  readonly fence: string | null;
  readonly records: readonly {
    readonly partition: number;
    readonly offset: number;
    readonly maybeStored: boolean;
    readonly days: readonly number[];
  }[];
};

const statementOf = (ranges: readonly Range<LogRecord>[], fence: string | null): string =>
  JSON.stringify({
    fence,
    records: ranges.flatMap(({ partition, records, inDoubt = null }) =>
      records.map(({ offset, value }) => ({
        partition,
        offset,
        maybeStored: inDoubt !== null,
        days: timesIn(value),
      })),
    ),
  } satisfies Statement);

const SINK: Sink<LogRecord> = {
  name: 'logs',
  signal: logsSignal,
  table: 'logs',
  forget: () => undefined,
  prepare: () => Promise.resolve(),
  insert: (range, { fence = null } = {}) => ({ text: statementOf([range], fence), body: [] }),
  insertAll: (ranges, { fence = null }) => ({ text: statementOf(ranges, fence), body: [] }),
};

/** What a process does in its life, and when it dies. */
export type Life = {
  /** How many steps it lives; a step is done before it is heard of. */
  readonly steps: number;
  /** Which partitions it owns. */
  readonly owns: readonly boolean[];
  /** The days of the rows of the records that come, by partition. */
  readonly come: readonly (readonly (readonly number[])[])[];
  /** How many rows of one insert ClickHouse has the memory for; of a larger one it writes the first part. */
  readonly memory?: number;
  /** Before which of its steps an insert of an earlier process arrives that was never heard of. */
  readonly lateAt: number;
};

/** Several partitions of the log, their committed offsets and their table, which outlive every process. */
export class JointWorld {
  readonly #log: { readonly days: readonly number[] }[][];
  readonly #committed: { offset: number; metadata: string }[];
  /** How often each row is stored, by `partition/offset:index`. */
  readonly rows = new Map<string, number>();
  readonly #tokens = new Set<string>();
  readonly #fences = new Set<string>();
  /** Inserts of processes that died before ClickHouse had begun them. */
  readonly #late: (() => void)[] = [];
  /** How many inserts had rows of several partitions. */
  joint = 0;
  /** How many inserts were too large. */
  tooLarge = 0;

  constructor(partitions: number) {
    this.#log = Array.from({ length: partitions }, () => []);
    this.#committed = Array.from({ length: partitions }, () => ({ offset: 0, metadata: '' }));
  }

  /** How often each row is stored that is on the log. */
  get copies(): number[] {
    return this.#log.flatMap((records, partition) =>
      records.flatMap(({ days }, offset) => days.map((_, index) => this.rows.get(rowOf(partition, offset, index)) ?? 0)),
    );
  }

  arriveLate(): void {
    for (const arrive of this.#late.splice(0)) arrive();
  }

  /** A process, until all that its partitions have is stored, or it dies. */
  async live({ steps, owns, come, lateAt, memory = Infinity }: Life): Promise<void> {
    this.#log.forEach((records, partition) => records.push(...(come[partition] ?? []).map((days) => ({ days }))));
    const life = { left: steps, done: 0, isOver: false };
    const step = async <Value>(act: () => Value): Promise<Value> => {
      await Promise.resolve();
      if (life.done++ === lateAt) this.arriveLate();
      if (life.left-- <= 0) throw new Error('killed');
      const value = act();
      await Promise.resolve();
      if (life.left-- <= 0) throw new Error('killed');
      return value;
    };
    const store = new TableWriter({
      sink: SINK,
      store: this.#store(step, memory, () => life.left <= 1),
      log,
      metrics: { stored: () => undefined },
      mostRefused: 10,
    });
    const limits = { rows: 8, bytes: 1e9, waits: [{ ms: 0, rows: 0 }] };
    const pace = new InsertPace({ limits, store, log });
    const own = [...this.#log.keys()].filter((partition) => owns[partition] === true);
    const readers = own.map((partition) => {
      const { offset, metadata } = this.#committed[partition] as { offset: number; metadata: string };
      const reader = new PartitionReader({
        ...{ topic: 'logs.v1', partition, limits, pace, store, log, deadLetterLimit: 10 },
        progress: decodeMetadata(offset, metadata),
        deadLetter: () => Promise.reject(new Error('no record is a dead letter')),
        commit: (to, text) => step(() => void (this.#committed[partition] = { offset: to, metadata: text })),
        onHalt: () => undefined,
        onCapacity: () => undefined,
        isCurrent: () => !life.isOver && life.left > 0,
      });
      reader.start();
      return reader;
    });
    const most = Math.max(0, ...own.map((partition) => this.#log[partition]?.length ?? 0));
    for (let offset = 0; offset < most; offset++) {
      own.forEach((partition, at) => {
        const record = this.#log[partition]?.[offset];
        if (record !== undefined) readers[at]?.add(recordOf(partition, offset, record.days));
      });
      if (offset % 3 === 2) await new Promise((resolve) => setImmediate(resolve));
    }
    const deadline = Date.now() + 60_000;
    const isDone = (): boolean => own.every((partition) => this.#committed[partition]?.offset === this.#log[partition]?.length);
    while (life.left > 0 && !isDone()) {
      if (Date.now() > deadline) throw new Error(`The process stands still at ${JSON.stringify(this.#committed)}.`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    life.isOver = true;
    await Promise.all(readers.map((reader) => reader.abandon()));
  }

  #store(step: <Value>(act: () => Value) => Promise<Value>, memory: number, isLastStep: () => boolean): Store {
    return {
      command: () => step(() => undefined),
      ownerRows: (sql: string, { part = 0, from = 0, id = '' }: Record<string, number> & { id?: string }) =>
        step(() => {
          if (sql.includes('insert_fences')) return [[this.#fences.has(id) ? '1' : '0']];
          if (sql.includes('system.tables')) return [['MergeTree']];
          if (sql.includes('system.processes') || sql.includes('uptime')) return [['0']];
          const own = [...this.rows].map(([key, times]) => [...key.split(/[/:]/).map(Number), times] as [number, number, number, number]);
          const of = (asked: number): typeof own => own.filter(([partition]) => partition === asked);
          if (sql.includes('maxOrNull'))
            return [
              [
                String(
                  Math.max(
                    -1,
                    ...of(part)
                      .map(([, offset]) => offset)
                      .filter((at) => at >= from),
                  ),
                ),
              ],
            ];
          const [, asked, start = 0, end = -1] = /kafka_part = (\d+) AND \(kafka_off BETWEEN (\d+) AND (\d+) /.exec(sql)?.map(Number) ?? [];
          const found = new Map<number, [number, number]>();
          for (const [, offset, , times] of of(asked ?? NaN).filter(([, at]) => at >= start && at <= end)) {
            const [count, distinct] = found.get(offset) ?? [0, 0];
            found.set(offset, [count + times, distinct + 1]);
          }
          return [...found].map(([offset, [count, distinct]]) => [offset, TIMESTAMP, count, distinct].map(String));
        }),
      insert: async (text: string, body: readonly Buffer[], { settings }: { settings: { insert_deduplication_token?: string } }) => {
        if (text.startsWith('INSERT INTO insert_fences'))
          return step(() => void this.#fences.add((JSON.parse(Buffer.concat(body).toString()) as { id: string }).id));
        const statement = JSON.parse(text) as Statement;
        const token = settings.insert_deduplication_token ?? '';
        if (isLastStep())
          this.#late.push(() => {
            for (const write of this.#begin(statement, token) ?? []) write();
          });
        const writes = await step(() => this.#begin(statement, token) ?? []);
        let written = 0;
        if (statement.records.reduce((sum, { days }) => sum + days.length, 0) > memory) {
          this.tooLarge += 1;
          await step(writes[0] ?? (() => 0));
          throw new ClickHouseError({ message: 'no', code: '241', type: 'MEMORY_LIMIT_EXCEEDED' });
        }
        for (const write of writes) written += await step(write);
        return written;
      },
    } as unknown as Store;
  }

  /** What ClickHouse does when it begins an insert; then each table partition is written by itself. Null: it is fenced. */
  #begin({ fence, records }: Statement, token: string): (() => number)[] | null {
    if (fence !== null && this.#fences.has(fence)) return null;
    if (new Set(records.map(({ partition }) => partition)).size > 1) this.joint += 1;
    const before = new Set(this.rows.keys());
    return [...new Set(records.flatMap(({ days }) => days))].map((day) => () => {
      const key = `${token}/${String(day)}`;
      if (token === '') throw new Error('an insert without a token');
      if (this.#tokens.has(key)) return 0;
      this.#tokens.add(key);
      let written = 0;
      for (const { partition, offset, maybeStored, days } of records)
        days.forEach((own, index) => {
          const row = rowOf(partition, offset, index);
          if (own !== day || (maybeStored && before.has(row))) return;
          this.rows.set(row, (this.rows.get(row) ?? 0) + 1);
          written += 1;
        });
      return written;
    });
  }
}

const rowOf = (partition: number, offset: number, index: number): string => `${String(partition)}/${String(offset)}:${String(index)}`;

const recordOf = (partition: number, offset: number, days: readonly number[]): LogRecord =>
  logRecord({
    ...{ partition, offset, count: days.length, timestamp: TIMESTAMP },
    value: timedValue(days),
  });
