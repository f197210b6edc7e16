/**
 * Sessions of replay as queries see them: rows of `replay_chunks` (pipeline/store/schema/022_replay_chunks.sql) by session, each batch once, without
 * those that were deleted (docs/adr/0046-session-replay.md).
 */
import { conjunction, join, ofTenant, sql, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { renderStream } from '../../pipeline/core/labels.ts';
import type { Table } from '../base/table.ts';
import { SESSION_FIELDS, sessionColumns, URLS } from './session-fields.ts';
import { oneOf } from './statement-budget.ts';
import { TIME_TEXT } from './time.ts';

/**
 * What tells rows of batches apart: of rows that share it the first that arrived counts. Two browsers under one id number their batches alike, but none
 * begin in the same millisecond with as many bytes.
 */
const PART = sql`kind, seq, part, first, bytes`;
const BATCH = sql`session, ${PART}`;
const PLACE = sql`arrived, kafka_part, kafka_off, kafka_idx`;

/** The rows of `replay_chunks` that meet conditions, each part of a batch once: without those that copy others. */
export function chunksOnce(where: Sql): Sql {
  const twice = sql`SELECT cityHash64(${BATCH}) AS same FROM replay_chunks WHERE ${where} GROUP BY same HAVING count() > 1`;
  const copies = sql`SELECT kafka_part, kafka_off, kafka_idx FROM replay_chunks WHERE ${where} AND cityHash64(${BATCH}) IN (${twice}) ORDER BY ${PLACE} LIMIT 1, 4294967295 BY ${BATCH}`;
  return sql`replay_chunks WHERE ${where} AND (kafka_part, kafka_off, kafka_idx) NOT IN (${copies})`;
}

/** Sessions of which a part of a batch is there twice: few. A row of the answer is the id of one; `most` of them. */
export const repeatedSessions = (where: Sql, most: number): Sql =>
  sql`SELECT session FROM replay_chunks WHERE ${where} GROUP BY tenant_id, session HAVING count() != uniqExact(cityHash64(${PART})) LIMIT ${uint32(most)} SETTINGS optimize_aggregation_in_order = 1`;

/** The same as `chunksOnce`, where it is known which sessions have copies: the others are not looked at for them. */
function chunksWithout(where: Sql, repeated: readonly string[]): Sql {
  if (repeated.length === 0) return sql`replay_chunks WHERE ${where}`;
  const isRepeated = oneOf(sql`session`, repeated);
  const own = sql`${where} AND ${isRepeated}`;
  const copies = sql`SELECT kafka_part, kafka_off, kafka_idx FROM replay_chunks WHERE ${own} ORDER BY ${PLACE} LIMIT 1, 4294967295 BY ${BATCH}`;
  return sql`replay_chunks WHERE ${where} AND (NOT ${isRepeated} OR (kafka_part, kafka_off, kafka_idx) NOT IN (${copies}))`;
}

/**
 * The same of few sessions, read once: as a subquery of the columns that a session is made of. `min(arrived)` is when the first of copies arrived; all else they share.
 */
const chunksGrouped = (where: Sql): Sql =>
  sql`(SELECT tenant_id, session, kind, first, bytes, any(c.last) AS last, any(c.events) AS events, any(c.clicks) AS clicks, any(c.errors) AS errors, any(c.failed_requests) AS failed_requests, any(c.urls) AS urls, any(c.user) AS user, any(c.service) AS service, any(c.version) AS version, min(c.arrived) AS arrived FROM replay_chunks AS c WHERE ${where} GROUP BY tenant_id, session, ${PART})`;

/** Clicks of a session with their times, in order. A click counts that comes within a second and 30 pixels of the two before it. */
const CLICKS = sql`arraySort(groupArrayArrayIf(arrayMap(c -> (toUnixTimestamp64Milli(r.first) + toInt64(bitShiftRight(c, 26)), toInt64(bitAnd(bitShiftRight(c, 13), 8191)), toInt64(bitAnd(c, 8191))), r.clicks), notEmpty(r.clicks)))`;
const near = (one: Sql): Sql => sql`pow(all_clicks[i].2 - all_clicks[${one}].2, 2) + pow(all_clicks[i].3 - all_clicks[${one}].3, 2) <= 900`;
const RAGE = sql`arrayCount(i -> all_clicks[i].1 - all_clicks[i - 2].1 <= 1000 AND ${near(sql`i - 1`)} AND ${near(sql`i - 2`)}, range(3, length(all_clicks) + 1))`;

const OWN = sql`tenant_id, _time, session, ended, event_count, byte_count, click_count, error_count, failed_count, urls_of, url, user_of, service_of, version_of, arrived, kafka_part, kafka_off, kafka_idx`;

/** A label of a session: that of its latest events which is not empty. Copies of rows do not change it. */
const latest = (column: Sql): Sql => sql`argMaxIf(${column}, r.last, notEmpty(${column}))`;

/** What is known of a session without regard to copies of rows; of errors and failed requests whether there are any. */
const FOUND = sql`tenant_id, session, toDateTime64(min(r.first), 9, 'UTC') AS _time, max(r.last) AS ended, sum(r.errors) AS error_count, sum(r.failed_requests) AS failed_count, groupUniqArrayArray(r.urls) AS urls_of, argMinIf(r.urls[1], r.first, notEmpty(r.urls)) AS url, ${latest(sql`r.user`)} AS user_of, ${latest(sql`r.service`)} AS service_of, ${latest(sql`r.version`)} AS version_of, min(r.arrived) AS arrived, toUInt16(0) AS kafka_part, cityHash64(session) AS kafka_off, toUInt32(0) AS kafka_idx`;

/**
 * Sessions as a subquery: those of some rows. Deleted ones are left out where their tombstones are among them. A session has no place on the log: what tells
 * those of one time apart is a hash of the id.
 */
const sessionsOf = (rows: Sql): Sql =>
  sql`(SELECT ${OWN}, toUnixTimestamp64Milli(ended) - toUnixTimestamp64Milli(_time) AS duration_ms, ${RAGE} AS rage_clicks, CAST(map(), 'Map(String, String)') AS fields FROM (SELECT ${FOUND}, sum(r.events) AS event_count, sum(r.bytes) AS byte_count, sum(length(r.clicks)) AS click_count, ${CLICKS} AS all_clicks FROM (SELECT * FROM ${rows}) AS r GROUP BY tenant_id, session HAVING max(r.kind) = 0))`;

/** The same of what copies of rows do not change, which is shorter to plan. */
const foundOf = (rows: Sql): Sql =>
  sql`(SELECT *, toUnixTimestamp64Milli(ended) - toUnixTimestamp64Milli(_time) AS duration_ms FROM (SELECT ${FOUND} FROM (SELECT * FROM ${rows}) AS r GROUP BY tenant_id, session HAVING max(r.kind) = 0))`;

const TEXTS: ReadonlyMap<string, Sql> = new Map([
  ['_time', TIME_TEXT],
  ['_stream_id', sql`''`],
  ['_msg', URLS],
  ['urls', URLS],
  ...SESSION_FIELDS.map(({ name, text }) => [name, text] as const),
]);
const NUMBERS: ReadonlyMap<string, Sql> = new Map(SESSION_FIELDS.flatMap(({ name, number }) => (number === null ? [] : [[name, number]])));
const NONE = sql`CAST([], 'Array(String)')`;
const COLUMNS = sql`${OWN}, duration_ms, rage_clicks, fields`;

/**
 * The sessions of a tenant of which rows meet conditions. All rows of a session must meet them, and its tombstone. `repeated`: those that have copies of
 * rows; null where that is not known; 'few' where it is not, of few sessions.
 */
export function sessionsTable(tenantId: number, conditions: readonly Sql[], repeated: readonly string[] | 'few' | null = null): Table {
  const where = conjunction([ofTenant(tenantId), ...conditions]);
  const rows = repeated === 'few' ? chunksGrouped(where) : repeated === null ? chunksOnce(where) : chunksWithout(where, repeated);
  return tableFrom(sessionsOf(rows), COLUMNS);
}

/**
 * The same, to find sessions by what copies of rows do not change: `SAME_WITH_COPIES`, whether there are errors or failed requests, and a length. Where nothing else is asked
 * of rows than tenant, span of time and session, ClickHouse reads the projection `sessions` (pipeline/store/schema/030_sessions.sql), whose expressions these are.
 */
export const foundSessions = (tenantId: number, conditions: readonly Sql[]): Table =>
  tableFrom(foundOf(sql`replay_chunks WHERE ${conjunction([ofTenant(tenantId), ...conditions])}`), sql`*`);

function tableFrom(from: Sql, columns: Sql): Table {
  const meeting = (more: readonly Sql[]): Sql => sql`${from} WHERE ${join(more, sql` AND `)}`;
  return {
    ...{ row: 'session', member: 'sessions' },
    from,
    columns,
    where: meeting,
    matching: meeting,
    look: () => 'indexed',
    indexes: [],
    text: (field) => (field === '_stream' ? null : (TEXTS.get(field) ?? sql`''`)),
    isMapField: () => false,
    promoted: () => undefined,
    promotedLabel: () => undefined,
    indexedWords: () => [],
    isOneOf: () => undefined,
    isOneWord: (field) => field === 'session_id',
    number: (field) => NUMBERS.get(field),
    fewWords: () => undefined,
    ...{ names: NONE, values: NONE, namesAlone: NONE },
    lists: {
      common: ['user', 'service', 'version', 'url'],
      wide: SESSION_FIELDS.map(({ name }) => name).filter((name) => !['user', 'service', 'version', 'url'].includes(name)),
      sampled: columns,
      everywhere: 'session_id',
      ...{ always: ['service', 'user'], never: ['_time', '_msg', '_stream'] },
      counts: [['_time', sql`count()`], ...SESSION_FIELDS.map(({ name, text }) => [name, sql`countIf(${text} != '')`] as const)],
    },
    stream: {
      key: sql`service_of`,
      isId: false,
      text: (service) => renderStream([['service', service]]),
      labels: (label) => (label === 'service' ? sql`service_of` : sql`''`),
    },
    ...{ isCounted: false, hasPatterns: false },
    entryColumns: sessionColumns,
  };
}
