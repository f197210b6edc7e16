/**
 * The most frequent values of every field, found in ClickHouse. A sample of the entries proves which fields have too many values or
 * too long ones, so that the exact passes leave them out early; what is answered is counted over all entries.
 *
 * The map of fields is the cost: decoding it, and grouping what is in it. Where the sample shows few fields, each is a grouping set of
 * one pass, which is a quarter cheaper than grouping pairs of names and values; fields that the sample did not show are looked up
 * afterwards. Where it shows many, pairs are grouped. Where many entries match, level, service, stream and labels come from
 * the hourly counts, if these have them.
 */
import { join, sql, texts, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { countEntries } from './aggregate.ts';
import type { StatementRunner, SqlInput } from '../base/types.ts';
import { ENTRIES } from './counts.ts';
import { MAX_VALUE, StatementBudget, sizeOf } from './statement-budget.ts';
import type { SharedFields, Table } from '../base/table.ts';
import { anyFieldSql } from './text.ts';

/** Which fields are kept, and how much of them. */
export type FacetBounds = {
  readonly limit: number;
  /** A field with more values than this, or with one longer than `maxLength` bytes, is left out, unless it is always kept. */
  readonly maxValues: number;
  readonly maxLength: number;
  readonly always: readonly string[];
  /** Fields that are not requested. */
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
/** Entries of the sample, some thousands more than a field may have values, and how many are read for them at most. */
const SAMPLE_ROWS = 10_000;
const SAMPLE_READ = 20_000;
/** Fields of the map that are grouping sets of one pass; beyond that grouping pairs is cheaper. */
const MAX_SETS = 12;
/** Names of fields outside the sample that are looked up by name. */
const MAX_OTHERS = 500;

/** What the grouping sets are called in the statement. */
const SLOTS = [
  [sql`c0`, sql`c1`, sql`c2`, sql`c3`, sql`c4`, sql`c5`, sql`c6`, sql`c7`, sql`c8`, sql`c9`],
  [sql`c10`, sql`c11`, sql`c12`, sql`c13`, sql`c14`, sql`c15`, sql`c16`, sql`c17`, sql`c18`, sql`c19`],
  [sql`c20`, sql`c21`, sql`c22`, sql`c23`, sql`c24`, sql`c25`, sql`c26`, sql`c27`, sql`c28`, sql`c29`, sql`c30`, sql`c31`],
].flat();
const COMMA = sql`, `;
/** What is known of a group: hits, distinct values, the longest one, and those with the most hits. */
const OF_GROUP = sql`sumIf(c, v != ''), countIf(v != ''), max(length(v)), groupArraySortedIf(1000)((-toInt64(c), v), v != '')`;

/** The statement that finds which fields there are; null when it exceeds the budget. */
function sampleOf(source: Sql, wide: readonly string[], { text, lists, names, values }: Table): Sql | null {
  // LogsQL's string of a time is dear: it has as many distinct values as any other string of it.
  const columns = wide.map((name) => (name === '_time' ? sql`toString(_time)` : (text(name) ?? sql`''`)));
  const statement = sql`SELECT k, uniqExact(v), max(length(v)), count() FROM (SELECT ${lists.sampled} FROM ${source} LIMIT ${uint32(SAMPLE_ROWS)}) ARRAY JOIN arrayConcat(${names}, ${texts(wide)}) AS k, arrayConcat(${values}, [${join(columns, COMMA)}]) AS v WHERE v != '' GROUP BY k ORDER BY count() DESC, k`;
  return mayTake(statement) ? statement : null;
}

const mayTake = (statement: Sql): boolean => new StatementBudget().take(statement);

const ownOf = ({ lists }: Table): readonly string[] => [...lists.common, ...lists.wide];

/** Finds the facets of the entries of a query, exactly; null when a statement exceeds the budget. */
export async function findFacets(
  input: Pick<SqlInput, 'source' | 'counts'> & { readonly context: Pick<SqlInput['context'], 'table'> },
  bounds: FacetBounds,
  runner: StatementRunner,
): Promise<Facets | null> {
  const { source, counts, context } = input;
  const { table } = context;
  const { common: fixed, wide } = table.lists;
  const own = ownOf(table);
  const isWanted = (name: string): boolean => !bounds.never.includes(name);
  const sample = sampleOf(source, wide.filter(isWanted), table);
  if (sample === null) return null;
  const { proven, shown, isFull } = readSample(await runner.sample(sample, SAMPLE_READ), bounds, table);
  const labels = [...fixed, ...shown.filter((name) => table.promotedLabel(name) !== undefined && !proven.has(name))].filter(isWanted);
  const hourly = isFull ? counts(labels, Infinity) : null;
  const counted = hourly === null ? [] : labels;
  const isOpen = (name: string): boolean => !proven.has(name) && !counted.includes(name);
  const columns = own.filter((name) => isWanted(name) && isOpen(name));
  const common = shown.filter(isOpen);
  const isNarrow = common.length <= MAX_SETS && sizeOf(shown) <= MAX_VALUE;
  const [byHour, first] = await Promise.all([
    hourly === null
      ? NONE
      : querySets({ source: hourly.source, entries: ENTRIES, noticed: hourly.doubt ?? null, table }, counted, bounds, runner),
    querySets(
      { source, entries: null, noticed: isNarrow ? beyond(shown, table) : null, table },
      isNarrow ? [...columns, ...common] : columns,
      bounds,
      runner,
    ),
  ]);
  if (byHour === null || first === null) return null;
  if (byHour.isNoticed) return findFacets({ source, counts: () => null, context }, bounds, runner);
  const rest = isNarrow
    ? await (first.isNoticed ? queryOthers({ source, table }, shown, bounds, runner) : NONE)
    : await queryPairs({ source, table }, [...proven, ...counted], bounds, runner);
  const shared = table.lists.shared === undefined ? NONE : await queryShared(table.lists.shared, source, bounds, runner);
  if (rest === null || shared === null) return null;
  return {
    facets: [...byHour.facets, ...first.facets, ...rest.facets, ...shared.facets],
    left: rest.left + shared.left,
    rows: byHour.rows + first.rows,
  };
}

/** What the sample shows: fields that are left out whatever the other entries have, all fields of the map, and whether many entries match. */
function readSample(rows: readonly (readonly unknown[])[], { always, maxValues, maxLength }: FacetBounds, { isMapField }: Table) {
  const seen = rows.map(([name, distinct, length, entries]) => ({
    name: String(name),
    hasTooMany: Number(distinct) > maxValues || (name !== '_time' && Number(length) > maxLength),
    entries: Number(entries),
  }));
  return {
    proven: new Set(seen.flatMap(({ name, hasTooMany }) => (hasTooMany && !always.includes(name) ? [name] : []))),
    shown: seen.map(({ name }) => name).filter((name) => isMapField(name)),
    isFull: seen.some(({ entries }) => entries >= SAMPLE_ROWS),
  };
}

/** What sets are counted of: entries, or rows that stand for several each; `noticed`: of which rows it is told whether there are any. */
type SetsOf = { readonly source: Sql; readonly entries: Sql | null; readonly noticed: Sql | null; readonly table: Table };
type SomeFacets = Omit<Facets, 'rows'>;
type Sets = Facets & { readonly isNoticed: boolean };
const NONE: Sets = { facets: [], left: 0, rows: 0, isNoticed: false };

/** Rows with fields of the map beyond these. */
const beyond = (shown: readonly string[], table: Table): Sql =>
  sql`arrayExists(k -> k NOT IN ${texts([...ownOf(table), ...shown])}, ${table.names})`;

/** Columns and fields of the map, each as a grouping set; `rows`: how many entries there are, where the field that all have is one of them. */
async function querySets(
  { source, entries, noticed, table }: SetsOf,
  names: readonly string[],
  bounds: FacetBounds,
  runner: StatementRunner,
): Promise<Sets | null> {
  const list = names.map((name, at) => sql`${expressionOf(name, entries !== null, table)} AS ${slot(at)}`);
  const slots = names.map((_name, at) => slot(at));
  const size = entries === null ? sql`` : sql`, ${entries}`;
  const keys = [...slots, sql`r`];
  const sets = join(
    keys.map((one) => sql`(${one})`),
    COMMA,
  );
  const statement = sql`SELECT g, ${OF_GROUP}, max(r) FROM (SELECT grouping(${join(keys, COMMA)}) AS g, r, concat(${join([...slots, sql`''`], COMMA)}) AS v, ${countEntries(entries)} AS c FROM (SELECT ${join([...list, sql`${noticed ?? sql`0`} AS r`], COMMA)}${size} FROM ${source}) GROUP BY GROUPING SETS (${sets})) GROUP BY g`;
  if (!mayTake(statement)) return null;
  const found = new Map((await runner.rows(statement)).map((row) => [setOf(Number(row[0]), keys.length), row]));
  const everywhere = names.indexOf(table.lists.everywhere);
  const { isId, text } = table.stream;
  const ids = isId ? valuesOf(found.get(names.indexOf('_stream'))?.[4]).map(([id]) => id) : [];
  const streams = await runner.streams(ids);
  const facets = names.flatMap((name, at): Facet[] => {
    const [, hits, distinct, length, values] = found.get(at) ?? [];
    const shownValues = valuesOf(values).map(
      ([value, size]) => [name === '_stream' ? text(isId ? value : value.slice(1), streams) || '{}' : value, size] as const,
    );
    const longest = name === '_stream' ? Math.max(0, ...shownValues.map(([value]) => Buffer.byteLength(value))) : Number(length ?? 0);
    const facet = { name, hits: Number(hits ?? 0), distinct: Number(distinct ?? 0), values: shownValues };
    const isKept = bounds.always.includes(name) || (facet.distinct <= bounds.maxValues && longest <= bounds.maxLength);
    return facet.hits > 0 && isKept ? [facet] : [];
  });
  return { facets, left: 0, rows: Number(found.get(everywhere)?.[1] ?? 0), isNoticed: Number(found.get(names.length)?.[5] ?? 0) > 0 };
}

const slot = (at: number): Sql => {
  const found = SLOTS[at];
  if (found === undefined) throw new Error('BUG: more grouping sets than names for them.');
  return found;
};

/** `isCounted`: over counts, which have the short columns of promoted fields alone. */
function expressionOf(name: string, isCounted: boolean, { stream, promotedLabel, text }: Table): Sql {
  // what is not an id may be empty, which is a stream all the same
  if (name === '_stream') return stream.isId ? sql`toString(${stream.key})` : sql`concat('=', ${stream.key})`;
  return (isCounted ? promotedLabel(name)?.short : undefined) ?? text(name) ?? sql`''`;
}

/** Which of `count` sets a row is of: grouping() has a bit for each set, the first one highest, that is 0 for the row's own. */
const setOf = (bits: number, count: number): number => count - 1 - Math.log2(2 ** count - 1 - bits);

const valuesOf = (list: unknown): (readonly [string, number])[] =>
  ((list ?? []) as readonly (readonly [string, string])[]).map(([size, value]) => [value, -Number(size)] as const);

/** Fields that the sample did not show: where few enough to be named, over the entries that have one. */
async function queryOthers(
  { source, table }: Pick<SetsOf, 'source' | 'table'>,
  shown: readonly string[],
  bounds: FacetBounds,
  runner: StatementRunner,
): Promise<SomeFacets | null> {
  const statement = sql`SELECT DISTINCT k FROM (SELECT ${table.namesAlone} AS names FROM ${source}) ARRAY JOIN names AS k WHERE k NOT IN ${texts([...ownOf(table), ...shown])} LIMIT ${uint32(MAX_OTHERS + 1)}`;
  if (!mayTake(statement)) return null;
  const others = (await runner.rows(statement)).map(([name]) => String(name));
  const isNamed = others.length <= MAX_OTHERS && sizeOf(others) <= MAX_VALUE;
  return queryPairs({ source: isNamed ? sql`${source} AND ${anyFieldSql(others, table)}` : source, table }, shown, bounds, runner);
}

/** The fields of the map but these, as pairs of name and value. */
async function queryPairs(
  { source, table }: Pick<SetsOf, 'source' | 'table'>,
  without: readonly string[],
  bounds: FacetBounds,
  runner: StatementRunner,
): Promise<SomeFacets | null> {
  // Leaving out those that are proven only saves time: as many as the budget allows.
  let budget = MAX_VALUE;
  const names = [...ownOf(table), ...without].filter((name) => (budget -= sizeOf([name])) > 0);
  const pairs = sql`SELECT k, v, count() AS c FROM (SELECT fields FROM ${source}) ARRAY JOIN ${table.names} AS k, ${table.values} AS v WHERE k NOT IN ${texts(names)} GROUP BY k, v`;
  return facetsOfPairs(pairs, bounds, runner);
}

/** Fields that lie together in one string, of which each is read once. */
function queryShared({ of, pairs }: SharedFields, source: Sql, bounds: FacetBounds, runner: StatementRunner): Promise<SomeFacets | null> {
  const strings = sql`SELECT ${pairs(sql`shared`)} AS pairs, c AS n FROM (SELECT ${of} AS shared, count() AS c FROM ${source} GROUP BY shared)`;
  return facetsOfPairs(sql`SELECT p.1 AS k, p.2 AS v, sum(n) AS c FROM (${strings}) ARRAY JOIN pairs AS p WHERE k NOT IN ${texts(bounds.never)} GROUP BY k, v`, bounds, runner); // prettier-ignore
}

/** Facets out of a SELECT of names, values and counts. */
async function facetsOfPairs(pairs: Sql, bounds: FacetBounds, runner: StatementRunner): Promise<SomeFacets | null> {
  const most = uint32(Math.min(bounds.maxFields, 0xffffffff));
  const statement = sql`SELECT k, ${OF_GROUP}, count() OVER () FROM (${pairs}) GROUP BY k HAVING countIf(v != '') BETWEEN 1 AND ${uint32(bounds.maxValues)} AND max(length(v)) <= ${uint32(Math.min(bounds.maxLength, 0xffffffff))} ORDER BY 2 DESC, k LIMIT ${most}`;
  if (!mayTake(statement)) return null;
  const rows = await runner.rows(statement);
  const facets = rows.map((row): Facet => {
    const [name, hits, distinct] = row;
    return { name: String(name), hits: Number(hits), distinct: Number(distinct), values: valuesOf(row[4]) };
  });
  return { facets, left: Number(rows[0]?.[5] ?? 0) - rows.length };
}
