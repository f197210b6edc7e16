/** What answers Prometheus' query API, in a query worker. */
import { conjunction, ofTenant, sql, text, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { PromqlLimitError } from '../../promql/base/errors.ts';
import { MAX_SAMPLES } from '../../promql/base/limits.ts';
import { instantQuery, rangeQuery } from '../../promql/evaluation/query.ts';
import { valueTexts, type QueryResult, type Value } from '../../promql/evaluation/result.ts';
import type { Options } from '../../promql/evaluation/state.ts';
import { expressionJson } from '../../promql/parser/ast-json.ts';
import { parseExpression, parseSelector } from '../../promql/parser/parse.ts';
import { formatExpression } from '../../promql/parser/printer.ts';
import { seriesWhere, type Matcher } from '../metrics/matcher.ts';
import { StoredSamples } from '../metrics/sample-source.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { retentionFloor } from '../query/window.ts';
import { DERIVED, derivedSeries } from './derived-series.ts';
import { inPieces } from './in-pieces.ts';
import { judged } from './judged.ts';
import { StoredSeries } from './stored-series.ts';

const NAME = '__name__';
const DAY_MS = 86_400_000;
/** Items of an answer that lists series, labels or values. */
const MAX_LISTED = 100_000;
/** Bytes that a sample takes while it is held: its time and its value. */
const SAMPLE_BYTES = 16;

/** A query at `start`, or over a range where there is a step. Times in milliseconds; null of `lookback` is Prometheus' five minutes. */
export type PromqlQuery = {
  readonly query: string;
  readonly start: number;
  readonly end: number;
  readonly step: number | null;
  readonly lookback: number | null;
  /** Most series of the answer; 0 for all. */
  readonly limit: number;
  readonly stats: boolean;
};

/** Which series are listed: those that one of the selectors wants, all where there is none. Milliseconds. */
export type SeriesParameters = { readonly matches: readonly string[]; readonly start: number | null; readonly limit: number };

/** How an expression is evaluated over what is stored of a tenant. */
export function optionsOf(lookback: number | null, request: Request, deps: Deps): Options {
  const { store, options } = deps.runner(request);
  const floor = retentionFloor(deps.now(), request.retentionDays);
  return {
    source: new StoredSeries(new StoredSamples(store, options, floor === null ? null : Number(floor / 1_000_000n)), (selection) =>
      derivedSeries(selection, request, deps),
    ),
    ...(lookback === null ? {} : { lookbackMs: lookback }),
    maxSamples: Math.min(MAX_SAMPLES, Math.floor(deps.memory.left.maxBytes / SAMPLE_BYTES)),
    onHold: (samples) => {
      holdSamples(samples, deps.memory);
    },
    checkpoint: () => {
      request.signal.throwIfAborted();
      deps.memory.checkTime();
    },
  };
}

/** What an evaluation holds counts for all that run in this process. */
function holdSamples(samples: number, memory: Deps['memory']): void {
  const bytes = samples * SAMPLE_BYTES;
  if (bytes <= 0) memory.release(0, -bytes);
  else if (memory.fits(bytes)) memory.hold('The evaluation', 0, bytes);
  else throw new PromqlLimitError();
}

/** `query` and `query_range`. */
export async function promqlQuery(parameters: PromqlQuery, request: Request, deps: Deps): Promise<string | EngineAnswer> {
  const { query, start, end, step, lookback } = parameters;
  const options = optionsOf(lookback, request, deps);
  const result = await judged(() => (step === null ? instantQuery(query, start, options) : rangeQuery(query, start, end, step, options)));
  deps.memory.hold('The result', 0, bytesOf(result.value));
  return inPieces(resultTexts(result, parameters));
}

/** What a result takes while it is sent. */
const bytesOf = (value: Value): number =>
  value.type === 'matrix' ? value.series.reduce((sum, { timestamps }) => sum + timestamps.length * SAMPLE_BYTES, 0) : 0;

function* resultTexts({ value, warnings, infos, read, peak }: QueryResult, { limit, stats }: PromqlQuery): Generator<string> {
  const size = value.type === 'matrix' ? value.series.length : value.type === 'vector' ? value.samples.length : 0;
  const most = limit > 0 ? limit : Infinity;
  const notes = size > most ? [...warnings, 'results truncated due to limit'] : warnings;
  yield '{"status":"success","data":{';
  yield* valueTexts(value, most);
  if (stats) yield `,"stats":${JSON.stringify({ samples: { totalQueryableSamples: read, peakSamples: peak } })}`;
  yield '}';
  if (notes.length > 0) yield `,"warnings":${JSON.stringify(notes)}`;
  if (infos.length > 0) yield `,"infos":${JSON.stringify(infos)}`;
  yield '}';
}

/** The conditions of the selectors, of which one is to hold. */
async function conditionsOf({ matches, start }: SeriesParameters, { tenantId }: Request): Promise<Sql[]> {
  const from = start ?? 0;
  if (matches.length === 0) return [seriesWhere(tenantId, [], from)];
  const selectors = await judged(() => Promise.resolve(matches.map((match) => parseSelector(match))));
  return selectors.map((selector) => seriesWhere(tenantId, selector.map(({ name, type, value }): Matcher => ({ name, op: type, value })), from)); // prettier-ignore
}

const united = (statements: readonly Sql[]): Sql => statements.reduce((all, one) => sql`${all} UNION DISTINCT ${one}`);
const most = (limit: number): number => (limit === 0 ? MAX_LISTED : Math.min(limit, MAX_LISTED));

/** A list, cut where there is more than may be shown, which a warning says. */
function listJson(items: readonly unknown[], limit: number): string {
  const isCut = items.length > most(limit);
  return JSON.stringify({
    status: 'success',
    data: isCut ? items.slice(0, most(limit)) : items,
    ...(isCut ? { warnings: ['results truncated due to limit'] } : {}),
  });
}

/** `series`: the label sets that the selectors want. */
export async function promqlSeries(parameters: SeriesParameters, request: Request, deps: Deps): Promise<string> {
  const all = (await conditionsOf(parameters, request)).map(
    (where) => sql`SELECT series, mapKeys(labels) AS names, mapValues(labels) AS own FROM series WHERE ${where}`,
  );
  const rows = await tenantRows(
    sql`SELECT any(names), any(own) FROM (${united(all)}) GROUP BY series ORDER BY 1, 2 LIMIT ${uint32(most(parameters.limit) + 1)}`,
    request,
    deps,
  );
  const sets = rows.map(([names, values]) => Object.fromEntries((names as string[]).map((name, at) => [name, (values as string[])[at]])));
  return listJson(sets, parameters.limit);
}

/** `labels`: names of labels. */
export async function promqlLabels(parameters: SeriesParameters, request: Request, deps: Deps): Promise<string> {
  const all = (await conditionsOf(parameters, request)).map((where) => sql`SELECT arrayJoin(mapKeys(labels)) AS name FROM series WHERE ${where}`); // prettier-ignore
  return names(all, parameters.limit, request, deps);
}

/** `label/NAME/values`. */
export async function promqlLabelValues(
  { name, ...parameters }: SeriesParameters & { readonly name: string },
  request: Request,
  deps: Deps,
): Promise<string> {
  const { matches, start, limit } = parameters;
  if (matches.length === 0) {
    const day = Math.min(65_535, Math.max(0, Math.floor((start ?? 0) / DAY_MS)));
    const where = conjunction([ofTenant(request.tenantId), sql`label = ${text(name)}`, sql`last >= toDate(${uint32(day)})`]);
    return names([sql`SELECT value AS name FROM series_labels WHERE ${where}`], limit, request, deps);
  }
  const value = name === NAME ? sql`toString(metric)` : sql`labels[${text(name)}]`;
  const all = (await conditionsOf(parameters, request)).map((where) => sql`SELECT ${value} AS name FROM series WHERE ${where}`);
  return names(all, limit, request, deps);
}

async function names(all: readonly Sql[], limit: number, request: Request, deps: Deps): Promise<string> {
  const found = sql`SELECT toString(name) AS own FROM (${united(all)}) WHERE name != '' GROUP BY own ORDER BY own LIMIT ${uint32(most(limit) + 1)}`;
  const rows = await tenantRows(found, request, deps);
  return listJson(rows.map(([name]) => String(name)), limit); // prettier-ignore
}

/** What `metadata` is of. 0 for all. */
export type MetadataParameters = { readonly metric: string; readonly limit: number; readonly perMetric: number };

/** `metadata`: type, unit and help of metrics. */
export async function promqlMetadata({ metric, limit, perMetric }: MetadataParameters, request: Request, deps: Deps): Promise<string> {
  const where = conjunction([ofTenant(request.tenantId), ...(metric === '' ? [] : [sql`metric = ${text(metric)}`])]);
  const rows = await tenantRows(
    sql`SELECT metric, groupUniqArray((kind, unit, help)) FROM metrics WHERE ${where} GROUP BY metric ORDER BY metric LIMIT ${uint32(most(limit))}`,
    request,
    deps,
  );
  const shown = rows.map(([name, all]): [string, object[]] => {
    const facts = (all as (readonly [string, string, string])[]).map(([type, unit, help]) => ({ type, help, unit }));
    return [String(name), perMetric === 0 ? facts : facts.slice(0, perMetric)];
  });
  for (const { name, kind, help, unit } of DERIVED.values())
    if ((metric === '' || metric === name) && shown.length < most(limit) && !shown.some(([known]) => known === name))
      shown.push([name, [{ type: kind, help, unit }]]);
  return JSON.stringify({ status: 'success', data: Object.fromEntries(shown) });
}

/** An expression alone. A long one takes a tenth of a second: it is read here and not where requests come in. */
type ExpressionParameters = { readonly query: string };

/** `format_query`: the expression laid out. */
export const promqlFormat = ({ query }: ExpressionParameters): Promise<string> =>
  judged(() => Promise.resolve(JSON.stringify({ status: 'success', data: formatExpression(parseExpression(query)) })));

/** `parse_query`: the expression as a tree. */
export const promqlParse = ({ query }: ExpressionParameters): Promise<string> =>
  judged(() => Promise.resolve(JSON.stringify({ status: 'success', data: expressionJson(parseExpression(query)) })));
