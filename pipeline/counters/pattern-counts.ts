import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { cutRows } from './cut-rows.ts';
import { RowColumns } from './row-columns.ts';
import { rowsHeaders, rowsSignal } from './rows-signal.ts';

/** Whose entries a row counts: those of one stream; or of all, where a segment does not distinguish them. */
export const COUNTS_STREAM = 0;
export const COUNTS_ALL = 1;
/** No entries, but that all of the tenant's rows of the segment stand before it. */
export const COUNTS_CLOSED = 2;

/**
 * How many entries of a pattern a segment of the log has, by tenant, class, stream, severity and span of time (docs/adr/0030-patterns.md). A row
 * never changes. A segment may be written twice: of records with the same part of it any one counts.
 */
export type PatternCount = {
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  readonly scope: number;
  /** Seconds that a row counts, 60 or 3600, and when they begin, by the time of the entries: seconds since 1970. */
  readonly span: number;
  readonly time: number;
  readonly pattern: bigint;
  /** 0 where all streams are counted. */
  readonly streamId: bigint;
  readonly severity: number;
  /** The segment: of which partition of `logs.v1`, from which record on, up to the one before `until`; `run`: as that of a row of the volume. */
  readonly partition: number;
  readonly segment: number;
  readonly until: number;
  readonly run: number;
  /** Which of the records of its segment a row lies in, from 0 on. */
  readonly part: number;
  readonly entries: number;
  /** The times of its earliest and of its latest entry: milliseconds since 1970, 0 for earlier ones. */
  readonly first: number;
  readonly last: number;
};

const isPositive = (number: number): boolean => number > 0;

/** The columns of a record of `pattern_counts.v1`, in their order. docs/topics.md is the specification. */
export const patternCountColumns = new RowColumns<PatternCount>([
  { name: 'tenant_id', type: 'UInt32', member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: 'UInt16', member: 'retentionDays' },
  { name: 'scope', type: 'UInt8', member: 'scope', isGood: (scope) => scope <= COUNTS_CLOSED },
  { name: 'span', type: 'UInt32', member: 'span', isGood: isPositive },
  { name: 'time', type: "DateTime64(0, 'UTC')", member: 'time' },
  { name: 'pattern', type: 'UInt64', member: 'pattern', isId: true },
  { name: 'stream_id', type: 'UInt64', member: 'streamId', isId: true },
  { name: 'severity', type: 'UInt8', member: 'severity' },
  { name: 'log_part', type: 'UInt16', member: 'partition' },
  { name: 'segment', type: 'UInt64', member: 'segment' },
  { name: 'until', type: 'UInt64', member: 'until' },
  { name: 'run', type: 'UInt64', member: 'run' },
  { name: 'part', type: 'UInt16', member: 'part' },
  { name: 'entries', type: 'UInt64', member: 'entries' },
  { name: 'first_ms', type: 'UInt64', member: 'first' },
  { name: 'last_ms', type: 'UInt64', member: 'last' },
]);

/** What a row takes before it is compressed. Bytes. */
const ROW_BYTES = 98;

/** How often patterns came: records of rows of many tenants on `pattern_counts.v1`. */
export const patternCountsSignal: Signal = rowsSignal('pattern_counts', (value, count) => patternCountColumns.read(value, count));

/** The records of the rows of a segment, for its partition of `pattern_counts.v1`. */
export const patternCountRecords = (partition: number, rows: readonly Omit<PatternCount, 'part'>[]): AbsoluteRecord[] =>
  cutRows(rows, () => ROW_BYTES).map((together, part) => ({
    ...{ topic: patternCountsSignal.topic.name, partition, key: null },
    value: patternCountColumns.encode(together.map((row) => ({ ...row, part }))),
    headers: rowsHeaders(patternCountsSignal, together.length),
  }));
