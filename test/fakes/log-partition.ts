import { ClickHouseError } from '@clickhouse/client';
import type { KafkaMessage } from 'kafkajs';
import { pino } from 'pino';
import { replayOf, type DeadLetter } from '../../pipeline/bus/records/dead-letter.ts';
import { readProgress } from '../../pipeline/bus/consumer/progress.ts';
import type { Commitment } from '../../pipeline/bus/reading/group-positions.ts';
import type { Range } from '../../pipeline/bus/consumer/range.ts';
import { positionOf, readChecked } from '../../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import type { LogRecord } from '../../pipeline/logs/record.ts';
import { plainHeaders, timedValue, timesIn, type PlainStream } from './log-record.ts';
import { loneReader } from './range-store.ts';
import type { Store } from '../../pipeline/store/client.ts';
import type { Sink } from '../../sinks/sink.ts';
import { TableWriter } from '../../sinks/writer.ts';

const log = pino({ level: 'silent' });
const FIRST_TIMESTAMP = 1_795_000_000_000;

/** A record of as many rows as there are days in it. `refused`: the table takes it only when it is mended; `unread`: the reader. */
export type Written = { readonly days: readonly number[]; readonly refused?: boolean; readonly unread?: boolean };

/** What a process that was killed was about to send to the table, and what may still arrive there. */
type Unsent = () => void;

/**
 * One partition of the log, its committed offset, its dead letters and its table, which outlive every process. Each step of a process
 * can be its last one; steps are done before they are heard of. The table drops what comes again under a token, by table partition.
 */
export class LogPartition {
  readonly messages: KafkaMessage[] = [];
  committed: Commitment = { offset: 0, metadata: '' };
  /** Every commit there has been, the oldest first. */
  readonly commits: Commitment[] = [this.committed];
  #timestamp = FIRST_TIMESTAMP;
  readonly letters: DeadLetter[] = [];
  /** How often each row is stored, by `offset@timestamp:index`. */
  readonly rows = new Map<string, number>();
  readonly #tokens = new Set<string>();
  readonly #fences = new Set<string>();
  /** How many rows of one insert ClickHouse has the memory for; of a larger one it writes the first part. */
  memory = Infinity;
  /** Whether the table and the reader are mended. */
  mended = { table: false, reader: false };
  /** How many more steps the process lives. */
  stepsLeft = Infinity;
  /** Inserts of processes that were killed before they were sent. */
  readonly unsent: Unsent[] = [];

  append({ days, refused = false, unread = false }: Written): void {
    // the days of the rows, as the table's partitions are told apart by them
    const rows = timedValue(days, refused ? 'refused' : 'taken');
    const info = { tenantId: 1, retentionDays: 0, count: days.length, bytes: 1 };
    const streams: readonly PlainStream[] = days.length === 0 ? [] : [['5', '{}', ...days]];
    this.#add(rows, { ...plainHeaders(info, ...streams), ...(unread ? { sv: '3' } : {}) });
  }

  /** Puts every letter's original on the log again. */
  replay(): void {
    for (const letter of [...this.letters]) {
      const { value, headers } = replayOf(letter);
      this.#add(value, headers);
    }
  }

  /** How often a row of a record that is on the log is stored. */
  copies(offset: number, index: number): number {
    return this.rows.get(`${String(offset)}@${String(this.messages[offset]?.timestamp)}:${String(index)}`) ?? 0;
  }

  /** The power fails: the log keeps so many records, and the group's commits are those of an earlier moment. */
  losePower(kept: number, commits: number): void {
    this.messages.length = Math.min(kept, this.messages.length);
    this.commits.length = Math.max(1, Math.min(commits, this.commits.length));
    this.committed = this.commits.at(-1) as Commitment;
    this.#timestamp += 1000;
    this.unsent.length = 0;
  }

  #add(value: Buffer | null, headers: KafkaMessage['headers']): void {
    const all = Object.fromEntries(Object.entries(headers ?? {}).map(([name, text]) => [name, Buffer.from(String(text))]));
    const offset = String(this.messages.length);
    this.messages.push({ key: null, value, headers: all, offset, timestamp: String(this.#timestamp), attributes: 0 });
  }

  get done(): boolean {
    return this.committed.offset === this.messages.length;
  }

  /** A process that owns the partition until it has read all of it, or is killed. */
  async own(limit = 10_000): Promise<void> {
    let current = true;
    const progress = await readProgress({
      admin: this.#admin,
      log,
      groupId: 'g',
      topic: 'logs.v1',
      partition: 0,
      last: undefined,
      settleMs: 0,
    });
    const halted: { why: string | null } = { why: null };
    const store = new TableWriter({ sink: SINK, store: this.#store, log, metrics: { stored: () => undefined }, mostRefused: limit + 1 });
    const reader = loneReader({
      topic: 'logs.v1',
      partition: 0,
      progress,
      limits: { rows: 7, bytes: 1e9, waits: [{ ms: 0, rows: Infinity }] },
      log,
      store: { store: (range, again) => store.store(range, again), highest: (...asked) => store.highest(...asked) },
      deadLetter: (letters) => this.#step(() => void this.letters.push(...letters.map((letter) => ({ ...letter, version: '1' })))),
      commit: (offset, metadata) => this.#step(() => void this.commits.push((this.committed = { offset, metadata }))),
      deadLetterLimit: limit,
      onHalt: (why) => (halted.why = why),
      onCapacity: () => undefined,
      isCurrent: () => current && this.stepsLeft > 0,
    });
    // this may be where the log ends now, by chance
    const before = this.committed;
    reader.start();
    const { length } = this.messages;
    for (let offset = progress.from; offset < length; offset++) {
      reader.add(this.#read(offset));
      if (offset % 4 === 3) await new Promise((resolve) => setImmediate(resolve));
    }
    const deadline = Date.now() + 45_000;
    const isDone = (): boolean => progress.from === length || (this.done && (this.committed !== before || progress.from === before.offset));
    while (this.stepsLeft > 0 && !isDone() && halted.why === null) {
      if (Date.now() > deadline) throw new Error(`The process stands still at ${JSON.stringify(this.committed)} of ${String(length)}.`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (halted.why !== null) await reader.finish();
    current = false;
    await reader.abandon();
  }

  #read(offset: number): SignalRecord {
    const message = this.messages[offset] as KafkaMessage;
    const headers = this.mended.reader ? { ...message.headers, sv: '2' } : message.headers;
    // what is kept of a record is what lies on the log
    return { ...readChecked(logsSignal, 0, { ...message, headers } as KafkaMessage), original: message };
  }

  async #step<Value>(act: () => Value): Promise<Value> {
    await Promise.resolve();
    if (this.stepsLeft-- <= 0) throw new Error('killed');
    const value = act();
    await Promise.resolve();
    if (this.stepsLeft-- <= 0) throw new Error('killed');
    return value;
  }

  readonly #admin = {
    fetchOffsets: () =>
      Promise.resolve([
        { topic: 'logs.v1', partitions: [{ partition: 0, offset: String(this.committed.offset), metadata: this.committed.metadata }] },
      ]),
    fetchTopicOffsets: () => Promise.resolve([{ partition: 0, low: '0', high: this.#end, offset: this.#end }]),
    fetchTopicOffsetsByTimestamp: (_topic: string, from = 0) => {
      const at = this.messages.findIndex(({ timestamp }) => Number(timestamp) >= from);
      return Promise.resolve([{ partition: 0, offset: at < 0 ? this.#end : String(at) }]);
    },
  };

  get #end(): string {
    return String(this.messages.length);
  }

  readonly #store = {
    command: () => this.#step(() => undefined),
    ownerRows: (sql: string, { from = 0, since = -Infinity, id = '' }: Record<string, number> & { id?: string }) =>
      this.#step(() => {
        if (sql.includes('maxOrNull(kafka_off)')) {
          const records = [...this.rows.keys()].map((key) => key.split(/[@:]/).map(Number) as [number, number]);
          return [[String(Math.max(-1, ...records.filter(([at, time]) => at >= from && time >= since).map(([at]) => at)))]];
        }
        if (sql.includes('insert_fences')) return [[this.#fences.has(id) ? '1' : '0']];
        if (sql.includes('system.tables')) return [['MergeTree']];
        if (sql.includes('system.processes')) return [['0']];
        const spans = [...sql.matchAll(/kafka_off (?:BETWEEN (\d+) AND (\d+)|IN \(([\d,]+)\)) AND \S+ BETWEEN (\d+) AND (\d+)/g)].map(
          ([, first, last, list, earliest, latest]) => {
            const listed = list?.split(',').map(Number);
            const isAmong = (at: number): boolean => listed?.includes(at) ?? (at >= Number(first) && at <= Number(last));
            return (at: number, time: number): boolean => isAmong(at) && time >= Number(earliest) && time <= Number(latest);
          },
        );
        const found = new Map<string, { count: number; distinct: number }>();
        for (const [key, times] of this.rows) {
          const [record = ''] = key.split(':');
          const [offset, time] = record.split('@').map(Number) as [number, number];
          if (!spans.some((isIn) => isIn(offset, time))) continue;
          const so = found.get(record) ?? { count: 0, distinct: 0 };
          found.set(record, { count: so.count + times, distinct: so.distinct + 1 });
        }
        return [...found].map(([record, { count, distinct }]) => [...record.split('@'), String(count), String(distinct)]);
      }),
    insert: async (text: string, body: readonly Buffer[], { settings }: { settings: { insert_deduplication_token?: string } }) => {
      if (text.startsWith('INSERT INTO insert_fences'))
        return this.#step(() => void this.#fences.add((JSON.parse(Buffer.concat(body).toString()) as { id: string }).id));
      const { table, fence, records } = JSON.parse(text) as InsertText;
      const values = Buffer.concat(body).toString();
      if (this.stepsLeft === 1 && table === 'logs')
        this.unsent.push(() => this.#insert(values, fence, records, settings.insert_deduplication_token));
      // each table partition is written by itself, and the process may die before, between and after
      let written = 0;
      const days = await this.#step(() => this.#check(values, fence, records));
      const isTooLarge = records.reduce((sum, own) => sum + own.days.length, 0) > this.memory;
      for (const day of table === 'logs' ? days.slice(0, isTooLarge ? 1 : Infinity) : [])
        written += await this.#step(() => this.#write(day, records, settings.insert_deduplication_token));
      if (isTooLarge) throw new ClickHouseError({ message: 'no', code: '241', type: 'MEMORY_LIMIT_EXCEEDED' });
      return table === 'logs' ? written : days.length;
    },
  } as unknown as Store;

  /** An insert that arrives late, in one go. */
  #insert(values: string, fence: string | null, records: InsertText['records'], token: string | undefined): void {
    let days: number[];
    try {
      days = this.#check(values, fence, records);
    } catch {
      return;
    }
    for (const day of days) this.#write(day, records, token);
  }

  /** The table partitions that rows belong to; none where the insert is fenced. */
  #check(values: string, fence: string | null, records: InsertText['records']): number[] {
    if (!this.mended.table && values.includes('refused'))
      throw new ClickHouseError({ message: 'no', code: '469', type: 'VIOLATED_CONSTRAINT' });
    return fence !== null && this.#fences.has(fence) ? [] : [...new Set(records.flatMap(({ days }) => days))];
  }

  #write(day: number, records: InsertText['records'], token = ''): number {
    const key = `${token}/${String(day)}`;
    if (token === '') throw new Error('an insert without a token');
    if (this.#tokens.has(key)) return 0;
    this.#tokens.add(key);
    const before = new Set(this.rows.keys());
    let written = 0;
    for (const { position, timestamp, maybeStored, days } of records) {
      days.forEach((own, index) => {
        const row = `${String(position)}@${String(timestamp)}:${String(index)}`;
        if (own !== day || (maybeStored && before.has(row))) return;
        this.rows.set(row, (this.rows.get(row) ?? 0) + 1);
        written += 1;
      });
    }
    return written;
  }
}

type InsertText = {
  readonly table: string;
  readonly fence: string | null;
  readonly records: readonly {
    readonly position: number;
    readonly timestamp: number;
    readonly maybeStored: boolean;
    readonly days: readonly number[];
  }[];
};

const SINK: Sink<LogRecord> = {
  name: 'logs',
  signal: logsSignal,
  table: 'logs',
  forget: () => undefined,
  prepare: () => Promise.resolve(),
  insert: (range: Range<LogRecord>, { table = 'logs', fence = null } = {}) => {
    const records = range.records.map((record) => ({
      position: positionOf(record),
      timestamp: record.timestamp,
      maybeStored: record.replayOf !== null || typeof range.inDoubt === 'number',
      days: timesIn(record.value),
    }));
    return { text: JSON.stringify({ table, fence, records } satisfies InsertText), body: range.records.map(({ value }) => value) };
  },
};
