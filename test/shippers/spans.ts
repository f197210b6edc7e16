import { gunzipSync } from 'node:zlib';
import { otlpTypes } from '../fixtures/otlp/traces.ts';
import type { Passed } from './wire.ts';

type Json = Readonly<Record<string, unknown>>;

/** A span of OTLP with what it shares with others: members by OTLP's names, without those that have their default. */
export type WholeSpan = Json & { readonly traceId: string; readonly spanId: string };

/** An OTLP request or answer. */
export type ResourceSpans = readonly {
  readonly resource?: Json;
  readonly schemaUrl?: string;
  readonly scopeSpans?: readonly { readonly scope?: Json; readonly schemaUrl?: string; readonly spans?: readonly Json[] }[];
}[];

const REQUEST = otlpTypes.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest');
const IDS = new Set(['traceId', 'spanId', 'parentSpanId']);

/** A value of OTLP in one form: 64-bit integers as digits, ids in hexadecimal, without members that are empty or zero. */
function plain(value: unknown, name = ''): unknown {
  if (Buffer.isBuffer(value)) return value.toString(IDS.has(name) ? 'hex' : 'base64');
  if (Array.isArray(value)) return value.map((one) => plain(one));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, one]) => [key, plain(one, key)] as const);
    return Object.fromEntries(members.filter(([key, one]) => key.endsWith('Value') || !isDefault(one)));
  }
  return name === 'intValue' || name.endsWith('UnixNano') ? String(value) : IDS.has(name) ? String(value).toLowerCase() : value;
}

const isDefault = (value: unknown): boolean =>
  value === '' || value === 0 || value === '0' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** The spans of an OTLP request or answer in one form, by their ids. */
export function wholeSpans(list: ResourceSpans): WholeSpan[] {
  const spans = list.flatMap(({ resource, schemaUrl, scopeSpans = [] }) =>
    scopeSpans.flatMap(({ scope, schemaUrl: scopeSchemaUrl, spans: own = [] }) =>
      own.map(
        (span) =>
          plain({ ...span, resource, resourceSchemaUrl: schemaUrl ?? '', scope, scopeSchemaUrl: scopeSchemaUrl ?? '' }) as WholeSpan,
      ),
    ),
  );
  return spans.sort((a, b) => (a.traceId + a.spanId < b.traceId + b.spanId ? -1 : 1));
}

/** The spans of an OTLP request as protobufjs or JSON reads it, whatever its encoding. */
export function sentSpans({ body, contentType, contentEncoding }: Passed): WholeSpan[] {
  const bytes = contentEncoding === 'gzip' ? gunzipSync(body) : body;
  if (contentType.startsWith('application/json'))
    return wholeSpans((JSON.parse(bytes.toString()) as { resourceSpans: ResourceSpans }).resourceSpans);
  const message = REQUEST.toObject(REQUEST.decode(bytes), { longs: String, bytes: Buffer }) as { resourceSpans: ResourceSpans };
  return wholeSpans(message.resourceSpans);
}
