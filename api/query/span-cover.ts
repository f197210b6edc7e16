import { int64, ofTenant, sql, uint64, type Sql } from '../../pipeline/core/sql.ts';
import type { Row } from '../../pipeline/store/client.ts';

/** What the segments of the counts of spans are long, seconds. */
export const [MINUTE, HOUR, DAY] = [60, 3600, 86_400] as const;

const SECOND_NS = 1_000_000_000n;
/** Where segments of minutes and hours were closed lately: those before are in a segment of a day. Seconds. */
const LATELY = 3 * DAY;
/** A row of `span_counts` that closes a segment (pipeline/counters/span-counts.ts). */
const IS_CLOSED = 3;

/** A partition of `spans.v1` as far as it is counted for a tenant, in its latest run without a gap. Offsets; times in seconds. */
export type Counted = {
  readonly partition: number;
  readonly run: number;
  /** The first record, and the one up to which minutes, hours and days are there. */
  readonly from: number;
  readonly until: Readonly<Record<typeof MINUTE | typeof HOUR | typeof DAY, number>>;
  /** When the first segment was closed, when the last ones were, and when the last record before these was appended. */
  readonly firstClosed: number;
  readonly closed: Counted['until'];
  readonly lastAt: number;
};

/** How far the spans of a tenant are counted, by partition; a partition that is not there is not counted at all. */
export type SpanCover = readonly Counted[];

/** The closings of each run of each partition, as `spanCoverOf` takes them. `now`: nanoseconds since 1970. */
export const closings = (tenantId: number, now: bigint): Sql =>
  sql`SELECT log_part, span, run, min(segment), max(until), toUnixTimestamp(min(time)), toUnixTimestamp(argMax(time, until)), toUnixTimestamp(argMax(last, until)) FROM span_counts WHERE ${ofTenant(tenantId)} AND scope = ${uint64(IS_CLOSED)} AND (span = ${uint64(DAY)} OR time >= fromUnixTimestamp64Second(${int64(now / SECOND_NS - BigInt(LATELY))}, 'UTC')) GROUP BY log_part, span, run`;

/** How far it is counted, by the rows of `closings`. */
export function spanCoverOf(rows: readonly Row[]): SpanCover {
  const found = new Map<number, Counted>();
  for (const row of rows) {
    const [partition = 0, span = 0, run = 0, from = 0, until = 0, firstClosed = 0, lastClosed = 0, lastAt = 0] = row.map(Number);
    const known = found.get(partition);
    if (known !== undefined && known.run > run) continue;
    const before = known?.run === run ? known : { from, until: NOTHING, closed: NOTHING, firstClosed, lastAt: 0 };
    const isLater = until >= Math.max(...Object.values(before.until));
    found.set(partition, {
      ...{ partition, run, from: Math.min(before.from, from), firstClosed: Math.min(before.firstClosed, firstClosed) },
      until: { ...before.until, [span]: until },
      closed: { ...before.closed, [span]: lastClosed },
      lastAt: isLater ? lastAt : before.lastAt,
    });
  }
  // with a segment those of shorter spans are closed
  return [...found.values()].map((one) => ({ ...one, until: nested(one.until), closed: nested(one.closed) }));
}

const nested = (by: Counted['until']): Counted['until'] => {
  const hours = Math.max(by[HOUR], by[DAY]);
  return { [DAY]: by[DAY], [HOUR]: hours, [MINUTE]: Math.max(hours, by[MINUTE]) };
};

const NOTHING: Counted['until'] = { [MINUTE]: 0, [HOUR]: 0, [DAY]: 0 };
