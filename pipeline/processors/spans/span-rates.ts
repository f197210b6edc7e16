import { OTHER } from '../../counters/span-counts.ts';
import { jsonPartials, jsonState } from '../base/json.ts';
import type { PartialOutput } from '../base/partial.ts';
import { mostOf, type Bounds } from '../base/bounds.ts';
import { binOf, isErrorOf, spanKindOf } from './cells.ts';
import { cellsOf, ERROR } from './record-cells.ts';
import type { SpanBatch, SpanInput, SpanProcessor } from './span-input.ts';

export const SPAN_RATES = 'span-rates';

/** How often counts are reported, and how much later where nothing came, for who waits for them. Milliseconds, by append time. */
const PUBLISH_MS = 10_000;
const QUIET_MS = 60_000;
const MINUTE_MS = 60_000;
/** A tenant without spans for this long is forgotten. */
const FORGET_MS = 2 * 3_600_000;
/** Operations and minutes that are counted one by one until they are reported. Those beyond are one operation, `OTHER`. */
export const RATED: Bounds = { most: 10_000, ofTenant: 2000, few: 50, last: 15_000 };
/** Longer names are cut. Characters. */
const MOST_NAME = 256;
/** Spans that are older or newer than this when they come do not count for what is usual. Minutes. */
const OLDEST = 15 * 24 * 60;
const NEWEST = 60;
/** What a service is requested for: spans of the kinds server and consumer. */
const REQUESTS: readonly number[] = [2, 5];
const HALF = 4_294_967_296;

/** What a minute of an operation has since the last report, and traces that show it. */
type Rated = {
  readonly service: string;
  readonly operation: string;
  readonly minute: number;
  spans: number;
  errors: number;
  readonly bins: Map<number, number>;
  /** The trace of the slowest span, how long that took (nanoseconds), and the trace of the last one that failed; empty for none. */
  slowest: string;
  took: number;
  failed: string;
};

type Tenant = { retentionDays: number; seenAt: number; publishedAt: number; readonly rated: Map<string, Rated> };
export type SpanRatesState = { readonly tenants: Map<number, Tenant>; publishAt: number };

/** A row of a partial: what came of a minute of an operation. */
export type SpanRate = readonly [
  service: string,
  operation: string,
  minute: number,
  spans: number,
  errors: number,
  bins: readonly (readonly [number, number])[],
  slowest: string,
  took: number,
  failed: string,
];

/**
 * Counts requests, errors and durations by operation and minute, for the merger that finds what leaves its own past. Each ten seconds of append time
 * it reports what came since, as increments, in partials that a merger takes once each.
 */
export const spanRates: SpanProcessor<SpanRatesState> = {
  name: SPAN_RATES,
  ...jsonState((): SpanRatesState => ({ tenants: new Map(), publishAt: 0 })),

  fold(state, input): readonly PartialOutput[] {
    const outputs = input.appendedAt >= state.publishAt ? publishAll(state, input) : [];
    if (input.kind === 'batch' && input.spans !== null) add(state, input);
    return outputs;
  },
};

function publishAll(state: SpanRatesState, { appendedAt }: SpanInput): PartialOutput[] {
  const outputs: PartialOutput[] = [];
  for (const [tenantId, tenant] of state.tenants) {
    const { retentionDays, rated } = tenant;
    if (rated.size > 0 || appendedAt >= tenant.publishedAt + QUIET_MS) {
      const rows = [...rated.values()].map((one): SpanRate => [one.service, one.operation, one.minute, one.spans, one.errors, [...one.bins], one.slowest, one.took, one.failed]); // prettier-ignore
      const partials = jsonPartials({ tenantId, retentionDays }, rows);
      // none says that nothing came
      outputs.push(...(partials.length > 0 ? partials : [{ kind: 'partial', tenantId, retentionDays, value: Buffer.from('[]') } as const]));
      rated.clear();
      tenant.publishedAt = appendedAt;
    }
    if (appendedAt >= tenant.seenAt + FORGET_MS) state.tenants.delete(tenantId);
  }
  state.publishAt = Math.floor(appendedAt / PUBLISH_MS) * PUBLISH_MS + PUBLISH_MS;
  return outputs;
}

function add(state: SpanRatesState, batch: SpanBatch): void {
  const { tenantId, retentionDays, appendedAt } = batch;
  const { table, services, others } = cellsOf(batch);
  let tenant = state.tenants.get(tenantId);
  if (tenant === undefined) state.tenants.set(tenantId, (tenant = { retentionDays, seenAt: appendedAt, publishedAt: 0, rated: new Map() }));
  [tenant.retentionDays, tenant.seenAt] = [retentionDays, appendedAt];
  const now = Math.floor(appendedAt / MINUTE_MS);
  /** By the codes of the record, the last one that was counted. */
  const last = new Map<number, Rated>();
  for (let cell = 0; cell < table.size; cell++) {
    const [detail, minute] = [table.level(cell), table.time(cell)];
    if (!REQUESTS.includes(spanKindOf(detail)) || minute < now - OLDEST || minute > now + NEWEST) continue;
    const [service, operation] = [services.texts[table.high(cell)] as string, others.texts[table.low(cell)] as string];
    const one = ratedOf(state, tenant, nameOf(service), nameOf(operation), minute);
    const spans = table.entries(cell);
    one.spans += spans;
    if (isErrorOf(detail)) one.errors += spans;
    one.bins.set(binOf(detail), (one.bins.get(binOf(detail)) ?? 0) + spans);
    last.set(table.high(cell) * 65_536 + table.low(cell), one);
  }
  if (last.size > 0) show(batch, last);
}

/** Takes the slowest and the failed traces of a record. */
function show({ spans }: SpanBatch, last: ReadonlyMap<number, Rated>): void {
  if (spans === null) return;
  const { bytes, data, duration, traceId, kind, status, service, name } = spans;
  for (let row = 0; row < spans.count; row++) {
    const one = REQUESTS.includes(bytes[kind + row] as number) ? last.get((service.codes[row] as number) * 65_536 + (name.codes[row] as number)) : undefined; // prettier-ignore
    if (one === undefined) continue;
    const took = data.getUint32(duration + 8 * row + 4, true) * HALF + data.getUint32(duration + 8 * row, true);
    const isError = bytes[status + row] === ERROR;
    if (took < one.took && !isError) continue;
    const trace = bytes.toString('hex', traceId + 16 * row, traceId + 16 * row + 16);
    if (took >= one.took) [one.slowest, one.took] = [trace, took];
    if (isError) one.failed = trace;
  }
}

function ratedOf({ tenants }: SpanRatesState, { rated }: Tenant, service: string, operation: string, minute: number): Rated {
  const known = rated.get(keyOf(service, operation, minute));
  if (known !== undefined) return known;
  let all = 0;
  for (const tenant of tenants.values()) all += tenant.rated.size;
  if (rated.size < mostOf(rated.size, all, RATED)) return begin(rated, service, operation, minute);
  return rated.get(keyOf(OTHER, OTHER, minute)) ?? begin(rated, OTHER, OTHER, minute);
}

const keyOf = (service: string, operation: string, minute: number): string => `${service}\n${operation}\n${String(minute)}`;

function begin(rated: Map<string, Rated>, service: string, operation: string, minute: number): Rated {
  const one: Rated = { service, operation, minute, spans: 0, errors: 0, bins: new Map(), slowest: '', took: 0, failed: '' };
  rated.set(keyOf(service, operation, minute), one);
  return one;
}

const nameOf = (latin1: string): string => Buffer.from(latin1, 'latin1').toString().slice(0, MOST_NAME);
