import type { Store } from '../../pipeline/store/client.ts';

/** When the spans of tests begin, nanoseconds since 1970: 2026-11-18T12:00:00Z. */
export const SPANS_AT = 1_795_003_200_000_000_000n;

/** A span as a test puts it into the table: what is not given has a default. Times and durations are milliseconds, ids hex digits. */
export type TestSpan = {
  readonly trace: string;
  readonly span: string;
  readonly parent?: string;
  /** After SPANS_AT. */
  readonly at?: number;
  readonly took?: number;
  readonly service?: string;
  readonly name?: string;
  readonly kind?: number;
  readonly status?: number;
  readonly attributes?: readonly (readonly [name: string, value: string, type?: string])[];
  readonly resource?: readonly (readonly [name: string, value: string, type?: string])[];
  /** When it arrived, milliseconds after SPANS_AT; later for a later span of the list by default. */
  readonly arrived?: number;
  /** Columns as they are. */
  readonly columns?: Readonly<Record<string, unknown>>;
};

/** An id of a trace, and of a span, that a test can tell. */
export const traceId = (number: number): string => `a${number.toString(16).padStart(31, '0')}`;
export const spanId = (number: number): string => `b${number.toString(16).padStart(15, '0')}`;

const types = (list: readonly (readonly [string, string, string?])[]): string => list.map(([, , type = 's']) => type).join('');
let offset = 0;

/** Bytes of hex digits as ClickHouse's text formats take them: code points up to 255 would be UTF-8, so they are made in the statement. */
const column = (span: TestSpan, index: number): Readonly<Record<string, unknown>> => {
  const { trace, span: id, parent = '', at = 0, took = 1, service = 'web', name = 'GET /', kind = 2, status = 0 } = span;
  const resource = span.resource ?? [['service.name', service] as const];
  const attributes = span.attributes ?? [];
  return {
    ...{
      trace,
      id,
      parent: parent.padStart(16, '0'),
      ns: String(SPANS_AT + BigInt(Math.round(at * 1e6))),
      took: String(Math.round(took * 1e6)),
    },
    ...{ service, name, kind, status, arrived: String(SPANS_AT / 1_000_000n + BigInt(span.arrived ?? at + index)), index },
    resource: `{${resource.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`,
    ...{ resource_types: types(resource), names: attributes.map(([key]) => key), texts: attributes.map(([, value]) => value) },
    attribute_types: types(attributes),
    ...{ status_message: '', trace_state: '', flags: 0, scope: '', scope_version: '', context: '', events: '', links: '' },
    ...{ dropped_attributes: 0, dropped_events: 0, dropped_links: 0, ...span.columns },
  };
};

const COLUMNS =
  'status_message, trace_state, flags, scope, scope_version, context, events, links, dropped_attributes, dropped_events, dropped_links';
const STRUCTURE =
  'trace String, id String, parent String, ns Int64, took UInt64, service String, name String, kind UInt8, status UInt8, arrived Int64, index UInt32, resource String, resource_types String, names Array(String), texts Array(String), attribute_types String, status_message String, trace_state String, flags UInt32, scope String, scope_version String, context String, events String, links String, dropped_attributes UInt32, dropped_events UInt32, dropped_links UInt32';

/** Puts spans of a tenant into its table, as a sink does. */
export async function insertSpans(store: Store, tenantId: number, spans: readonly TestSpan[]): Promise<void> {
  offset += 1;
  const statement = `INSERT INTO spans (tenant_id, time, duration, trace_id, span_id, parent_span_id, service, name, kind, status, resource, long_resource, resource_types, attributes, attribute_types, ${COLUMNS}, retention_days, arrived, kafka_part, kafka_off, kafka_idx) SELECT ${String(tenantId)}, fromUnixTimestamp64Nano(ns, 'UTC'), took, toFixedString(unhex(trace), 16), toFixedString(unhex(id), 8), toFixedString(unhex(parent), 8), service, name, kind, status, if(length(resource) > 4096, '', resource), if(length(resource) > 4096, resource, ''), resource_types, mapFromArrays(names, texts), attribute_types, ${COLUMNS}, 0, fromUnixTimestamp64Milli(arrived, 'UTC'), 0, ${String(offset)}, index FROM input('${STRUCTURE}') FORMAT JSONEachRow`;
  const body = Buffer.from(spans.map((span, index) => JSON.stringify(column(span, index))).join('\n'));
  await store.insert(statement, [body], { queryId: `test-spans-${String(offset)}-${String(Math.random())}`, settings: {} });
}
