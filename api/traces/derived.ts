/** Which rows count what of a tenant's spans, and which are not counted yet (docs/adr/0043-derived-from-spans.md). */
import { conjunction, join, ofTenant, sql, uint64, uint64s, int64, type Param, type Sql } from '../../pipeline/core/sql.ts';
import { REACH, STEP_MS } from '../../pipeline/core/span-steps.ts';
import type { Request } from '../query/deps.ts';
import { DAY, HOUR, MINUTE, type Counted, type SpanCover } from '../query/span-cover.ts';
import { isWithin, type Span } from './span-filter.ts';

const SECOND_NS = 1_000_000_000n;
/** How far a broker's clock may be set back. Seconds. */
const MARGIN = 60;
/** What a row of `span_counts` counts (pipeline/counters/span-counts.ts). */
export const [OF_OPERATION, OF_EDGE, OF_MISSED] = [0, 1, 2] as const;

/** A number of a partition by a column that has the partition's; 0 where it is not known. */
const by = (column: Sql, cover: SpanCover, of: (one: Counted) => number): Sql => {
  const partitions: Param = uint64s(cover.map(({ partition }) => partition));
  return sql`transform(toUInt64(${column}), ${partitions}, ${uint64s(cover.map(of))}, toUInt64(0))`;
};

const floorTo = (time: bigint, length: number): bigint => time - (((time % BigInt(length)) + BigInt(length)) % BigInt(length));
const isFrom = (start: bigint, end: bigint): Sql =>
  sql`time >= fromUnixTimestamp64Second(${int64(start)}, 'UTC') AND time < fromUnixTimestamp64Second(${int64(end)}, 'UTC')`;

/**
 * What `span_counts` has of the spans of a window, each once: days inside, hours where days are not counted or not inside, then minutes. Whole
 * minutes: those that the window begins and ends in count. Each part by itself, so that ClickHouse looks at no more. `finest`: minutes alone.
 */
export function countedRows(columns: Sql, window: Span, cover: SpanCover, given: CountedOptions): Sql {
  const { scopes, request, more = sql`1`, finest = false } = given;
  const own = [ofTenant(request.tenantId), sql`scope IN ${uint64s(scopes)}`, more];
  const parts =
    cover.length === 0
      ? [sql`0`]
      : partsOf(window, cover, finest).map((part) => sql`run = ${by(sql`log_part`, cover, (one) => one.run)} AND ${part}`);
  return sql`(${join(
    parts.map((part) => sql`SELECT ${columns} FROM span_counts WHERE ${conjunction([...own, part])}`),
    sql` UNION ALL `,
  )})`;
}

type CountedOptions = { readonly scopes: readonly number[]; readonly request: Request; readonly more?: Sql; readonly finest?: boolean };

function partsOf({ start, end }: Span, cover: SpanCover, finest: boolean): Sql[] {
  const [first, last] = [start / SECOND_NS, end / SECOND_NS];
  const parts: Sql[] = [];
  let inner: { readonly from: bigint; readonly to: bigint; readonly length: typeof HOUR | typeof DAY } | null = null;
  for (const length of finest ? ([MINUTE] as const) : ([DAY, HOUR, MINUTE] as const)) {
    // the longest span is taken where it lies inside, the shortest where it touches the window
    const from = length === MINUTE ? floorTo(first, length) : floorTo(first + BigInt(length - 1), length);
    const to = length === MINUTE ? floorTo(last, length) + BigInt(length) : floorTo(last + 1n, length);
    if (from >= to || cover.every((one) => one.until[length] === 0)) continue;
    const within = (begins: bigint, ends: bigint): Sql =>
      sql`span = ${uint64(length)} AND ${isFrom(begins, ends)} AND until <= ${by(sql`log_part`, cover, (one) => one.until[length])}`;
    if (inner === null) parts.push(within(from, to));
    else {
      const { from: innerFrom, to: innerTo, length: longer } = inner;
      if (from < innerFrom) parts.push(within(from, innerFrom));
      if (innerTo < to) parts.push(within(innerTo, to));
      // behind the last segment of the longer span: what is written of that came after it was closed
      const since = Math.min(...cover.map((one) => one.closed[longer])) - MARGIN;
      if (cover.some((one) => one.until[length] > one.until[longer]))
        parts.push(
          sql`${within(innerFrom, innerTo)} AND segment >= ${by(sql`log_part`, cover, (one) => one.until[longer])} AND ${arrivedFrom(since)}`,
        );
    }
    if (length !== MINUTE) inner = { from, to, length };
  }
  return parts;
}

/** The rows of `spans` that are not counted yet, or came before anything was counted. */
function uncountedSpans(cover: SpanCover): Sql {
  if (cover.length === 0) return sql`1`;
  const last = Math.min(...cover.map((one) => one.closed[MINUTE]));
  const behind = sql`kafka_off >= ${by(sql`kafka_part`, cover, (one) => one.until[MINUTE])} AND ${arrivedFrom(last - MARGIN)}`;
  return either(behind, before(cover));
}

/** Conditions that are apart, where nothing is added to them, are looked at one after the other. */
const either = (condition: Sql, other: Sql | null): Sql => (other === null ? condition : sql`((${condition}) OR ${other})`);

/** The rows of `spans` that came before anything was counted; null where counting began with the first record of each partition. */
function before(cover: SpanCover): Sql | null {
  if (cover.every(({ run }) => run === 0)) return null;
  const first = Math.max(...cover.map((one) => one.firstClosed)) + MARGIN;
  return sql`(kafka_off < ${by(sql`kafka_part`, cover, (one) => one.from)} AND NOT (${arrivedFrom(first)}))`;
}

const arrivedFrom = (second: number): Sql => sql`arrived >= fromUnixTimestamp64Second(${int64(second)}, 'UTC')`;

/** What is uncounted of a window, for a tenant. */
export const uncountedIn = (window: Span, cover: SpanCover, request: Request): Sql =>
  conjunction([ofTenant(request.tenantId), isWithin(window), uncountedSpans(cover)]);

/** The step of append time in which a span came, and the one up to which edges are decided (pipeline/core/span-steps.ts). */
const STEP = STEP_MS / 1000;
const stepAfter = ({ lastAt }: Counted): number => (Math.floor(lastAt / STEP) - REACH) * STEP;

/** The rows of `spans` whose edge is not in a counted segment: it is decided three steps after they came, at the earliest. */
export function undecidedSpans(cover: SpanCover): Sql {
  if (cover.length === 0) return sql`1`;
  const decided = by(sql`kafka_part`, cover, stepAfter);
  const behind = sql`toUnixTimestamp(arrived) >= ${decided} AND ${arrivedFrom(Math.min(...cover.map(stepAfter)))}`;
  return either(behind, before(cover));
}

/** The rows of `spans` that may be the parents of those. */
export function nearUndecided(cover: SpanCover): Sql {
  if (cover.length === 0) return sql`1`;
  const behind = arrivedFrom(Math.min(...cover.map(stepAfter)) - REACH * STEP);
  if (cover.every(({ run }) => run === 0)) return behind;
  return sql`(${behind} OR NOT (${arrivedFrom(Math.max(...cover.map((one) => one.firstClosed)) + MARGIN)}))`;
}
