/** What lists of Jaeger UI show of traces, and who calls whom, of Jaeger's API v3. */
import { sql, type Sql } from '../../../pipeline/core/sql.ts';
import type { Deps, Request } from '../../query/deps.ts';
import { tenantRows } from '../../query/tenant-rows.ts';
import { countedTogether } from '../list-traces.ts';
import { edgesIn } from '../service-map.ts';
import { PLACE } from '../stored-span.ts';
import { spansOf, type TraceBounds } from '../trace-bounds.ts';
import { named, searched, shown } from './operations.ts';
import type { JaegerSearch, JaegerWindow } from './parameters.ts';

const DAY = 86_400_000_000_000n;

/** A trace as Jaeger UI's schema has it; times are nanoseconds as digits. */
type TraceSummary = {
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

/** The traces that a search finds, newest first. */
export async function traceSummariesV3(given: JaegerSearch, request: Request, deps: Deps): Promise<string> {
  const { traces } = await searched(given, request, deps);
  const all = new Map<string, TraceSummary>();
  for (const batch of countedTogether(traces))
    for (const summary of await summariesOf(batch, request, deps)) all.set(summary.traceId, summary);
  return JSON.stringify({ summaries: traces.flatMap(({ id }) => all.get(id) ?? []) });
}

const NO_PARENT = sql`toFixedString('', 8)`;

/** A row for each span: of copies the one that counts. */
const spans = (traces: readonly TraceBounds[], { tenantId }: Request): Sql =>
  sql`SELECT lower(hex(trace_id)) AS id, span_id AS own, argMax((time, toInt64(duration), service, name, status, parent_span_id), ${PLACE}) AS last, last.1 AS at, last.2 AS took, last.3 AS at_service, last.4 AS at_name, last.5 AS state, last.6 AS parent FROM spans WHERE ${spansOf(traces, tenantId)} GROUP BY trace_id, span_id, kind`;

async function summariesOf(traces: readonly TraceBounds[], request: Request, deps: Deps): Promise<TraceSummary[]> {
  const from = spans(traces, request);
  const counted = sql`SELECT id, toString(reinterpretAsInt64(min(at))), toString(max(reinterpretAsInt64(at) + took)), count(), countIf(state = 2), argMin((at_service, at_name), (parent != ${NO_PARENT}, at)), arraySort(groupUniqArray(at_service)), sumMap(map(at_service, toUInt64(1))), sumMap(map(at_service, toUInt64(state = 2))) FROM (${from}) GROUP BY id`;
  // spans by the id of their parent, beside the ids that are there
  const families = sql`SELECT id, own AS member, 0 AS children, 1 AS is_there FROM (${from}) UNION ALL SELECT id, parent, 1, 0 FROM (${from}) WHERE parent != ${NO_PARENT}`;
  const orphaned = sql`SELECT id, sum(children) FROM (SELECT id, member, sum(children) AS children, max(is_there) AS known FROM (${families}) GROUP BY id, member HAVING known = 0) GROUP BY id`;
  const orphans = new Map((await tenantRows(orphaned, request, deps)).map(([id, count]) => [String(id), Number(count)]));
  return (await tenantRows(counted, request, deps)).map(([id, start, end, count, errors, root, services, own, failed]) => {
    const [service, operation] = root as [string, string];
    const of = (counts: unknown, name: string): number => Number((counts as Readonly<Record<string, number | string>>)[name] ?? 0);
    return {
      ...{ traceId: String(id), rootServiceName: named(service), rootOperationName: operation },
      ...{ minStartTimeUnixNano: String(start), maxEndTimeUnixNano: String(end), spanCount: Number(count), errorSpanCount: Number(errors) },
      orphanSpanCount: orphans.get(String(id)) ?? 0,
      services: (services as string[]).map((name) => ({ name: named(name), spanCount: of(own, name), errorSpanCount: of(failed, name) })),
    };
  });
}

/** Which services call which, of a day until now unless the window is said. Counts are digits. */
export async function dependenciesV3({ start, end }: JaegerWindow, request: Request, deps: Deps): Promise<string> {
  const until = end === null ? deps.now() : BigInt(end);
  const span = shown(start === null ? until - DAY : BigInt(start), until, request, deps);
  const edges = span.start > span.end ? [] : (await edgesIn(span, request, deps)).edges;
  const dependencies = edges.map(({ caller, callee, calls }) => ({
    parent: named(caller),
    child: named(callee),
    callCount: String(calls),
  }));
  return JSON.stringify({ dependencies });
}
