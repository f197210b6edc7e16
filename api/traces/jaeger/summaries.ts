/** What Jaeger's UI lists of traces (jaegertracing/jaeger-ui, src/api/v3/schemas.ts). */
import { sql } from '../../../pipeline/core/sql.ts';
import type { Deps, Request } from '../../query/deps.ts';
import { tenantRows } from '../../query/tenant-rows.ts';
import { countedTogether } from '../list-traces.ts';
import { PLACE } from '../stored-span.ts';
import { spansOf, type TraceBounds } from '../trace-bounds.ts';
import { searched } from './operations.ts';
import type { JaegerSearch } from './parameters.ts';

const NO_SPAN = sql`toFixedString('', 8)`;

/** Of a trace: 64-bit integers are digits. */
type Summary = {
  readonly traceId: string;
  readonly rootServiceName: string;
  readonly rootOperationName: string;
  readonly minStartTimeUnixNano: string;
  readonly maxEndTimeUnixNano: string;
  readonly spanCount: number;
  readonly errorSpanCount: number;
  /** Spans whose parent is not in the trace. */
  readonly orphanSpanCount: number;
  readonly services: readonly { readonly name: string; readonly spanCount: number; readonly errorSpanCount: number }[];
};

/** `GET api/v3/trace-summaries`: the traces that a search finds, newest first. */
export async function traceSummariesV3(parameters: JaegerSearch, request: Request, deps: Deps): Promise<string> {
  const { traces } = await searched(parameters, request, deps);
  const known = new Map<string, Summary>();
  for (const batch of countedTogether(traces))
    for (const summary of await summariesOf(batch, request, deps)) known.set(summary.traceId, summary);
  return JSON.stringify({ summaries: traces.flatMap(({ id }) => known.get(id) ?? []) });
}

/** A span that was sent twice is one. */
async function summariesOf(traces: readonly TraceBounds[], request: Request, deps: Deps): Promise<Summary[]> {
  const spans = sql`SELECT lower(hex(trace_id)) AS id, span_id AS own, argMax((time, toInt64(duration), service, name, status, parent_span_id), ${PLACE}) AS last, last.1 AS at, last.2 AS took, last.3 AS at_service, last.4 AS at_name, toUInt64(last.5 = 2) AS failed, last.6 AS parent, parent = ${NO_SPAN} AS is_root FROM spans WHERE ${spansOf(traces, request.tenantId)} GROUP BY trace_id, span_id, kind`;
  const counted = sql`SELECT id, toString(reinterpretAsInt64(min(at))), toString(max(reinterpretAsInt64(at) + took)), count(), sum(failed), argMin((at_service, at_name), (NOT is_root, at)), sumMap([at_service], [toUInt64(1)]), sumMap([at_service], [failed]) FROM (${spans}) GROUP BY id`;
  const asKeys = sql`SELECT id, key, sum(is_parent) AS children, max(is_span) AS is_there FROM (${spans}) ARRAY JOIN [own, parent] AS key, [0, 1] AS is_parent, [1, 0] AS is_span WHERE key != ${NO_SPAN} GROUP BY id, key`;
  const lost = sql`SELECT id, sum(children) FROM (${asKeys}) WHERE is_there = 0 GROUP BY id`;
  const [rows, orphans] = await Promise.all([tenantRows(counted, request, deps), tenantRows(lost, request, deps)]);
  const orphansOf = new Map(orphans.map(([id, count]) => [String(id), Number(count)]));
  return rows.map(([id, start, end, count, errors, root, all, failed]) => {
    const [service = '', operation = ''] = root as readonly string[];
    const [[names, counts], [failing, failures]] = [all, failed] as readonly (readonly [readonly string[], readonly string[]])[] as [
      readonly [readonly string[], readonly string[]],
      readonly [readonly string[], readonly string[]],
    ];
    const errorsOf = new Map(failing.map((name, index) => [name, Number(failures[index])]));
    return {
      ...{ traceId: String(id), rootServiceName: service, rootOperationName: operation },
      ...{ minStartTimeUnixNano: String(start), maxEndTimeUnixNano: String(end) },
      ...{ spanCount: Number(count), errorSpanCount: Number(errors), orphanSpanCount: orphansOf.get(String(id)) ?? 0 },
      services: names.map((name, index) => ({ name, spanCount: Number(counts[index]), errorSpanCount: errorsOf.get(name) ?? 0 })),
    };
  });
}
