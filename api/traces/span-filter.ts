import { int64, join, sql, text, texts, uint32, uint64, type Sql } from '../../pipeline/core/sql.ts';
import { MAX_TIME, MIN_TIME } from '../../pipeline/core/time.ts';

/** The name of an attribute, and its value as text. */
export type Tag = readonly [name: string, value: string];

/** What a span must be: all of it. Durations are nanoseconds. */
export type SpanFilter = {
  readonly service: string | null;
  readonly operation: string | null;
  /** Attributes of the span, or of its resource, and their values as text. */
  readonly tags: readonly Tag[];
  readonly minDuration: number | null;
  /** Less than 0: no span. */
  readonly maxDuration: number | null;
  /** As OTLP numbers them. */
  readonly status: number | null;
  readonly kind: number | null;
};

/** Nanoseconds, both included. */
export type Span = { readonly start: bigint; readonly end: bigint };

/** A time as the column has it, within what that can have. */
const moment = (time: bigint): Sql =>
  sql`fromUnixTimestamp64Nano(${int64(time < MIN_TIME ? MIN_TIME : time > MAX_TIME ? MAX_TIME : time)}, 'UTC')`;

/** Whether a span begins within a span of time. */
export const isWithin = ({ start, end }: Span): Sql => sql`time >= ${moment(start)} AND time <= ${moment(end)}`;

/** So many ids stand in a statement one by one, which is planned sooner than a set that another statement makes. */
const FEW_IDS = 64;

/** The ids of traces, of 32 hex digits each, as a set that the projection and the blooms are searched for. */
export function isOneOf(ids: readonly string[]): Sql {
  if (ids.length > FEW_IDS) return sql`trace_id IN (SELECT toFixedString(unhex(arrayJoin(${texts(ids)})), 16))`;
  const each = ids.map((id) => sql`toFixedString(unhex(${text(id)}), 16)`);
  return sql`trace_id IN (${join(each, sql`, `)})`;
}

/** Tags that are columns of their own, as Jaeger's clients name them. */
const COLUMNS: ReadonlyMap<string, (value: string) => Sql> = new Map<string, (value: string) => Sql>([
  ['error', (value) => (value === 'true' ? sql`status = 2` : value === 'false' ? sql`status != 2` : attribute('error', value))],
  ['span.kind', (value) => indexed(sql`kind`, ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'], value)],
  ['otel.status_code', (value) => indexed(sql`status`, ['unset', 'ok', 'error'], value.toLowerCase())],
  ['otel.status_description', (value) => sql`status_message = ${text(value)}`],
  ['otel.scope.name', (value) => sql`scope = ${text(value)}`],
  ['otel.scope.version', (value) => sql`scope_version = ${text(value)}`],
  ['w3c.tracestate', (value) => sql`trace_state = ${text(value)}`],
]);

/** The number that a word has in a list; nothing is there for another word. */
function indexed(column: Sql, words: readonly string[], value: string): Sql {
  const index = words.indexOf(value);
  return index < 0 ? sql`0` : sql`${column} = ${uint32(index)}`;
}

/** The bloom is of values: the second condition alone uses it, the first alone tells which attribute it is. */
function attribute(name: string, value: string): Sql {
  if (value === '') return sql`mapContains(attributes, ${text(name)}) AND attributes[${text(name)}] = ''`;
  return sql`attributes[${text(name)}] = ${text(value)} AND has(mapValues(attributes), ${text(value)})`;
}

/** Before the name of a tag that only resources have. */
const OF_RESOURCE = 'resource.';

/** Whether a resource, the JSON of its attributes, has an attribute with this value. */
export const isInSomeResource = (resource: Sql, name: string, value: string): Sql => {
  const own = name.startsWith(OF_RESOURCE) ? name.slice(OF_RESOURCE.length) : name;
  return sql`JSONHas(${resource}, ${text(own)}) AND JSONExtractString(${resource}, ${text(own)}) = ${text(value)}`;
};

/** What tells tags apart. */
export const keyOf = (tag: Tag): string => JSON.stringify(tag);

/** The tags of a filter that are looked for in resources: those that are named so, and inside a service all but columns. */
export const lookedUp = ({ service, tags }: SpanFilter): SpanFilter['tags'] =>
  tags.filter(([name]) => name.startsWith(OF_RESOURCE) || (service !== null && !COLUMNS.has(name)));

/**
 * The conditions of a filter, but for time and tenant. `resources`: by the key of a tag, whether a resource has it; where none has, the bloom
 * of attributes narrows down what is read.
 */
export function filterConditions(filter: SpanFilter, resources: ReadonlyMap<string, Sql>): Sql[] {
  const { service, operation, tags, minDuration, maxDuration, status, kind } = filter;
  const condition = (tag: Tag): Sql => {
    const [name, value] = tag;
    const column = COLUMNS.get(name);
    if (column !== undefined) return column(value);
    const having = resources.get(keyOf(tag));
    if (name.startsWith(OF_RESOURCE)) return having ?? sql`0`;
    const own = attribute(name, value);
    return having === undefined ? own : sql`((${own}) OR (NOT mapContains(attributes, ${text(name)}) AND ${having}))`;
  };
  return [
    ...(service === null ? [] : [sql`service = ${text(service)}`]),
    ...(operation === null ? [] : [sql`name = ${text(operation)}`]),
    ...(minDuration === null ? [] : [sql`duration >= ${uint64(minDuration)}`]),
    ...(maxDuration === null ? [] : [maxDuration < 0 ? sql`0` : sql`duration <= ${uint64(maxDuration)}`]),
    ...(status === null ? [] : [sql`status = ${uint32(status)}`]),
    ...(kind === null ? [] : [sql`kind = ${uint32(kind)}`]),
    ...tags.map(condition),
  ];
}
