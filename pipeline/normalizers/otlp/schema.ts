/**
 * Made by `npm run proto` from the .proto files in proto/: edit proto/generate.ts instead.
 * The messages of OTLP that logs and traces are made of, as far as they are read. A table has the numbers of the fields, by the names that the
 * JSON encoding has; its `…_TAGS` have what stands before each of them in protobuf: the number times 8, plus the wire type.
 */

export const REQUEST = {
  resourceLogs: 1,
} as const;
export const REQUEST_TAGS = {
  resourceLogs: 10,
} as const;

export const RESOURCE_LOGS = {
  resource: 1,
  scopeLogs: 2,
} as const;
export const RESOURCE_LOGS_TAGS = {
  resource: 10,
  scopeLogs: 18,
} as const;

export const RESOURCE = {
  attributes: 1,
} as const;
export const RESOURCE_TAGS = {
  attributes: 10,
} as const;

export const SCOPE_LOGS = {
  scope: 1,
  logRecords: 2,
} as const;
export const SCOPE_LOGS_TAGS = {
  scope: 10,
  logRecords: 18,
} as const;

export const SCOPE = {
  name: 1,
  version: 2,
  attributes: 3,
} as const;
export const SCOPE_TAGS = {
  name: 10,
  version: 18,
  attributes: 26,
} as const;

export const LOG_RECORD = {
  timeUnixNano: 1,
  severityNumber: 2,
  severityText: 3,
  body: 5,
  attributes: 6,
  traceId: 9,
  spanId: 10,
  observedTimeUnixNano: 11,
  eventName: 12,
} as const;
export const LOG_RECORD_TAGS = {
  timeUnixNano: 9,
  severityNumber: 16,
  severityText: 26,
  body: 42,
  attributes: 50,
  traceId: 74,
  spanId: 82,
  observedTimeUnixNano: 89,
  eventName: 98,
} as const;

export const TRACES_REQUEST = {
  resourceSpans: 1,
} as const;
export const TRACES_REQUEST_TAGS = {
  resourceSpans: 10,
} as const;

export const RESOURCE_SPANS = {
  resource: 1,
  scopeSpans: 2,
  schemaUrl: 3,
} as const;
export const RESOURCE_SPANS_TAGS = {
  resource: 10,
  scopeSpans: 18,
  schemaUrl: 26,
} as const;

export const SPANS_RESOURCE = {
  attributes: 1,
  droppedAttributesCount: 2,
} as const;
export const SPANS_RESOURCE_TAGS = {
  attributes: 10,
  droppedAttributesCount: 16,
} as const;

export const SCOPE_SPANS = {
  scope: 1,
  spans: 2,
  schemaUrl: 3,
} as const;
export const SCOPE_SPANS_TAGS = {
  scope: 10,
  spans: 18,
  schemaUrl: 26,
} as const;

export const SPANS_SCOPE = {
  name: 1,
  version: 2,
  attributes: 3,
  droppedAttributesCount: 4,
} as const;
export const SPANS_SCOPE_TAGS = {
  name: 10,
  version: 18,
  attributes: 26,
  droppedAttributesCount: 32,
} as const;

export const SPAN = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTimeUnixNano: 7,
  endTimeUnixNano: 8,
  attributes: 9,
  droppedAttributesCount: 10,
  events: 11,
  droppedEventsCount: 12,
  links: 13,
  droppedLinksCount: 14,
  status: 15,
  flags: 16,
} as const;
export const SPAN_TAGS = {
  traceId: 10,
  spanId: 18,
  traceState: 26,
  parentSpanId: 34,
  name: 42,
  kind: 48,
  startTimeUnixNano: 57,
  endTimeUnixNano: 65,
  attributes: 74,
  droppedAttributesCount: 80,
  events: 90,
  droppedEventsCount: 96,
  links: 106,
  droppedLinksCount: 112,
  status: 122,
  flags: 133,
} as const;

export const EVENT = {
  timeUnixNano: 1,
  name: 2,
  attributes: 3,
  droppedAttributesCount: 4,
} as const;
export const EVENT_TAGS = {
  timeUnixNano: 9,
  name: 18,
  attributes: 26,
  droppedAttributesCount: 32,
} as const;

export const LINK = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  attributes: 4,
  droppedAttributesCount: 5,
  flags: 6,
} as const;
export const LINK_TAGS = {
  traceId: 10,
  spanId: 18,
  traceState: 26,
  attributes: 34,
  droppedAttributesCount: 40,
  flags: 53,
} as const;

export const STATUS = {
  message: 2,
  code: 3,
} as const;
export const STATUS_TAGS = {
  message: 18,
  code: 24,
} as const;

export const KEY_VALUE = {
  key: 1,
  value: 2,
} as const;
export const KEY_VALUE_TAGS = {
  key: 10,
  value: 18,
} as const;

export const ANY_VALUE = {
  stringValue: 1,
  boolValue: 2,
  intValue: 3,
  doubleValue: 4,
  arrayValue: 5,
  kvlistValue: 6,
  bytesValue: 7,
} as const;
export const ANY_VALUE_TAGS = {
  stringValue: 10,
  boolValue: 16,
  intValue: 24,
  doubleValue: 33,
  arrayValue: 42,
  kvlistValue: 50,
  bytesValue: 58,
} as const;

export const LIST = {
  values: 1,
} as const;
export const LIST_TAGS = {
  values: 10,
} as const;
