import { sql, type Sql } from '../../pipeline/core/sql.ts';
import type { Row } from '../../pipeline/store/client.ts';

/** Names and values in their order, and for each the character of its type (docs/topics.md). */
export type Attributes = { readonly pairs: readonly (readonly [name: string, value: string])[]; readonly types: string };

/** A span as it is read. Ids are lower case hex digits; times and durations nanoseconds. */
export type StoredSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for none. */
  readonly parentId: string;
  readonly time: bigint;
  readonly duration: bigint;
  readonly service: string;
  readonly name: string;
  /** As OTLP numbers them. */
  readonly kind: number;
  readonly status: number;
  readonly statusMessage: string;
  readonly traceState: string;
  readonly flags: number;
  readonly scope: string;
  readonly scopeVersion: string;
  /** JSON; empty for nothing. */
  readonly context: string;
  readonly resource: string;
  readonly resourceTypes: string;
  readonly attributes: Attributes;
  readonly events: string;
  readonly links: string;
  readonly droppedAttributes: number;
  readonly droppedEvents: number;
  readonly droppedLinks: number;
  /** When its row arrived and where it lies on the log: of copies the greatest text counts (docs/adr/0042-spans.md). */
  readonly place: string;
};

const NO_PARENT = '0'.repeat(16);

/** When a row arrived and where it lies, as a text that orders rows as their numbers do. */
export const PLACE: Sql = sql`concat(leftPad(toString(toUnixTimestamp64Milli(arrived)), 14, '0'), leftPad(toString(kafka_off), 20, '0'), leftPad(toString(kafka_idx), 10, '0'))`;

/** The resource of a span, of whatever length. */
export const WHOLE_RESOURCE: Sql = sql`if(empty(long_resource), resource, long_resource)`;

/** What is read of a span, in the order that `spanOf` takes. */
export const SPAN_COLUMNS: Sql = sql`lower(hex(trace_id)), lower(hex(span_id)), lower(hex(parent_span_id)), toString(reinterpretAsInt64(time)), toString(duration), service, name, kind, status, status_message, trace_state, flags, scope, scope_version, context, ${WHOLE_RESOURCE}, resource_types, mapKeys(attributes), mapValues(attributes), attribute_types, events, links, dropped_attributes, dropped_events, dropped_links, ${PLACE}`;

/** A row of `SPAN_COLUMNS`. */
export function spanOf(row: Row): StoredSpan {
  const text = (index: number): string => row[index] as string;
  const number = (index: number): number => Number(row[index]);
  const [names, values] = [row[17] as string[], row[18] as string[]];
  return {
    ...{ traceId: text(0), spanId: text(1), parentId: text(2) === NO_PARENT ? '' : text(2) },
    ...{ time: BigInt(text(3)), duration: BigInt(text(4)), service: text(5), name: text(6), kind: number(7), status: number(8) },
    ...{ statusMessage: text(9), traceState: text(10), flags: number(11), scope: text(12), scopeVersion: text(13), context: text(14) },
    ...{ resource: text(15), resourceTypes: text(16) },
    attributes: { pairs: names.map((name, index) => [name, values[index] ?? ''] as const), types: text(19) },
    ...{ events: text(20), links: text(21) },
    ...{ droppedAttributes: number(22), droppedEvents: number(23), droppedLinks: number(24), place: text(25) },
  };
}

/** A span is identified by its trace and this: Zipkin's client and server share an id, so the kind belongs to it. */
export const identityOf = ({ spanId, kind }: Pick<StoredSpan, 'spanId' | 'kind'>): string => `${spanId}${String(kind)}`;

/** Strings of a JSON object of strings, names and values in turn. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/gs;

/** The attributes of a resource in their order: a JSON object of strings, which may have numbers as names, or a name twice. */
export function resourceAttributes({ resource, resourceTypes }: Pick<StoredSpan, 'resource' | 'resourceTypes'>): Attributes {
  const strings = resource.match(STRINGS)?.map((string) => JSON.parse(string) as string) ?? [];
  const pairs = Array.from(
    { length: strings.length / 2 },
    (_none, index) => [strings[2 * index] ?? '', strings[2 * index + 1] ?? ''] as const,
  );
  return { pairs, types: resourceTypes };
}

/** About what a span holds, in bytes. */
export function sizeOfSpan({ attributes, name, resource, context, statusMessage, traceState, events, links }: StoredSpan): number {
  const own = name.length + resource.length + context.length + statusMessage.length + traceState.length + events.length + links.length;
  return attributes.pairs.reduce((sum, [key, value]) => sum + key.length + value.length + 80, own + 600);
}
