/**
 * Made by `npm run proto` from the .proto files in proto/: edit proto/generate.ts instead.
 * The messages of OTLP that metrics are made of, as far as they are read: the numbers of the fields, by the names that the JSON encoding has.
 */

export const METRICS_REQUEST = {
  resourceMetrics: 1,
} as const;

export const RESOURCE_METRICS = {
  resource: 1,
  scopeMetrics: 2,
} as const;

export const SCOPE_METRICS = {
  metrics: 2,
} as const;

export const METRIC = {
  name: 1,
  description: 2,
  unit: 3,
  gauge: 5,
  sum: 7,
  histogram: 9,
  exponentialHistogram: 10,
  summary: 11,
} as const;

export const METRIC_DATA = {
  dataPoints: 1,
  aggregationTemporality: 2,
  isMonotonic: 3,
} as const;

export const NUMBER_POINT = {
  startTimeUnixNano: 2,
  timeUnixNano: 3,
  asDouble: 4,
  exemplars: 5,
  asInt: 6,
  attributes: 7,
  flags: 8,
} as const;

export const HISTOGRAM_POINT = {
  startTimeUnixNano: 2,
  timeUnixNano: 3,
  count: 4,
  sum: 5,
  bucketCounts: 6,
  explicitBounds: 7,
  exemplars: 8,
  attributes: 9,
  flags: 10,
} as const;

export const EXPONENTIAL_POINT = {
  attributes: 1,
  startTimeUnixNano: 2,
  timeUnixNano: 3,
  count: 4,
  sum: 5,
  scale: 6,
  zeroCount: 7,
  positive: 8,
  negative: 9,
  flags: 10,
  exemplars: 11,
  zeroThreshold: 14,
} as const;

export const SUMMARY_POINT = {
  startTimeUnixNano: 2,
  timeUnixNano: 3,
  count: 4,
  sum: 5,
  quantileValues: 6,
  attributes: 7,
  flags: 8,
} as const;

export const BUCKETS = {
  offset: 1,
  bucketCounts: 2,
} as const;

export const QUANTILE = {
  quantile: 1,
  value: 2,
} as const;

export const EXEMPLAR = {
  timeUnixNano: 2,
  asDouble: 3,
  spanId: 4,
  traceId: 5,
  asInt: 6,
  filteredAttributes: 7,
} as const;
