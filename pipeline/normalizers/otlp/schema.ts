/**
 * The messages of OTLP that logs are made of, as far as they are read: field numbers, which the JSON encoding has as names in
 * camelCase. https://github.com/open-telemetry/opentelemetry-proto (logs/v1/logs.proto, common/v1/common.proto).
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
