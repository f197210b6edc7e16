import { bytesField, doubleField, fixed64Field, varintField } from './protobuf-writer.ts';

/** An attribute's value: text, a boolean, an integer, a double, bytes, a list, or pairs. */
export type AttributeValue = string | boolean | bigint | number | Buffer | readonly AttributeValue[] | ReadonlyMap<string, AttributeValue>;
export type Attributes = ReadonlyMap<string, AttributeValue>;

export type TestRecord = {
  readonly time?: bigint;
  readonly observed?: bigint;
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body?: AttributeValue;
  readonly attributes?: Attributes;
  readonly traceId?: Buffer;
  readonly spanId?: Buffer;
  readonly eventName?: string;
};
export type TestScope = {
  readonly name?: string;
  readonly version?: string;
  readonly attributes?: Attributes;
  readonly records: readonly TestRecord[];
};
export type TestResource = { readonly attributes?: Attributes; readonly scopes: readonly TestScope[] };

function anyValue(value: AttributeValue): Buffer {
  if (typeof value === 'string') return bytesField(1, value);
  if (typeof value === 'boolean') return varintField(2, value ? 1 : 0);
  if (typeof value === 'bigint') return varintField(3, value);
  if (typeof value === 'number') return doubleField(4, value);
  if (Buffer.isBuffer(value)) return bytesField(7, value);
  if (value instanceof Map) return bytesField(6, ...keyValues(1, value as Attributes));
  return bytesField(5, ...(value as readonly AttributeValue[]).map((item) => bytesField(1, anyValue(item))));
}

const keyValues = (field: number, attributes: Attributes = new Map()): Buffer[] =>
  [...attributes].map(([key, value]) => bytesField(field, bytesField(1, key), bytesField(2, anyValue(value))));

function record(entry: TestRecord): Buffer {
  const parts: Buffer[] = [];
  if (entry.time !== undefined) parts.push(fixed64Field(1, entry.time));
  if (entry.severityNumber !== undefined) parts.push(varintField(2, entry.severityNumber));
  if (entry.severityText !== undefined) parts.push(bytesField(3, entry.severityText));
  if (entry.body !== undefined) parts.push(bytesField(5, anyValue(entry.body)));
  parts.push(...keyValues(6, entry.attributes));
  if (entry.traceId !== undefined) parts.push(bytesField(9, entry.traceId));
  if (entry.spanId !== undefined) parts.push(bytesField(10, entry.spanId));
  if (entry.observed !== undefined) parts.push(fixed64Field(11, entry.observed));
  if (entry.eventName !== undefined) parts.push(bytesField(12, entry.eventName));
  return Buffer.concat(parts);
}

function scope({ name, version, attributes, records }: TestScope): Buffer {
  const own = [
    ...(name === undefined ? [] : [bytesField(1, name)]),
    ...(version === undefined ? [] : [bytesField(2, version)]),
    ...keyValues(3, attributes),
  ];
  return Buffer.concat([bytesField(1, ...own), ...records.map((entry) => bytesField(2, record(entry)))]);
}

/** The request in protobuf. */
export function otlpProtobuf(resources: readonly TestResource[]): Buffer {
  return Buffer.concat(
    resources.map(({ attributes, scopes }) =>
      bytesField(1, bytesField(1, ...keyValues(1, attributes)), ...scopes.map((one) => bytesField(2, scope(one)))),
    ),
  );
}

function jsonValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: String(value) };
  if (typeof value === 'number') return { doubleValue: Number.isFinite(value) ? value : String(value) };
  if (Buffer.isBuffer(value)) return { bytesValue: value.toString('base64') };
  if (value instanceof Map) return { kvlistValue: { values: jsonKeyValues(value as Attributes) } };
  return { arrayValue: { values: (value as readonly AttributeValue[]).map(jsonValue) } };
}

const jsonKeyValues = (attributes: Attributes = new Map()): object[] =>
  [...attributes].map(([key, value]) => ({ key, value: jsonValue(value) }));

function jsonRecord({ time, observed, severityNumber, severityText, body, attributes, traceId, spanId, eventName }: TestRecord): object {
  return {
    ...(time !== undefined && { timeUnixNano: String(time) }),
    ...(observed !== undefined && { observedTimeUnixNano: String(observed) }),
    ...(severityNumber !== undefined && { severityNumber }),
    ...(severityText !== undefined && { severityText }),
    ...(body !== undefined && { body: jsonValue(body) }),
    ...(attributes !== undefined && { attributes: jsonKeyValues(attributes) }),
    ...(traceId !== undefined && { traceId: traceId.toString('hex').toUpperCase() }),
    ...(spanId !== undefined && { spanId: spanId.toString('hex') }),
    ...(eventName !== undefined && { eventName }),
  };
}

/** The same request in JSON. */
export function otlpJson(resources: readonly TestResource[]): string {
  return JSON.stringify({
    resourceLogs: resources.map(({ attributes, scopes }) => ({
      resource: { attributes: jsonKeyValues(attributes) },
      scopeLogs: scopes.map(({ name, version, attributes: own, records }) => ({
        scope: { name, version, attributes: jsonKeyValues(own) },
        logRecords: records.map(jsonRecord),
      })),
    })),
  });
}
