import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { bins, type Bins } from '../rows/bin-type.ts';
import { count, finite, seconds, uint16, uint32, uint8 } from '../rows/fixed-types.ts';
import { isPositive, Layout } from '../rows/layout.ts';
import { rowsRecords } from '../rows/rows-records.ts';
import { rowsSignal } from '../rows/rows-signal.ts';
import { word } from '../rows/string-types.ts';

/** What a row counts: spans of an operation, that is of a service, name and kind. */
export const OF_OPERATION = 0;
/** Calls of a service by another one, without operation and kind; by an empty `caller`: whose parent was not found in time. */
export const OF_EDGE = 1;
/** Spans that were not looked at for edges: the tenant had too many open ones. */
export const OF_MISSED = 2;
/**
 * Nothing, but that all of the tenant's rows of the segment stand before it: `time` is when the segment was closed, `last` when the last record of
 * it was appended.
 */
export const IS_CLOSED = 3;

/** The service and operation of what a tenant has too many of. */
export const OTHER = '(other)';

/**
 * What a segment of `spans.v1` has of spans, by tenant, class, and span of time (docs/adr/0043-derived-from-spans.md). A row never changes. A segment
 * may be written twice: of equal rows any one counts.
 */
export type SpanCount = {
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  readonly scope: number;
  /** Seconds that a row counts, 60, 3600 or 86400, and when they begin, by the time at which spans begin: seconds since 1970. */
  readonly span: number;
  readonly time: number;
  /** Of an edge the one that is called. */
  readonly service: string;
  readonly operation: string;
  /** Of an edge alone. */
  readonly caller: string;
  /** As OTLP numbers it; 0 of an edge. */
  readonly kind: number;
  /** The segment: of which partition of `spans.v1`, from which record on, up to the one before `until`; `run`: as that of a row of the volume. */
  readonly partition: number;
  readonly segment: number;
  readonly until: number;
  readonly run: number;
  readonly spans: number;
  readonly errors: number;
  /** The sum of all durations, nanoseconds. */
  readonly duration: number;
  /** When the last one begins: seconds since 1970. */
  readonly last: number;
  /** How many have a duration, by its bin (pipeline/core/duration-bins.ts). */
  readonly durations: Bins;
};

/** The columns of a record of `span_counts.v1`, in their order. docs/topics.md is the specification. */
export const spanCountLayout = new Layout<SpanCount>('span_counts', [
  { name: 'tenant_id', type: uint32, member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: uint16, member: 'retentionDays' },
  { name: 'scope', type: uint8, member: 'scope', isGood: (scope) => scope <= IS_CLOSED },
  { name: 'span', type: uint32, member: 'span', isGood: isPositive },
  { name: 'time', type: seconds, member: 'time' },
  { name: 'service', type: word, member: 'service' },
  { name: 'operation', type: word, member: 'operation' },
  { name: 'caller', type: word, member: 'caller' },
  { name: 'kind', type: uint8, member: 'kind' },
  { name: 'log_part', type: uint16, member: 'partition' },
  { name: 'segment', type: count, member: 'segment' },
  { name: 'until', type: count, member: 'until' },
  { name: 'run', type: count, member: 'run' },
  { name: 'spans', type: count, member: 'spans' },
  { name: 'errors', type: count, member: 'errors' },
  { name: 'duration', type: finite, member: 'duration' },
  { name: 'last', type: seconds, member: 'last' },
  { name: 'durations', type: bins, member: 'durations' },
]);

/** What is counted of spans: records of rows of many tenants on `span_counts.v1`. */
export const spanCountsSignal: Signal = rowsSignal(spanCountLayout, ({ time, span }, row) => time(row) + span(row));

/** What a row takes before it is compressed, about. Bytes. */
const sizeOf = ({ service, operation, caller, durations }: Pick<SpanCount, 'service' | 'operation' | 'caller' | 'durations'>): number =>
  110 + 3 * (service.length + operation.length + caller.length) + 10 * durations.length;

/** The records of the rows of a segment, for its partition of `span_counts.v1`. */
export const spanCountRecords = (partition: number, rows: readonly SpanCount[]): AbsoluteRecord[] =>
  rowsRecords(spanCountLayout, rows, sizeOf, { partition });
