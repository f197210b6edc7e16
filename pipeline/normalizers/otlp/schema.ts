/**
 * The messages of OTLP that logs, traces and metrics are made of, as far as they are read: field numbers, which the JSON encoding has as names in
 * camelCase. https://github.com/open-telemetry/opentelemetry-proto (logs/v1/logs.proto, trace/v1/trace.proto, metrics/v1/metrics.proto, common/v1/common.proto).
 */

export const REQUEST = { resourceLogs: 1 } as const;
export const RESOURCE_LOGS = { resource: 1, scopeLogs: 2 } as const;
export const RESOURCE = { attributes: 1 } as const;
export const SCOPE_LOGS = { scope: 1, logRecords: 2 } as const;
export const SCOPE = { name: 1, version: 2, attributes: 3 } as const;
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
export const TRACES_REQUEST = { resourceSpans: 1 } as const;
export const RESOURCE_SPANS = { resource: 1, scopeSpans: 2, schemaUrl: 3 } as const;
export const SPANS_RESOURCE = { attributes: 1, droppedAttributesCount: 2 } as const;
export const SCOPE_SPANS = { scope: 1, spans: 2, schemaUrl: 3 } as const;
export const SPANS_SCOPE = { name: 1, version: 2, attributes: 3, droppedAttributesCount: 4 } as const;
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
export const EVENT = { timeUnixNano: 1, name: 2, attributes: 3, droppedAttributesCount: 4 } as const;
export const LINK = { traceId: 1, spanId: 2, traceState: 3, attributes: 4, droppedAttributesCount: 5, flags: 6 } as const;
export const STATUS = { message: 2, code: 3 } as const;
export const KEY_VALUE = { key: 1, value: 2 } as const;
export const ANY_VALUE = {
  stringValue: 1,
  boolValue: 2,
  intValue: 3,
  doubleValue: 4,
  arrayValue: 5,
  kvlistValue: 6,
  bytesValue: 7,
} as const;
/** Of ArrayValue and of KeyValueList. */
export const LIST = { values: 1 } as const;
export const METRICS_REQUEST = { resourceMetrics: 1 } as const;
export const RESOURCE_METRICS = { resource: 1, scopeMetrics: 2 } as const;
export const SCOPE_METRICS = { metrics: 2 } as const;
export const METRIC = {
  ...{ name: 1, description: 2, unit: 3, gauge: 5, sum: 7, histogram: 9, exponentialHistogram: 10, summary: 11 },
} as const;
/** Of a gauge, a sum, a histogram, an exponential histogram and a summary. */
export const METRIC_DATA = { dataPoints: 1, aggregationTemporality: 2, isMonotonic: 3 } as const;
export const NUMBER_POINT = {
  ...{ startTimeUnixNano: 2, timeUnixNano: 3, asDouble: 4, exemplars: 5, asInt: 6, attributes: 7, flags: 8 },
} as const;
export const HISTOGRAM_POINT = {
  ...{
    startTimeUnixNano: 2,
    timeUnixNano: 3,
    count: 4,
    sum: 5,
    bucketCounts: 6,
    explicitBounds: 7,
    exemplars: 8,
    attributes: 9,
    flags: 10,
  },
} as const;
export const EXPONENTIAL_POINT = {
  ...{ attributes: 1, startTimeUnixNano: 2, timeUnixNano: 3, count: 4, sum: 5, scale: 6, zeroCount: 7, positive: 8, negative: 9 },
  ...{ flags: 10, exemplars: 11, zeroThreshold: 14 },
} as const;
export const SUMMARY_POINT = {
  ...{ startTimeUnixNano: 2, timeUnixNano: 3, count: 4, sum: 5, quantileValues: 6, attributes: 7, flags: 8 },
} as const;
export const BUCKETS = { offset: 1, bucketCounts: 2 } as const;
export const QUANTILE = { quantile: 1, value: 2 } as const;
export const EXEMPLAR = { timeUnixNano: 2, asDouble: 3, spanId: 4, traceId: 5, asInt: 6, filteredAttributes: 7 } as const;
