import { conjunction, int64, join, numberSet, ofTenant, sql, uint32, uint8, type Sql } from '../../pipeline/core/sql.ts';
import type { Expression } from '../../promql/base/ast.ts';
import { parseExpression } from '../../promql/parser/parse.ts';
import { sampleText } from '../../promql/values/numbers.ts';
import type { Matcher as LabelMatcher } from '../../promql/values/matcher.ts';
import { seriesWhere } from '../metrics/matcher.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { retentionFloor } from '../query/window.ts';
import { judged } from './judged.ts';

/** What is asked for: exemplars of the series that the selectors of an expression want. Milliseconds; null: no bound. */
export type ExemplarParameters = { readonly query: string; readonly start: number | null; readonly end: number | null };

/** Exemplars of an answer, the newest, and selectors of an expression. */
const MAX_EXEMPLARS = 10_000;
const MAX_SELECTORS = 100;
const EXEMPLAR = 2;
const [FIRST, LAST] = [-2_208_988_800_000, 9_223_372_036_000];

type Exemplar = { readonly labels: unknown; readonly value: string; readonly timestamp: number };

/** `query_exemplars`: samples that stand for others, with labels of their own: of a trace most often. Of equal times of a series the later arrival. */
export async function promqlExemplars({ query, start, end }: ExemplarParameters, request: Request, deps: Deps): Promise<string> {
  const selectors = await judged(() => Promise.resolve(selectorsOf(parseExpression(query))));
  const floor = retentionFloor(deps.now(), request.retentionDays);
  const from = Math.max(start ?? FIRST, FIRST, floor === null ? FIRST : Number(floor / 1_000_000n));
  const { tenantId } = request;
  const ofSeries = seriesOf(tenantId, selectors, from);
  if (ofSeries === null) return answer([]);
  const rows = await tenantRows(exemplarsOf(tenantId, ofSeries, from, Math.min(end ?? LAST, LAST)), request, deps);
  const bySeries = new Map<string, Exemplar[]>();
  for (const [series, time, bits, payload] of rows) {
    const found = bySeries.get(String(series)) ?? [];
    found.push({ labels: labelsOf(payload), value: sampleText(numberOf(String(bits))), timestamp: Number(time) / 1000 });
    bySeries.set(String(series), found);
  }
  const labels = await labelsOfSeries([...bySeries.keys()], ofSeries, request, deps);
  return answer([...bySeries].map(([series, exemplars]) => ({ seriesLabels: labels.get(series) ?? {}, exemplars })));
}

const answer = (data: readonly object[]): string => JSON.stringify({ status: 'success', data });

/** The condition of the series that selectors want, from a time on (milliseconds); null where there are no selectors. */
export function seriesOf(tenantId: number, selectors: readonly Selected[], from: number): Sql | null {
  const wanted = [...new Map(selectors.map(({ matchers }) => [matchers.join(), matchers])).values()].slice(0, MAX_SELECTORS);
  if (wanted.length === 0) return null;
  const own = wanted.map((matchers) => sql`(${seriesWhere(tenantId, matchers.map(({ name, type, value }) => ({ name, op: type, value })), from)})`); // prettier-ignore
  return sql`(${join(own, sql` OR `)})`;
}

/** Exemplars of series in a window (milliseconds): `series`, `time`, `value`, `payload`; of equal times of a series the later arrival. */
export function exemplarsIn(tenantId: number, ofSeries: Sql, from: number, to: number): Sql {
  const where = conjunction([
    ofTenant(tenantId),
    sql`type = ${uint8(EXEMPLAR)}`,
    sql`series IN (SELECT series FROM series WHERE ${ofSeries})`,
    sql`time >= fromUnixTimestamp64Milli(${int64(Math.ceil(from))}, 'UTC')`,
    sql`time <= fromUnixTimestamp64Milli(${int64(Math.floor(to))}, 'UTC')`,
  ]);
  return sql`SELECT series, time, value, payload FROM samples WHERE ${where} ORDER BY series, time, arrived_ms DESC, kafka_part DESC, kafka_off DESC, kafka_idx DESC LIMIT 1 BY series, time`;
}

/** The newest ones, in the order of series and times. */
const exemplarsOf = (tenantId: number, ofSeries: Sql, from: number, to: number): Sql =>
  sql`SELECT toString(series) AS id, toUnixTimestamp64Milli(time) AS ms, toString(reinterpretAsUInt64(value)), payload FROM (SELECT * FROM (${exemplarsIn(tenantId, ofSeries, from, to)}) ORDER BY time DESC, series LIMIT ${uint32(MAX_EXEMPLARS)}) ORDER BY series, time`;

/** The labels of series, by their ids. */
export async function labelsOfSeries(
  ids: readonly string[],
  ofSeries: Sql,
  request: Request,
  deps: Deps,
): Promise<Map<string, Readonly<Record<string, string>>>> {
  if (ids.length === 0) return new Map();
  const where = conjunction([ofSeries, sql`series IN ${numberSet(ids)}`]);
  const rows = await tenantRows(
    sql`SELECT toString(series), mapKeys(labels), mapValues(labels) FROM series WHERE ${where} LIMIT 1 BY series`,
    request,
    deps,
  );
  return new Map(
    rows.map(([series, names, values]) => [
      String(series),
      Object.fromEntries((names as string[]).map((name, at) => [name, (values as string[])[at] ?? ''])),
    ]),
  );
}

/** A selector of an expression: its conditions, and the length of its window, milliseconds; null where it has none, or a computed one. */
export type Selected = { readonly matchers: readonly LabelMatcher[]; readonly windowMs: number | null };

/** The selectors of an expression. */
export function selectorsOf(expression: Expression): Selected[] {
  switch (expression.kind) {
    case 'vectorSelector':
      return [{ matchers: expression.matchers, windowMs: null }];
    case 'matrixSelector':
      return [{ matchers: expression.selector.matchers, windowMs: typeof expression.window === 'number' ? expression.window : null }];
    case 'subquery':
    case 'paren':
    case 'unary':
      return selectorsOf(expression.expression);
    case 'binary':
      return [...selectorsOf(expression.left), ...selectorsOf(expression.right)];
    case 'aggregation':
      return [...selectorsOf(expression.expression), ...(expression.parameter === undefined ? [] : selectorsOf(expression.parameter))];
    case 'call':
      return expression.args.flatMap(selectorsOf);
    default:
      return [];
  }
}

/** The number whose bits are given, as digits. */
export function numberOf(bits: string): number {
  return new Float64Array(BigUint64Array.of(BigInt(bits)).buffer)[0] as number;
}

function labelsOf(payload: unknown): unknown {
  return JSON.parse(String(payload)) as unknown;
}
