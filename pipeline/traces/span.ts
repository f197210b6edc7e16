import { fixedBytes, nanoseconds, uint32, uint64, uint8 } from '../rows/fixed-types.ts';
import { Layout } from '../rows/layout.ts';
import { string, word, wordPairs, type Pairs } from '../rows/string-types.ts';

/** The name of the signal, of its table, and of its topic before `.v1`. */
export const SPANS = 'spans';

/** Bytes of the id of a trace, and of a span. */
export const TRACE_ID_BYTES = 16;
export const SPAN_ID_BYTES = 8;

/** SpanKind of OTLP: from SPAN_KIND_UNSPECIFIED to SPAN_KIND_CONSUMER. */
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
/** StatusCode of OTLP. */
export const STATUSES = ['unset', 'ok', 'error'] as const;

/**
 * What an attribute's value is, a character for each: the value itself is text. `JSON`: an array or a list of pairs as plain JSON, in which a
 * double has a point or an exponent, so that its types can be told; `OTLP_JSON`: the same as OTLP writes an AnyValue in JSON, where plain JSON
 * cannot tell the types (bytes, numbers that are not finite, values without a type).
 */
export const TYPES = {
  string: 's',
  boolean: 'b',
  int: 'i',
  double: 'd',
  /** In base64. */
  bytes: 'y',
  json: 'v',
  otlpJson: 'o',
  /** An AnyValue without a value; its text is empty. */
  none: 'n',
} as const;

/**
 * A row of a record of `spans.v1`: a Span of OTLP with its resource and scope
 * (https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto). On the path of a span no such
 * object is made.
 */
export type SpanRow = {
  /** When it begins, nanoseconds since 1970. */
  readonly time: bigint;
  /** Nanoseconds. */
  readonly duration: bigint;
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  /** Zeros for a span without a parent. */
  readonly parentSpanId: Buffer;
  /** `service.name` of the resource; empty for none. */
  readonly service: string;
  readonly name: string;
  /** An index of KINDS, and of STATUSES. */
  readonly kind: number;
  readonly status: number;
  readonly statusMessage: string;
  readonly traceState: string;
  readonly flags: number;
  readonly scope: string;
  readonly scopeVersion: string;
  /** What resources and scopes seldom have, as a JSON object (docs/topics.md); empty for nothing. */
  readonly context: string;
  /** The attributes of the resource: a JSON object of strings in their order; empty for none. */
  readonly resource: string;
  /** The same where it has more bytes than a word may have; `resource` is empty then. */
  readonly longResource: string;
  /** A character of TYPES for each of them, and for each attribute of the span. */
  readonly resourceTypes: string;
  readonly attributes: Pairs;
  readonly attributeTypes: string;
  /** JSON arrays of Span.Event and Span.Link as OTLP writes them in JSON; empty for none. */
  readonly events: string;
  readonly links: string;
  readonly droppedAttributes: number;
  readonly droppedEvents: number;
  readonly droppedLinks: number;
};

/** The last nanosecond that ClickHouse's DateTime64 has: a span ends before it. */
const LAST_END = 2n ** 63n - 1n;

const isUpTo =
  (most: number) =>
  (value: number): boolean =>
    value <= most;

/** The columns of a record of `spans.v1`, in their order. docs/topics.md is the specification. */
export const spanLayout = new Layout<SpanRow>(SPANS, [
  { name: 'time', type: nanoseconds, member: 'time' },
  { name: 'duration', type: uint64, member: 'duration', isGood: (value, row, { time }) => time(row) + value <= LAST_END },
  { name: 'trace_id', type: fixedBytes(TRACE_ID_BYTES), member: 'traceId' },
  { name: 'span_id', type: fixedBytes(SPAN_ID_BYTES), member: 'spanId' },
  { name: 'parent_span_id', type: fixedBytes(SPAN_ID_BYTES), member: 'parentSpanId' },
  { name: 'service', type: word, member: 'service' },
  { name: 'name', type: word, member: 'name' },
  { name: 'kind', type: uint8, member: 'kind', isGood: isUpTo(KINDS.length - 1) },
  { name: 'status', type: uint8, member: 'status', isGood: isUpTo(STATUSES.length - 1) },
  { name: 'status_message', type: string, member: 'statusMessage' },
  { name: 'trace_state', type: string, member: 'traceState' },
  { name: 'flags', type: uint32, member: 'flags' },
  { name: 'scope', type: word, member: 'scope' },
  { name: 'scope_version', type: word, member: 'scopeVersion' },
  { name: 'context', type: word, member: 'context' },
  { name: 'resource', type: word, member: 'resource' },
  { name: 'long_resource', type: string, member: 'longResource' },
  { name: 'resource_types', type: word, member: 'resourceTypes' },
  { name: 'attributes', type: wordPairs, member: 'attributes' },
  { name: 'attribute_types', type: word, member: 'attributeTypes' },
  { name: 'events', type: string, member: 'events' },
  { name: 'links', type: string, member: 'links' },
  { name: 'dropped_attributes', type: uint32, member: 'droppedAttributes' },
  { name: 'dropped_events', type: uint32, member: 'droppedEvents' },
  { name: 'dropped_links', type: uint32, member: 'droppedLinks' },
]);
