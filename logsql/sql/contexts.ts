/** Entries around others in their streams, without reading the streams: for each match the nearest ones before and behind it. */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { Param, join, ofTenant, sql, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import { momentSql } from './time.ts';
import { sizeOfRow } from '../base/rows.ts';
import type { Position } from '../base/position.ts';
import type { StatementRunner, SqlInput } from '../base/types.ts';
import { AMONG, PLACE, POSITION, comparePlaces, placeSet, placeSql, positionAt } from './places.ts';

/** How many entries are wanted, and how far in time before the first and behind the last match of a stream (nanoseconds). */
export type ContextSize = { readonly before: number; readonly after: number; readonly window: bigint };

/** The matches of a stream and the entries around them, with the matches, both oldest first. */
export type StreamContexts = { readonly matched: readonly LogEntry[]; readonly around: readonly LogEntry[] };

/** With more matches, or more entries around them, whole streams are read. */
const MOST_MATCHES = 200;
const MOST_AROUND = 50_000;
/** SELECTs in one statement; over shards, so many run at once. */
const BATCH = 12;

type Match = { readonly stream: string; readonly place: Position };

/** The contexts of each stream that has matches, in the order of the newest match; null where there are too many, or no streams with ids. Throws LogsqlLimitError. */
export async function contextsOf(input: SqlInput, size: ContextSize, runner: StatementRunner): Promise<readonly StreamContexts[] | null> {
  const { source, context, run } = input;
  if (!context.table.stream.isId) return null;
  const found = await runner.rows(
    sql`SELECT toString(stream_id), ${POSITION} FROM ${source} ORDER BY ${BACKWARDS} LIMIT ${uint32(MOST_MATCHES + 1)}`,
  );
  if (found.length > MOST_MATCHES || found.length * (size.before + size.after) > MOST_AROUND) return null;
  const byStream = new Map<string, Match[]>();
  for (const row of found) {
    const match = { stream: String(row[0]), place: positionAt(row, 1) };
    byStream.set(match.stream, [match, ...(byStream.get(match.stream) ?? [])]);
  }
  if (found.length === 0) return [];
  const all = [...byStream.values()];
  const parts = [
    placeSet(all.flat().map(({ place }) => place)),
    ...all.flatMap((matches) => matches.flatMap((match) => placesAround(input, match, matches, size))),
  ];
  const columns = context.table.entryColumns(FieldSet.all, context.tenantId);
  const known = new Map<string, Map<string, { readonly entry: LogEntry; readonly place: Position }>>();
  for (let at = 0; at < parts.length; at += BATCH) {
    const places = join(parts.slice(at, at + BATCH), sql` UNION ALL `);
    const statement = sql`SELECT ${columns.list}, toString(stream_id), ${POSITION} FROM ${context.table.from} WHERE ${ofTenant(context.tenantId)} AND ${PLACE} ${AMONG} (${places})`;
    for await (const read of runner.chunks(statement)) {
      const streams = await runner.streams(columns.streamColumns.flatMap((column) => read.map((row) => String(row[column]))));
      for (const row of read) {
        const stream = known.get(String(row[columns.count])) ?? new Map<string, { readonly entry: LogEntry; readonly place: Position }>();
        known.set(String(row[columns.count]), stream);
        const place = positionAt(row, columns.count + 1);
        if (stream.has(keyOf(place))) continue;
        const entry = columns.decode(row, streams);
        run.memory.hold('The stream_context pipe', 1, sizeOfRow(entry));
        stream.set(keyOf(place), { entry, place });
      }
    }
  }
  return [...byStream].map(([id, matches]) => {
    const entries = known.get(id) ?? new Map<string, { readonly entry: LogEntry; readonly place: Position }>();
    return {
      matched: matches.flatMap(({ place }) => entries.get(keyOf(place))?.entry ?? []),
      around: run.memory.sort([...entries.values()], (a, b) => comparePlaces(a.place, b.place)).map(({ entry }) => entry),
    };
  });
}

const BACKWARDS = sql`_time DESC, arrived DESC, kafka_part DESC, kafka_off DESC, kafka_idx DESC`;

const keyOf = ({ time, arrived, part, offset, index }: Position): string => `${time}/${arrived}/${part}/${offset}/${index}`;

/** SELECTs of the places around a match. */
function placesAround(
  { context, widest }: SqlInput,
  { stream, place }: Match,
  matches: readonly Match[],
  size: ContextSize,
): readonly Sql[] {
  const [first, last] = [BigInt(matches[0]?.place.time ?? 0), BigInt(matches.at(-1)?.place.time ?? 0)];
  const from = later(first - size.window, widest.start);
  const to = earlier(last + size.window, widest.end);
  const own = sql`SELECT ${PLACE} FROM ${context.table.from} WHERE ${ofTenant(context.tenantId)} AND stream_id = ${new Param('UInt64', stream)}`;
  const at = momentSql(BigInt(place.time));
  return [
    ...(size.before === 0
      ? []
      : [
          sql`SELECT * FROM (${own} AND _time BETWEEN ${momentSql(from)} AND ${at} AND ${PLACE} < ${placeSql(place)} ORDER BY ${BACKWARDS} LIMIT ${uint32(size.before)})`,
        ]),
    ...(size.after === 0
      ? []
      : [
          sql`SELECT * FROM (${own} AND _time BETWEEN ${at} AND ${momentSql(to)} AND ${PLACE} > ${placeSql(place)} ORDER BY _time, arrived, kafka_part, kafka_off, kafka_idx LIMIT ${uint32(size.after)})`,
        ]),
  ];
}

const later = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const earlier = (a: bigint, b: bigint): bigint => (a < b ? a : b);
