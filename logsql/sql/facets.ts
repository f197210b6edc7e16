/**
 * The most frequent values of every field, found in ClickHouse. A sample of the entries proves which fields have too many values or
 * too long ones, so that the exact passes leave them out early; what is answered is counted over all entries.
 *
 * The map of fields is the cost: decoding it, and grouping what is in it. Where the sample shows few fields, each is a grouping set of
 * one pass, which is a quarter cheaper than grouping pairs of names and values; fields that the sample did not show are looked up by
 * the index afterwards. Where it shows many, pairs are grouped.
 */
import { join, sql, texts, uint32, type Sql } from '../../pipeline/core/sql.ts';
import type { Ask, SqlContext } from '../types.ts';
import { MAX_VALUE, Room, sizeOf } from './room.ts';
import { anyFieldSql, fieldText, isMapField } from './text.ts';

/** Which fields are kept, and how much of them. */
export type FacetBounds = {
  readonly limit: number;
  /** A field with more values than this, or with one longer than `maxLength` bytes, is left out, unless it is always kept. */
  readonly maxValues: number;
  readonly maxLength: number;
  readonly always: readonly string[];
  /** Fields that are not asked for. */
  readonly never: readonly string[];
  /** The most fields that are wanted: those with the most hits. */
  readonly maxFields: number;
};

/** A field that is kept: the entries that have it, how many values there are, and those with the most hits, most first. */
export type Facet = {
  readonly name: string;
  readonly hits: number;
  readonly distinct: number;
  readonly values: readonly (readonly [string, number])[];
};
/** Fields, how many more there are, and the number of entries. */
export type Facets = { readonly facets: readonly Facet[]; readonly left: number; readonly rows: number };

/** The most values that a statement gives for a field; larger bounds are met in memory. */
export const MAX_FACET_VALUES = 1000;
/** Entries of the sample: some thousands more than a field may have values, few enough to cost nothing. */
const SAMPLE_ROWS = 20_000;
/** Fields of the map that are grouping sets of one pass; beyond that grouping pairs is cheaper. */
const MAX_SETS = 12;
/** Names of fields outside the sample that are looked up by the index. */
const MAX_RARE = 500;

const COLUMNS = ['level', 'service', '_stream'] as const;
/** Columns that often have too many values; as fields of the map two of them only repeat what the column has. */
const WIDE_COLUMNS = ['_msg', 'trace_id', 'span_id', '_time'] as const;
/** Names that the map may hold too, for their types. */
const OWN = [...COLUMNS, ...WIDE_COLUMNS];
const LEVEL_SERVICE_STREAM: Readonly<Record<(typeof COLUMNS)[number], Sql>> = {
  level: sql`level`,
  service: sql`service`,
  _stream: sql`toString(stream_id)`,
};
/** What the grouping sets are called in the statement. */
const SLOTS = [
  [sql`c0`, sql`c1`, sql`c2`, sql`c3`, sql`c4`, sql`c5`, sql`c6`, sql`c7`, sql`c8`, sql`c9`],
  [sql`c10`, sql`c11`, sql`c12`, sql`c13`, sql`c14`, sql`c15`, sql`c16`, sql`c17`, sql`c18`, sql`c19`],
].flat();
const COMMA = sql`, `;
/** What is known of a group: hits, distinct values, the longest one, and those with the most hits. */
const OF_GROUP = sql`sumIf(c, v != ''), countIf(v != ''), max(length(v)), groupArraySortedIf(1000)((-toInt64(c), v), v != '')`;

/** What the sample says of a field of the map, or of a column. */
type Seen = { readonly name: string; readonly isProven: boolean };

/** The statement that everything else follows from; null when it has no room for the query. */
export function facetSample(source: Sql): Sql | null {
  // The text of a time is dear: its distinct values are those of any text of it.
  const statement = sql`SELECT k, uniqExact(v), max(length(v)) FROM (SELECT fields, _msg, trace_id, span_id, _time FROM ${source} LIMIT ${uint32(SAMPLE_ROWS)}) ARRAY JOIN arrayConcat(mapKeys(fields), ['_msg', 'trace_id', 'span_id', '_time']) AS k, arrayConcat(mapValues(fields), [_msg, trace_id, span_id, toString(_time)]) AS v WHERE v != '' GROUP BY k ORDER BY count() DESC, k`;
  return hasRoom(statement) ? statement : null;
}

const hasRoom = (statement: Sql): boolean => new Room().take(statement);

/** Finds the facets of the entries of `source`, exactly; null when a statement has no room. */
export async function findFacets(source: Sql, context: SqlContext, bounds: FacetBounds, ask: Ask): Promise<Facets | null> {
  const sample = facetSample(source);
  if (sample === null) return null;
  const seen = (await ask.sample(sample, SAMPLE_ROWS)).map(([name, distinct, length]): Seen => {
    const isLong = name !== '_time' && Number(length) > bounds.maxLength;
    return { name: String(name), isProven: !bounds.always.includes(String(name)) && (Number(distinct) > bounds.maxValues || isLong) };
  });
  const proven = new Set(seen.flatMap(({ name, isProven }) => (isProven ? [name] : [])));
  const shown = seen.map(({ name }) => name).filter((name) => isMapField(name));
  const common = shown.filter((name) => !proven.has(name));
  const columns = OWN.filter((name) => !proven.has(name) && !bounds.never.includes(name));
  const isNarrow = common.length <= MAX_SETS && sizeOf(shown) <= MAX_VALUE;
  const first = await askSets(source, columns, isNarrow ? common : [], isNarrow ? shown : null, bounds, ask);
  if (first === null) return null;
  const rest = isNarrow ? await askRare(source, context, shown, first.rare, bounds, ask) : await askPairs(source, [...proven], bounds, ask);
  if (rest === null) return null;
  return { facets: [...first.facets, ...rest.facets], left: rest.left, rows: first.rows };
}

type Sets = {
  readonly facets: readonly Facet[];
  readonly rows: number;
  /** Fields beyond those named; null: too many. */ readonly rare: readonly string[] | null;
};

/** Columns and fields of the map, each as a grouping set; `shown`: the fields of the map beyond which names are asked for. */
async function askSets(
  source: Sql,
  columns: readonly string[],
  fields: readonly string[],
  shown: readonly string[] | null,
  bounds: FacetBounds,
  ask: Ask,
): Promise<Sets | null> {
  const names = [...columns, ...fields];
  const list = names.map((name, at) => sql`${expressionOf(name)} AS ${slot(at)}`);
  const slots = names.map((_name, at) => slot(at));
  const rare = shown === null ? sql`emptyArrayString()` : sql`arrayExcept(mapKeys(fields), ${texts([...OWN, ...shown])})`;
  const sets = join(
    [...slots, sql`r`].map((one) => sql`(${one})`),
    COMMA,
  );
  const statement = sql`SELECT g, ${OF_GROUP}, groupUniqArrayArray(501)(r) FROM (SELECT grouping(${join([...slots, sql`r`], COMMA)}) AS g, r, concat(${join(slots, COMMA)}) AS v, count() AS c FROM (SELECT ${join(list, COMMA)}, ${rare} AS r FROM ${source}) GROUP BY GROUPING SETS (${sets})) GROUP BY g`;
  if (!hasRoom(statement)) return null;
  const found = new Map((await ask.rows(statement)).map((row) => [setOf(Number(row[0]), names.length + 1), row]));
  const streamAt = names.indexOf('_stream');
  const ids = valuesOf(found.get(streamAt)?.[4]);
  const streams = await ask.streams(ids.map(([id]) => id));
  const facets = names.flatMap((name, at): Facet[] => {
    const [, hits, distinct, length, values] = found.get(at) ?? [];
    const shownValues = valuesOf(values).map(([value, size]) => [name === '_stream' ? (streams.get(value) ?? '{}') : value, size] as const);
    const longest = name === '_stream' ? Math.max(0, ...shownValues.map(([value]) => Buffer.byteLength(value))) : Number(length ?? 0);
    const facet = { name, hits: Number(hits ?? 0), distinct: Number(distinct ?? 0), values: shownValues };
    const isKept = bounds.always.includes(name) || (facet.distinct <= bounds.maxValues && longest <= bounds.maxLength);
    return facet.hits > 0 && isKept ? [facet] : [];
  });
  const others = found.get(names.length)?.[5] as readonly string[] | undefined;
  return { facets, rows: Number(found.get(streamAt)?.[1] ?? 0), rare: (others?.length ?? 0) > MAX_RARE ? null : (others ?? []) };
}

const slot = (at: number): Sql => {
  const found = SLOTS[at];
  if (found === undefined) throw new Error('BUG: more grouping sets than names for them.');
  return found;
};

const expressionOf = (name: string): Sql =>
  Object.hasOwn(LEVEL_SERVICE_STREAM, name) ? LEVEL_SERVICE_STREAM[name as (typeof COLUMNS)[number]] : (fieldText(name) ?? sql`''`);

/** Which of `count` sets a row is of: grouping() has a bit for each set, the first one highest, that is 0 for the row's own. */
const setOf = (bits: number, count: number): number => count - 1 - Math.log2(2 ** count - 1 - bits);

const valuesOf = (list: unknown): (readonly [string, number])[] =>
  ((list ?? []) as readonly (readonly [string, string])[]).map(([size, value]) => [value, -Number(size)] as const);

/** Fields that the sample did not show: where few enough to be named, over the entries that have one. */
async function askRare(
  source: Sql,
  context: SqlContext,
  shown: readonly string[],
  rare: readonly string[] | null,
  bounds: FacetBounds,
  ask: Ask,
): Promise<Omit<Facets, 'rows'> | null> {
  if (rare?.length === 0) return { facets: [], left: 0 };
  const isNamed = rare !== null && sizeOf(rare) <= MAX_VALUE;
  return askPairs(isNamed ? sql`${source} AND ${anyFieldSql(rare, context)}` : source, shown, bounds, ask);
}

/** The fields of the map but these, as pairs of name and value. */
async function askPairs(source: Sql, without: readonly string[], bounds: FacetBounds, ask: Ask): Promise<Omit<Facets, 'rows'> | null> {
  // Leaving out those that are proven only saves time: as many as there is room for.
  let room = MAX_VALUE;
  const names = [...OWN, ...without].filter((name) => (room -= sizeOf([name])) > 0);
  const most = uint32(Math.min(bounds.maxFields, 0xffffffff));
  const statement = sql`SELECT k, ${OF_GROUP}, count() OVER () FROM (SELECT k, v, count() AS c FROM (SELECT fields FROM ${source}) ARRAY JOIN mapKeys(fields) AS k, mapValues(fields) AS v WHERE k NOT IN ${texts(names)} GROUP BY k, v) GROUP BY k HAVING countIf(v != '') BETWEEN 1 AND ${uint32(bounds.maxValues)} AND max(length(v)) <= ${uint32(Math.min(bounds.maxLength, 0xffffffff))} ORDER BY 2 DESC, k LIMIT ${most}`;
  if (!hasRoom(statement)) return null;
  const rows = await ask.rows(statement);
  const facets = rows.map((row): Facet => {
    const [name, hits, distinct] = row;
    return { name: String(name), hits: Number(hits), distinct: Number(distinct), values: valuesOf(row[4]) };
  });
  return { facets, left: Number(rows[0]?.[5] ?? 0) - rows.length };
}
