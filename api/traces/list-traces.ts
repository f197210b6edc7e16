import { conjunction, sql } from '../../pipeline/core/sql.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { readWindow, windowMember } from '../query/window.ts';
import { findTraces } from './find-traces.ts';
import type { TracesParameters } from './parameters.ts';
import { PLACE } from './stored-span.ts';
import { spansOf, traceBounds, type TraceBounds } from './trace-bounds.ts';

/** Rows of traces that are counted together: copies of spans are found so. Of traces with more all rows count. */
const MAX_COUNTED_ROWS = 500_000;

/** What a list shows of a trace. Durations are nanoseconds. */
export type Summary = {
  readonly trace_id: string;
  /** Of the span without a parent; of the one that begins first, where that has not arrived. */
  readonly root_service: string;
  readonly root_operation: string;
  readonly has_root: boolean;
  readonly start: string;
  readonly duration: number;
  readonly spans: number;
  readonly errors: number;
  readonly services: readonly string[];
};

/** `GET /traces`: traces with a span that matches, newest first. */
export async function listTraces({ filter, limit, cursor, ...given }: TracesParameters, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(given.start, given.end, deps.now(), request.retentionDays);
  // one more shows whether there are more
  const found = await findTraces({ filter, span: window, limit: limit + 1, after: cursor }, request, deps);
  const page = found.slice(0, limit);
  const summaries = await summariesOf(page.map(({ id }) => id), request, deps); // prettier-ignore
  const last = found.length > limit ? page.at(-1) : undefined;
  const traces = page.flatMap(({ id }) => summaries.get(id) ?? []);
  const next = last === undefined ? null : `${last.time}-${last.id}`;
  return `{"traces":${JSON.stringify(traces)},"next_cursor":${JSON.stringify(next)},${windowMember(window)}}`;
}

/** What lists show of traces, by their ids. */
export async function summariesOf(ids: readonly string[], request: Request, deps: Deps): Promise<ReadonlyMap<string, Summary>> {
  const bounds = await traceBounds(ids, request, deps);
  const all = new Map<string, Summary>();
  for (const batch of countedTogether(bounds)) {
    const { rows } = batch[0] ?? { rows: 0 };
    // a trace of its own that is too large is counted with its copies: what is held grows with its spans
    const isLarge = rows > MAX_COUNTED_ROWS;
    const from = isLarge ? asStored(batch, request) : eachOnce(batch, request);
    const statement = sql`SELECT id, toString(reinterpretAsInt64(min(at))), toString(max(reinterpretAsInt64(at) + took)), arraySort(groupUniqArray(at_service)), count(), countIf(state = 2), argMin((at_service, at_name, is_root), (NOT is_root, at)) FROM (${from}) GROUP BY id`;
    for (const row of await tenantRows(statement, request, deps)) {
      const [id, start, end, services, spans, errors, root] = row;
      const [service, operation, hasRoot] = root as [string, string, number];
      all.set(String(id), {
        ...{ trace_id: String(id), root_service: service, root_operation: operation, has_root: hasRoot === 1 },
        ...{ start: formatTime(BigInt(String(start))), duration: Number(BigInt(String(end)) - BigInt(String(start))) },
        ...{ spans: Number(spans), errors: Number(errors), services: services as string[] },
      });
    }
  }
  return all;
}

const IS_ROOT = sql`parent_span_id = toFixedString('', 8)`;

/** A row for each span: of copies the one that counts. */
const eachOnce = (traces: readonly TraceBounds[], { tenantId }: Request) =>
  sql`SELECT lower(hex(trace_id)) AS id, argMax((time, toInt64(duration), service, name, status, ${IS_ROOT}), ${PLACE}) AS last, last.1 AS at, last.2 AS took, last.3 AS at_service, last.4 AS at_name, last.5 AS state, last.6 AS is_root FROM spans WHERE ${spansOf(traces, tenantId)} GROUP BY trace_id, span_id, kind`;

const asStored = (traces: readonly TraceBounds[], { tenantId }: Request) =>
  sql`SELECT lower(hex(trace_id)) AS id, time AS at, toInt64(duration) AS took, service AS at_service, name AS at_name, status AS state, ${IS_ROOT} AS is_root FROM spans WHERE ${conjunction([spansOf(traces, tenantId)])}`;

/** Traces that are counted in one statement: near in time, as they come; large ones alone. */
export function* countedTogether(traces: readonly TraceBounds[]): Generator<readonly TraceBounds[]> {
  let [batch, rows]: [TraceBounds[], number] = [[], 0];
  for (const trace of [...traces].sort((a, b) => (a.start < b.start ? -1 : 1))) {
    if (batch.length > 0 && rows + trace.rows > MAX_COUNTED_ROWS) {
      yield batch;
      [batch, rows] = [[], 0];
    }
    batch.push(trace);
    rows += trace.rows;
  }
  if (batch.length > 0) yield batch;
}
