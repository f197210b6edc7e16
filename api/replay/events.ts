import { conjunction, int64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { chunksOnce } from '../../logsql/sql/sessions-table.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { timeOf } from '../query/window.ts';
import { resumed } from '../select/lines.ts';
import { bodyRows, eventAt, type BodyRow, type EventLine } from './chunk-rows.ts';
import { inOrder } from './in-order.ts';
import type { EventsParameters } from './parameters.ts';
import { boundsOfSession, ofSession } from './sessions.ts';

const NDJSON = { 'Content-Type': 'application/x-ndjson; charset=utf-8' };
const PIECE_BYTES = 64 * 1024;
const [SNAPSHOT, META] = [2, 4];
const MILLION = 1_000_000n;
/** Rows come as they are read, few at a time: some have many bytes. */
const AS_FOUND = { wait_end_of_query: 0, max_block_size: '64', max_threads: 1 };

const moment = (ms: number): Sql => sql`fromUnixTimestamp64Milli(${int64(ms)}, 'UTC')`;

/** Where a part of a session begins: at a full snapshot, behind the page's meta event. */
type Begin = { readonly time: number; readonly isSnapshot: boolean; readonly meta: Buffer | null };

/**
 * `GET …/{session}/events`: the events of a session in the order of their times, a line each. With `from` they begin at the last full snapshot before
 * it, with its meta event, so that a player has what it needs; `to` is the last time.
 */
export async function sessionEvents({ session, ...given }: EventsParameters, request: Request, deps: Deps): Promise<EngineAnswer> {
  const from = given.from === null ? null : Number(timeOf('from', given.from, deps.now()).start / MILLION);
  const to = given.to === null ? null : Number(timeOf('to', given.to, deps.now()).end / MILLION);
  await boundsOfSession(session, request, deps);
  const own = sql`${ofSession(session, request)} AND kind = 0`;
  const begin = from === null ? null : await beginOf(own, from, request, deps);
  const where = conjunction([
    own,
    ...(begin === null ? [] : [sql`last >= ${moment(begin.time)}`]),
    ...(to === null ? [] : [sql`first <= ${moment(to)}`]),
  ]);
  const pieces = piecesOf(rowsOf(where, request, deps), { begin, to: to ?? Infinity }, deps);
  // what fails before the first event still has a status of its own
  const first = await pieces.next();
  return { headers: NDJSON, stream: resumed(first, pieces) };
}

/** Rows with their bodies, in the order of their first events. */
function rowsOf(where: Sql, request: Request, deps: Deps): AsyncGenerator<BodyRow> {
  const { store, options } = deps.runner(request);
  const statement = sql`SELECT toUnixTimestamp64Milli(first), body FROM ${chunksOnce(where)} ORDER BY first, seq, part`;
  return bodyRows(store.bytes(statement, { ...options, settings: { ...options.settings, ...AS_FOUND } }));
}

/** The last full snapshot at or before a time; null where there is none: then all of the session is needed. */
async function beginOf(own: Sql, from: number, request: Request, deps: Deps): Promise<Begin | null> {
  const row = await rowBefore(own, sql`snapshot`, from, request, deps);
  const snapshot = row === null ? null : lastOf(row, SNAPSHOT, from);
  if (row === null || snapshot === null) return null;
  const near = lastOf(row, META, snapshot.time, snapshot.start);
  if (near !== null) return { time: snapshot.time, isSnapshot: true, meta: near.time < snapshot.time ? jsonOf(row, near) : null };
  const other = await rowBefore(own, sql`meta`, snapshot.time, request, deps);
  const meta = other === null ? null : lastOf(other, META, snapshot.time);
  return { time: snapshot.time, isSnapshot: true, meta: other === null || meta === null ? null : jsonOf(other, meta) };
}

/** The row whose first event of a kind is the last one at or before a time. */
async function rowBefore(own: Sql, column: Sql, time: number, request: Request, deps: Deps): Promise<BodyRow | null> {
  const before = sql`${own} AND ${column} > ${moment(0)} AND ${column} <= ${moment(time)}`;
  const [found] = await tenantRows(
    sql`SELECT toString(toUnixTimestamp64Milli(max(${column}))), count() FROM replay_chunks WHERE ${before}`,
    request,
    deps,
  );
  if (Number(found?.[1] ?? 0) === 0) return null;
  const { store, options } = deps.runner(request);
  const statement = sql`SELECT toUnixTimestamp64Milli(first), body FROM replay_chunks WHERE ${own} AND ${column} = ${moment(Number(found?.[0]))} ORDER BY first, seq, part, arrived, kafka_part, kafka_off, kafka_idx LIMIT 1`;
  for await (const row of bodyRows(store.bytes(statement, options))) return { ...row, body: Buffer.from(row.body) };
  return null;
}

/** The last event of a type in a row at or before a time, and before a place in it. */
function lastOf(row: BodyRow, type: number, time: number, before = Infinity): EventLine | null {
  let last: EventLine | null = null;
  for (let event = eventAt(row, 0); event !== null; event = eventAt(row, event.end)) {
    if (event.time > time || event.start >= before) break;
    if (event.type === type) last = event;
  }
  return last;
}

const jsonOf = ({ body }: BodyRow, { start, end }: EventLine): Buffer => body.subarray(start, end);

/** The events of a part of a session as lines, in pieces. */
async function* piecesOf(
  rows: AsyncIterable<BodyRow>,
  { begin, to }: { readonly begin: Begin | null; readonly to: number },
  deps: Deps,
): AsyncGenerator<Uint8Array> {
  let [parts, size]: [Buffer[], number] = [[], 0];
  let isOpen = begin === null;
  if (begin?.meta != null) parts.push(begin.meta);
  for await (const events of inOrder(rows, deps.memory)) {
    for (const { row, time, type, start, end } of events) {
      if (time > to || (begin !== null && time < begin.time)) continue;
      // of the same millisecond there may be others before the snapshot, which a player cannot take
      if (!isOpen && type !== SNAPSHOT && type !== META) continue;
      if (type === SNAPSHOT) isOpen = true;
      parts.push(row.body.subarray(start, end));
      size += end - start;
      if (size < PIECE_BYTES) continue;
      yield Buffer.concat(parts);
      [parts, size] = [[], 0];
    }
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
