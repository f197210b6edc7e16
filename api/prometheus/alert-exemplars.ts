import { sql, uint32 } from '../../pipeline/core/sql.ts';
import { MOST_EXEMPLARS, type TraceExemplar } from '../../pipeline/alerting/metrics/evaluated.ts';
import { parseExpression } from '../../promql/parser/parse.ts';
import { sampleText } from '../../promql/values/numbers.ts';
import { METRIC_NAME } from '../../promql/values/labels.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { exemplarsIn, labelsOfSeries, numberOf, selectorsOf, seriesOf } from './exemplars.ts';

/** Exemplars that are looked at: the newest of each series, and of all of them. */
const MOST_OF_SERIES = 20;
const MOST_LOOKED_AT = 1000;
/** How long before an evaluation they are looked for: as long as the longest window of the expression, within these. Milliseconds. */
const LEAST_BEFORE_MS = 300_000;
const MOST_BEFORE_MS = 86_400_000;
/** Characters of a metric's name that are kept. */
const MAX_METRIC = 200;

/** Exemplars that lead to traces, the newest first, each with the labels of its series. */
export type FoundExemplars = readonly { readonly labels: Readonly<Record<string, string>>; readonly shown: TraceExemplar }[];

/** The newest exemplars with a trace of the series that an expression selects, up to a time in milliseconds. */
export async function traceExemplars(expr: string, time: number, request: Request, deps: Deps): Promise<FoundExemplars> {
  const selectors = selectorsOf(parseExpression(expr));
  const longest = Math.max(LEAST_BEFORE_MS, ...selectors.map(({ windowMs }) => windowMs ?? 0));
  const from = time - Math.min(MOST_BEFORE_MS, longest);
  const ofSeries = seriesOf(request.tenantId, selectors, from);
  if (ofSeries === null) return [];
  const rows = await tenantRows(
    sql`SELECT toString(series), toUnixTimestamp64Milli(time) AS ms, toString(reinterpretAsUInt64(value)), lower(JSONExtractString(payload, 'trace_id')) AS trace, lower(JSONExtractString(payload, 'span_id')) AS span FROM (${exemplarsIn(request.tenantId, ofSeries, from, time)}) WHERE match(trace, '^[0-9a-f]{16,32}$') ORDER BY ms DESC, series, trace LIMIT ${uint32(MOST_OF_SERIES)} BY series LIMIT ${uint32(MOST_LOOKED_AT)}`,
    request,
    deps,
  );
  const labels = await labelsOfSeries([...new Set(rows.map(([series]) => String(series)))], ofSeries, request, deps);
  return rows.map(([series, ms, bits, trace, span]) => {
    const own = labels.get(String(series)) ?? {};
    const metric = (own[METRIC_NAME] ?? '').slice(0, MAX_METRIC).toWellFormed();
    const shownSpan = /^[0-9a-f]{16}$/.test(String(span)) ? String(span) : '';
    return {
      labels: own,
      shown: { trace: String(trace), span: shownSpan, value: sampleText(numberOf(String(bits))), time: Number(ms), metric },
    };
  });
}

/** Those of the series that a result may have come of: no label says otherwise. Each trace once. */
export function exemplarsOfResult(found: FoundExemplars, result: readonly (readonly [string, string])[]): TraceExemplar[] {
  const byTrace = new Map<string, TraceExemplar>();
  for (const { labels, shown } of found) {
    if (byTrace.size >= MOST_EXEMPLARS) break;
    const isOther = result.some(([name, value]) => name !== METRIC_NAME && Object.hasOwn(labels, name) && labels[name] !== value);
    if (!isOther && !byTrace.has(shown.trace)) byTrace.set(shown.trace, shown);
  }
  return [...byTrace.values()];
}
