import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { count, seconds, uint16, uint32, uint64, uint8 } from '../rows/fixed-types.ts';
import { isPositive, Layout } from '../rows/layout.ts';
import { rowsRecords } from '../rows/rows-records.ts';
import { rowsSignal } from '../rows/rows-signal.ts';

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

/** The columns of a record of `pattern_counts.v1`, in their order. docs/topics.md is the specification. */
export const patternCountLayout = new Layout<PatternCount>('pattern_counts', [
  { name: 'tenant_id', type: uint32, member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: uint16, member: 'retentionDays' },
  { name: 'scope', type: uint8, member: 'scope', isGood: (scope) => scope <= COUNTS_CLOSED },
  { name: 'span', type: uint32, member: 'span', isGood: isPositive },
  { name: 'time', type: seconds, member: 'time' },
  { name: 'pattern', type: uint64, member: 'pattern' },
  { name: 'stream_id', type: uint64, member: 'streamId' },
  { name: 'severity', type: uint8, member: 'severity' },
  { name: 'log_part', type: uint16, member: 'partition' },
  { name: 'segment', type: count, member: 'segment' },
  { name: 'until', type: count, member: 'until' },
  { name: 'run', type: count, member: 'run' },
  { name: 'part', type: uint16, member: 'part' },
  { name: 'entries', type: count, member: 'entries' },
  { name: 'first_ms', type: count, member: 'first' },
  { name: 'last_ms', type: count, member: 'last' },
]);

/** What a row takes before it is compressed. Bytes. */
const ROW_BYTES = 98;

/** How often patterns came: records of rows of many tenants on `pattern_counts.v1`. */
export const patternCountsSignal: Signal = rowsSignal(patternCountLayout, ({ time, span }, row) => time(row) + span(row));

/** The records of the rows of a segment, for its partition of `pattern_counts.v1`. */
export const patternCountRecords = (partition: number, rows: readonly Omit<PatternCount, 'part'>[]): AbsoluteRecord[] =>
  rowsRecords(patternCountLayout, rows, () => ROW_BYTES, { partition, shared: (part) => ({ part }) });
