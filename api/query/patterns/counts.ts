import { OVERFLOW_FINGERPRINT } from '../../../pipeline/clusterer/clusterer.ts';
import { conjunction, int64, numberSet, ofTenant, sql, text, type Sql } from '../../../pipeline/core/sql.ts';
import { timeOf, readWindow, type Window } from '../window.ts';
import type { Deps, Request } from '../deps.ts';

const SECOND = 1_000_000_000n;
const [MINUTE, HOUR] = [60n, 3600n];
/** In shorter windows all is counted by minutes, so that what is shown of it is as fine. Seconds. */
const SHORT = 12n * HOUR;

/** The number of a fingerprint, as the column `pattern` has it: its first eight bytes. */
export const numberOf = (fingerprint: string): Sql => sql`toUInt64(${text(BigInt(`0x${fingerprint.slice(0, 16)}`).toString())})`;
export const OVERFLOW = numberOf(OVERFLOW_FINGERPRINT);

/** The numbers of fingerprints, as a set. */
export const numbersOf = (fingerprints: readonly string[]): Sql =>
  numberSet(fingerprints.map((one) => BigInt(`0x${one.slice(0, 16)}`).toString()));

/** Seconds since 1970 of whole spans, which the table can have: those that a time lies in, and the first one that begins no earlier. */
const floorTo = (ns: bigint, span: bigint): bigint => {
  const seconds = ns / SECOND - (ns < 0n && ns % SECOND !== 0n ? 1n : 0n);
  return seconds - (((seconds % span) + span) % span);
};
const ceilTo = (ns: bigint, span: bigint): bigint => floorTo(ns + span * SECOND - 1n, span);
const at = (seconds: bigint): Sql => sql`fromUnixTimestamp64Second(${int64(seconds)}, 'UTC')`;

/** The window from `since` until now. Throws HttpError 400. */
export function sinceWindow(since: string, request: Request, deps: Deps): Window {
  const now = deps.now();
  timeOf('since', since, now);
  return readWindow(since, 'now', now, request.retentionDays);
}

/** By whole minutes: from the one that has the start, up to before the one that has the end. */
export type CountedWindow = Pick<Window, 'start' | 'end'> & {
  /** To what there is, also behind the end: entries from clocks that are ahead. */
  readonly isOpen: boolean;
};

/**
 * What stands after FROM for the counts of a tenant's patterns in a window, to the minute: rows of `pattern`, `stream_id`, `severity`, `time`,
 * `entries`, `first_ms`, `last_ms` and `arrived`. Whole hours are counted by the rows of hours, and behind the last closed segment of these, and
 * at the ends of the window, by those of minutes. Each part of a segment is counted once, however often it was written.
 */
export function patternCounts(tenantId: number, { start, end, isOpen }: CountedWindow, only: readonly Sql[] = []): Sql {
  const [from, to] = [floorTo(start, MINUTE), floorTo(end, MINUTE)];
  const [first, last] = [ceilTo(start, HOUR), isOpen ? null : floorTo(end, HOUR)];
  const own = ofTenant(tenantId);
  const isIn = isOpen ? sql`time >= ${at(from)}` : sql`time >= ${at(from)} AND time < ${at(to)}`;
  const hours = last === null ? sql`time >= ${at(first)}` : sql`time >= ${at(first)} AND time < ${at(last)}`;
  const isLong = end / SECOND - start / SECOND >= SHORT;
  const rows = isLong
    ? sql`((span = 3600 AND ${hours}) OR (span = 60 AND ${isIn} AND (NOT (${hours}) OR segment >= closed[run * 65536 + log_part])))`
    : sql`span = 60 AND ${isIn}`;
  const where = conjunction([own, sql`scope < 2`, rows, ...only]);
  const closed = sql`WITH (SELECT mapFromArrays(groupArray(k), groupArray(u)) FROM (SELECT run * 65536 + log_part AS k, max(until) AS u FROM pattern_counts WHERE ${own} AND scope = 2 AND span = 3600 GROUP BY k)) AS closed `;
  // of a part of a segment that was written twice one record counts
  const once = sql`(log_part, kafka_off) IN (SELECT log_part, min(kafka_off) FROM pattern_counts WHERE ${where} GROUP BY log_part, run, span, segment, part)`;
  return sql`(${isLong ? closed : sql``}SELECT pattern, stream_id, severity, time, entries, first_ms, last_ms, arrived FROM pattern_counts WHERE ${where} AND ${once})`;
}

/** The last word on each pattern of a tenant: `number`, `fingerprint`, `root` and `first`, the earliest time that is known (milliseconds). */
export const latestPatterns = (tenantId: number): Sql =>
  sql`(SELECT pattern AS number, any(fingerprint) AS fingerprint, argMax(root, (version, kafka_off, kafka_idx)) AS root, min(first_ms) AS first FROM patterns WHERE ${ofTenant(tenantId)} GROUP BY pattern)`;

/**
 * The root of a counted pattern's cluster, joined with `latestPatterns`; empty for one that is not published yet. What was counted a minute ago
 * and is not published is the overflow.
 */
export const ROOT = sql`multiIf(words.root != '', words.root, c.pattern = ${OVERFLOW} OR c.arrived < now64(3) - INTERVAL 1 MINUTE, ${text(OVERFLOW_FINGERPRINT)}, '')`;

/** Whether entries are of a service, by the labels of their streams. */
export const ofService = (tenantId: number, service: string): Sql =>
  sql`stream_id IN (SELECT stream_id FROM streams WHERE ${ofTenant(tenantId)} AND if(labels['service'] != '', labels['service'], labels['service.name']) = ${text(service)})`;
