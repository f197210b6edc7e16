import { sql } from '../../pipeline/core/sql.ts';
import type { Deps, Request } from '../query/deps.ts';
import { asFound } from '../query/pages.ts';
import { toClientError } from '../query/client-error.ts';
import { spansOf, type TraceBounds } from './trace-bounds.ts';
import { identityOf, PLACE, sizeOfSpan, SPAN_COLUMNS, spanOf, type StoredSpan } from './stored-span.ts';

/** Traces with more rows or bytes together are read in the order of the table, and never held. */
const MAX_HELD_ROWS = 10_000;
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** The spans of a trace, some at a time. `isWhole`: they all come at once, in the order of their times. */
export type TraceSpans = { readonly bounds: TraceBounds; readonly isWhole: boolean; readonly spans: AsyncIterable<readonly StoredSpan[]> };

/** The spans of traces, trace by trace in this order, each span once. Small traces are read together. */
export async function* readTraces(traces: readonly TraceBounds[], request: Request, deps: Deps): AsyncGenerator<TraceSpans> {
  for (const batch of batches(traces)) {
    const held = await smallTraces(batch, request, deps);
    try {
      for (const bounds of batch) {
        if (held === null) {
          yield { bounds, isWhole: false, spans: largeTrace(bounds, request, deps) };
          continue;
        }
        const spans = held.byTrace.get(bounds.id) ?? [];
        held.byTrace.delete(bounds.id);
        if (spans.length > 0) yield { bounds, isWhole: true, spans: only(spans) };
      }
    } finally {
      deps.memory.release(0, held?.bytes ?? 0);
    }
  }
}

/** What is held of small traces. */
type Held = { readonly byTrace: Map<string, readonly StoredSpan[]>; readonly bytes: number };

async function* only<T>(value: T): AsyncGenerator<T> {
  yield await Promise.resolve(value);
}

/** Traces that are read together: large ones alone. */
function* batches(traces: readonly TraceBounds[]): Generator<readonly TraceBounds[]> {
  let [batch, rows]: [TraceBounds[], number] = [[], 0];
  for (const trace of traces) {
    if (rows + trace.rows > MAX_HELD_ROWS && batch.length > 0) {
      yield batch;
      [batch, rows] = [[], 0];
    }
    batch.push(trace);
    rows += trace.rows;
  }
  if (batch.length > 0) yield batch;
}

/** The spans of traces by time; null where they are too many or too large to be held. */
async function smallTraces(traces: readonly TraceBounds[], request: Request, deps: Deps): Promise<Held | null> {
  if (traces.reduce((sum, { rows }) => sum + rows, 0) > MAX_HELD_ROWS) return null;
  const { store, options } = deps.runner(request);
  const last = new Map<string, Map<string, StoredSpan>>(traces.map(({ id }) => [id, new Map()]));
  let bytes = 0;
  const statement = sql`SELECT ${SPAN_COLUMNS} FROM spans WHERE ${spansOf(traces, request.tenantId)}`;
  for await (const rows of store.query(statement, asFound(options)))
    for (const row of rows) {
      const span = spanOf(row);
      const size = sizeOfSpan(span);
      if (bytes + size > MAX_HELD_BYTES || !deps.memory.fits(size)) {
        deps.memory.release(0, bytes);
        return null;
      }
      deps.memory.hold('The traces', 0, size);
      bytes += size;
      const spans = last.get(span.traceId);
      const known = spans?.get(identityOf(span));
      if (known === undefined || known.place < span.place) spans?.set(identityOf(span), span);
    }
  return { byTrace: new Map([...last].map(([id, spans]) => [id, [...spans.values()].sort(byTime)])), bytes };
}

/** By time; of equal times the longer one first, which may be the parent; then by id, so that the order is always the same. */
function byTime(a: StoredSpan, b: StoredSpan): number {
  if (a.time !== b.time) return a.time < b.time ? -1 : 1;
  if (a.duration !== b.duration) return a.duration > b.duration ? -1 : 1;
  return identityOf(a) < identityOf(b) ? -1 : 1;
}

/** The spans of a large trace in the order of the table. Only what was sent twice is known before. */
async function* largeTrace(trace: TraceBounds, request: Request, deps: Deps): AsyncGenerator<readonly StoredSpan[]> {
  const { store, options } = deps.runner(request);
  const where = spansOf([trace], request.tenantId);
  try {
    const twice = await store.rows(
      sql`SELECT lower(hex(span_id)), kind, max(${PLACE}) FROM spans WHERE ${where} GROUP BY span_id, kind HAVING count() > 1`,
      options,
    );
    const last = new Map(twice.map(([spanId, kind, place]) => [identityOf({ spanId: String(spanId), kind: Number(kind) }), String(place)]));
    const statement = sql`SELECT ${SPAN_COLUMNS} FROM spans WHERE ${where} ORDER BY service, time`;
    for await (const rows of store.query(statement, asFound(options)))
      yield rows.map(spanOf).filter((span) => (last.get(identityOf(span)) ?? span.place) === span.place);
  } catch (error) {
    throw toClientError(error, request);
  }
}
