/**
 * Counting without reading entries: the table `volume` (pipeline/store/schema/005_volume.sql) has how many there are of each stream, level
 * and span of time, in rows of segments of the log's partitions (docs/adr/0023-one-reader-for-every-processor.md). Rows of days are added to
 * those of hours behind the last segment of days, to those of minutes behind the last one of hours, and to the entries behind that, by their
 * offsets; at both ends of the window, hours, minutes and entries stand for parts of a day, hour or minute. So each entry is counted once.
 */
import { int64, join, ofTenant, sql, uint32, uint64s, type Sql } from '../../pipeline/core/sql.ts';
import { momentSql } from '../sql/time.ts';
import type { Counts, Filter, SqlContext } from '../base/types.ts';
import type { TimeWindow } from '../base/time-window.ts';
import { countedConditions, HOUR_SECONDS, type Counted } from './hourly.ts';
import { ENTRIES, SPANS } from '../sql/counts.ts';

/** How far a partition of the log is counted in `volume`, of what `logs` has stored. */
export type CoveredPartition = {
  /** Of the rows of the partition only those of this run count, and they count from the offset `base` on. */
  readonly run: number;
  readonly base: number;
  /** The offsets before which all is counted by days, by hours (or days), and by minutes (or hours, or days): ends of segments. */
  readonly until: Readonly<Record<Span, number>>;
};
type Span = (typeof SPANS)[number];

/** How far the log is counted; it holds for as long as the tables do. */
export type VolumeCover = {
  /** By partition. */
  readonly partitions: readonly CoveredPartition[];
  /** All that is not counted was appended to the log since then, but for what came before the runs: milliseconds since 1970. */
  readonly since: number;
  /** When the latest of the runs began, where one is not as old as its partition; else 0. */
  readonly runs: number;
  /** Rows of segments behind `until` of the longer span came since then: milliseconds since 1970. */
  readonly behind: Readonly<Record<Span, number>>;
  /** Where the tenant has entries that rows do not count, in addition to those that they do: seconds since 1970, `end` is behind it. */
  readonly unpublished?: { readonly start: number; readonly end: number };
};

/** Fewer whole minutes are counted sooner by their entries. */
const MIN_MINUTES = 10n;
const SECOND = 1_000_000_000n;
/** In so short a window entries are counted sooner by the hour (hourly.ts), where hours are enough, and all of them by the marks of their table. */
const SHORT = 2n * 86_400n * SECOND;
/** By how much append times of a partition may go back: a new leader has another clock. Milliseconds. */
const MARGIN_MS = 60_000;

const [SCOPE_ALL, SCOPE_STREAM, SCOPE_ALL_ALONE] = [0, 1, 2];
/** Rows in place of those of single streams, which are not there: counts by stream must read the entries. */
const NO_STREAMS = sql`entries = 0`;

const AND = sql` AND `;
const OR = sql` OR `;
const COMMA = sql`, `;

const columnOf = (field: string): Sql | undefined =>
  field === '_stream' || field === '_stream_id' ? sql`stream_id` : field === 'level' ? sql`level` : undefined;

/** What stands after FROM for entries counted by these fields; null where the volume lacks it, or is no faster than the entries. */
export function volumeCounts(
  filter: Filter,
  { fields, span }: Counted,
  window: TimeWindow,
  context: SqlContext,
  cover: VolumeCover,
): Counts | null {
  const whole = wholeOf(window, 60);
  if (isUnpublished(cover, window)) return null;
  if (whole.end - whole.start < MIN_MINUTES * 60n * SECOND || span < 60) return null;
  const columns = fields.filter((field) => field !== '_time').map(columnOf);
  const conditions = countedConditions(filter, (field) => columnOf(field) !== undefined, context);
  if (conditions === null || !columns.every((column) => column !== undefined)) return null;
  const isByStream = [...fields, ...filter.fields].some((field) => field === '_stream' || field === '_stream_id');
  const isAll = fields.length + conditions.length === 0;
  if ((isAll || span >= HOUR_SECONDS) && window.end - window.start < SHORT) return null;
  const request: VolumeRequest = {
    cover,
    window,
    context,
    conditions,
    columns: [...new Map(columns.map((column) => [column.strings.join(), column])).values()],
  };
  const parts = [countedRows(request, span, isByStream), ...uncountedRows(request, whole)];
  // a stream's id has its tenant's in it
  const tenant = fields.includes('_stream_id') ? [sql`${uint32(context.tenantId)} AS tenant_id`] : [];
  const list = join([sql`_time`, ...request.columns, ...tenant, ENTRIES], COMMA);
  return { source: sql`(SELECT ${list} FROM (${join(parts, sql` UNION ALL `)}))`, ...(isByStream ? { doubt: NO_STREAMS } : {}) };
}

/** A part of time, nanoseconds: `end` is behind it. */
type Time = { readonly start: bigint; readonly end: bigint };
type VolumeRequest = {
  readonly cover: VolumeCover;
  readonly window: TimeWindow;
  readonly context: SqlContext;
  readonly conditions: readonly Sql[];
  readonly columns: readonly Sql[];
};

/** What of a window is whole spans of `span` seconds. */
function wholeOf({ start, end }: TimeWindow, span: number): Time {
  const length = BigInt(span) * SECOND;
  const floor = (ns: bigint): bigint => ns - (((ns % length) + length) % length);
  return { start: floor(start + length - 1n), end: floor(end + 1n) };
}

const isEmpty = ({ start, end }: Time): boolean => start >= end;

/** Whether what lies in a window may not be counted. */
const isUnpublished = ({ unpublished }: VolumeCover, { start, end }: TimeWindow): boolean =>
  unpublished !== undefined && BigInt(unpublished.start) * SECOND <= end && BigInt(unpublished.end) * SECOND > start;

/** A number of each partition, for the partition of a row; 0 of one that is not covered. */
const byPartition = ({ partitions }: VolumeCover, of: (partition: CoveredPartition) => number, column: Sql): Sql =>
  sql`arrayElement(${uint64s(partitions.map(of))}, ${column} + 1)`;

/** The rows of the volume that count what lies in whole minutes, hours and days of the window. */
function countedRows(request: VolumeRequest, longest: number, isByStream: boolean): Sql {
  const { cover, window, context, conditions, columns } = request;
  const scopes = isByStream ? sql`scope IN (${uint32(SCOPE_STREAM)}, ${uint32(SCOPE_ALL_ALONE)})` : sql`scope IN (${uint32(SCOPE_ALL)}, ${uint32(SCOPE_ALL_ALONE)})`; // prettier-ignore
  // a row in place of single streams stands for any of them
  const filter = conditions.length === 0 ? [] : [isByStream ? sql`(scope = ${uint32(SCOPE_ALL_ALONE)} OR ${join(conditions, AND)})` : join(conditions, AND)]; // prettier-ignore
  const where = [
    ofTenant(context.tenantId),
    scopes,
    sql`(${join(tiles(cover, window, longest), OR)})`,
    // where each partition has but its first run there are no rows of others
    ...(cover.runs > 0 ? [sql`run = ${byPartition(cover, ({ run }) => run, sql`log_part`)}`] : []),
    ...filter,
  ];
  // a segment may be there twice; each of its rows then is the same
  const once = sql`LIMIT 1 BY span, time, stream_id, level, log_part, segment, retention_days`;
  const entries = isByStream ? sql`if(scope = ${uint32(SCOPE_ALL_ALONE)}, 0, entries) AS entries` : ENTRIES;
  return sql`SELECT ${join([sql`toDateTime64(time, 9, 'UTC') AS _time`, ...columns, entries], COMMA)} FROM (SELECT scope, time, stream_id, level, entries FROM volume WHERE ${join(where, AND)} ${once})`;
}

/** Which rows of each span count: those of its whole spans of time, and of longer ones what lies behind the segments of these. */
function tiles(cover: VolumeCover, window: TimeWindow, longest: number): Sql[] {
  const spans = SPANS.filter((span) => span <= longest && !isEmpty(wholeOf(window, span)));
  return spans.map((span, at) => {
    const own = wholeOf(window, span);
    const longer = spans[at - 1];
    const isCounted = sql`until <= ${byPartition(cover, ({ until }) => until[span], sql`log_part`)}`;
    const inside = (time: Time): Sql => sql`time >= ${secondSql(time.start)} AND time < ${secondSql(time.end)}`;
    if (longer === undefined) return sql`(span = ${uint32(span)} AND ${inside(own)} AND ${isCounted})`;
    const counted = wholeOf(window, longer);
    const uncounted = [
      { start: own.start, end: counted.start },
      { start: counted.end, end: own.end },
    ].filter((time) => !isEmpty(time));
    const behind = sql`segment >= ${byPartition(cover, ({ until }) => until[longer], sql`log_part`)} AND arrived >= ${milliSql(cover.behind[longer])}`;
    const times = [...uncounted.map((time) => sql`${inside(time)}`), sql`${inside(counted)} AND ${behind}`];
    return sql`(span = ${uint32(span)} AND (${join(
      times.map((time) => sql`(${time})`),
      OR,
    )}) AND ${isCounted})`;
  });
}

/** Times of the types of the columns, so that the indexes answer. */
const secondSql = (ns: bigint): Sql => sql`fromUnixTimestamp64Second(${int64(ns / SECOND)}, 'UTC')`;
const milliSql = (ms: number): Sql => sql`fromUnixTimestamp64Milli(${int64(Math.max(0, ms))}, 'UTC')`;

/** The entries that the rows of the volume do not count: at the ends of the window, and behind the last segments. */
function uncountedRows({ cover, window, context, conditions, columns }: VolumeRequest, whole: Time): Sql[] {
  const select = (...where: readonly Sql[]): Sql =>
    sql`SELECT ${join([sql`_time`, ...columns, sql`toUInt64(1) AS entries`], COMMA)} FROM ${context.table.from} WHERE ${join([ofTenant(context.tenantId), ...where, ...conditions], AND)}`;
  const edges = [
    ...(window.start < whole.start ? [sql`_time >= ${momentSql(window.start)} AND _time < ${momentSql(whole.start)}`] : []),
    ...(whole.end <= window.end ? [sql`_time >= ${momentSql(whole.end)} AND _time <= ${momentSql(window.end)}`] : []),
  ];
  const of = (number: (partition: CoveredPartition) => number): Sql => byPartition(cover, number, sql`kafka_part`);
  const behind = sql`kafka_off >= ${of(({ until }) => until[60])}`;
  const appended = sql`arrived >= ${milliSql(cover.since - MARGIN_MS)}`;
  const hasRuns = cover.runs > 0;
  const before = sql`kafka_off < ${of(({ base }) => base)} OR toUnixTimestamp64Milli(arrived) < ${of(({ run }) => run)}`;
  return [
    select(
      sql`_time >= ${momentSql(whole.start)} AND _time < ${momentSql(whole.end)}`,
      hasRuns ? sql`(${appended} OR arrived <= ${milliSql(cover.runs + MARGIN_MS)})` : appended,
      hasRuns ? sql`(${behind} OR ${before})` : behind,
    ),
    ...(edges.length === 0
      ? []
      : [
          select(
            sql`(${join(
              edges.map((edge) => sql`(${edge})`),
              OR,
            )})`,
          ),
        ]),
  ];
}
