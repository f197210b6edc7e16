import { runInNewContext } from 'node:vm';
import { parseTime } from '../../pipeline/core/time.ts';
import { wholeSpans, type ResourceSpans, type WholeSpan } from './spans.ts';

type Values = Readonly<Record<string, unknown>>;
type Ids = { readonly traceId: string; readonly spanId: string };

/** A span as a client's own exporter states it; times are microseconds. What it does not state is left out. */
export type StatedSpan = Ids & {
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly start: number;
  readonly end: number;
  readonly status: number;
  readonly message: string;
  readonly attributes: Values;
  readonly events: readonly { readonly name: string; readonly attributes: Values }[];
  readonly links?: readonly (Ids & { readonly attributes: Values })[];
  readonly resource: Values;
  readonly scope?: string;
};

/** Reads what a program printed: the spans that it states. */
export type Statement = (output: string) => readonly StatedSpan[];

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
const STATUSES = ['UNSET', 'OK', 'ERROR'];
const micros = (time: string): number => Number(parseTime(time) ?? 0n) / 1000;
const linesOf = (output: string): string[] => output.split('\n');
const jsonLines = <Line>(output: string): Line[] =>
  linesOf(output)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

type PrintedByNode = {
  readonly resource: { readonly attributes: Values };
  readonly instrumentationScope: { readonly name: string; readonly version: string };
  readonly traceId: string;
  readonly id: string;
  readonly parentSpanContext?: { readonly spanId: string };
  readonly name: string;
  /** One less than in OTLP. */
  readonly kind: number;
  readonly timestamp: number;
  readonly duration: number;
  readonly attributes: Values;
  readonly status: { readonly code: number; readonly message?: string };
  readonly events: readonly { readonly name: string; readonly attributes?: Values }[];
  readonly links: readonly { readonly context: Ids; readonly attributes: Values }[];
};

/** The SDK for Node prints objects as its console shows them. */
export const byNode: Statement = (output) => {
  const objects = output.match(/^\{\n[^]*?^\}$/gm) ?? [];
  const spans = runInNewContext(`[${objects.join(',')}]`) as readonly PrintedByNode[];
  return JSON.parse(
    JSON.stringify(
      spans.map(({ id, parentSpanContext, timestamp, duration, status, events, links, resource, instrumentationScope, ...span }) => ({
        ...{ traceId: span.traceId, spanId: id, parentSpanId: parentSpanContext?.spanId ?? '', name: span.name, kind: span.kind + 1 },
        ...{ start: timestamp, end: timestamp + duration, status: status.code, message: status.message ?? '', attributes: span.attributes },
        events: events.map(({ name, attributes = {} }) => ({ name, attributes })),
        links: links.map(({ context: { traceId, spanId }, attributes }) => ({ traceId, spanId, attributes })),
        resource: resource.attributes,
        scope: `${instrumentationScope.name} ${instrumentationScope.version}`,
      })),
    ),
  ) as StatedSpan[];
};

type ContextOfPython = { readonly trace_id: string; readonly span_id: string };
type PrintedByPython = {
  readonly name: string;
  readonly context: ContextOfPython;
  readonly kind: string;
  readonly parent_id: string | null;
  readonly start_time: string;
  readonly end_time: string;
  readonly status: { readonly status_code: string; readonly description?: string };
  readonly attributes: Values;
  readonly events: readonly { readonly name: string; readonly attributes: Values }[];
  readonly links: readonly { readonly context: ContextOfPython; readonly attributes: Values }[];
  readonly resource: { readonly attributes: Values };
};
const idsOfPython = ({ trace_id, span_id }: ContextOfPython): Ids => ({ traceId: trace_id.slice(2), spanId: span_id.slice(2) });

/** The SDK for Python prints JSON, ids with `0x`. */
export const byPython: Statement = (output) =>
  jsonLines<PrintedByPython>(output).map(({ context, parent_id, status, links, resource, ...span }) => ({
    ...idsOfPython(context),
    ...{ parentSpanId: parent_id?.slice(2) ?? '', name: span.name, kind: KINDS.indexOf(span.kind.replace('SpanKind.', '')) },
    ...{ start: micros(span.start_time), end: micros(span.end_time) },
    ...{ status: STATUSES.indexOf(status.status_code), message: status.description ?? '', attributes: span.attributes },
    events: span.events.map(({ name, attributes }) => ({ name, attributes })),
    links: links.map((link) => ({ ...idsOfPython(link.context), attributes: link.attributes })),
    resource: resource.attributes,
  }));

type PairOfGo = { readonly Key: string; readonly Value: { readonly Value: unknown } };
type ContextOfGo = { readonly TraceID: string; readonly SpanID: string };
type PrintedByGo = {
  readonly Name: string;
  readonly SpanContext: ContextOfGo;
  readonly Parent: ContextOfGo;
  readonly SpanKind: number;
  readonly StartTime: string;
  readonly EndTime: string;
  readonly Attributes: readonly PairOfGo[] | null;
  readonly Events: readonly { readonly Name: string; readonly Attributes: readonly PairOfGo[] | null }[] | null;
  readonly Links: readonly { readonly SpanContext: ContextOfGo; readonly Attributes: readonly PairOfGo[] | null }[] | null;
  readonly Status: { readonly Code: string; readonly Description: string };
  readonly Resource: readonly PairOfGo[];
  readonly InstrumentationScope: { readonly Name: string; readonly Version: string };
};
const valuesOfGo = (pairs: readonly PairOfGo[] | null): Values =>
  Object.fromEntries((pairs ?? []).map(({ Key, Value }) => [Key, Value.Value]));
const idsOfGo = ({ TraceID, SpanID }: ContextOfGo): Ids => ({ traceId: TraceID, spanId: SpanID });

/** The SDK for Go prints JSON with its own names. */
export const byGo: Statement = (output) =>
  jsonLines<PrintedByGo>(output).map(({ Name, SpanContext, Parent, Status, Events, Links, InstrumentationScope, ...span }) => ({
    ...idsOfGo(SpanContext),
    ...{ parentSpanId: Parent.SpanID.replace(/^0+$/, ''), name: Name, kind: span.SpanKind },
    ...{ start: micros(span.StartTime), end: micros(span.EndTime) },
    ...{ status: STATUSES.indexOf(Status.Code.toUpperCase()), message: Status.Description, attributes: valuesOfGo(span.Attributes) },
    events: (Events ?? []).map((event) => ({ name: event.Name, attributes: valuesOfGo(event.Attributes) })),
    links: (Links ?? []).map((link) => ({ ...idsOfGo(link.SpanContext), attributes: valuesOfGo(link.Attributes) })),
    ...{ resource: valuesOfGo(span.Resource), scope: `${InstrumentationScope.Name} ${InstrumentationScope.Version}` },
  }));

/** The SDK for Java prints OTLP's own JSON, a ResourceSpans in each line of its log. */
export const byJava: Statement = (output) =>
  linesOf(output)
    .map((line) => /(\{"resource":.*\})\s*$/.exec(line)?.[1])
    .filter((line) => line !== undefined)
    .flatMap((line) => statedOf(wholeSpans([JSON.parse(line)] as ResourceSpans)));

type EndpointOfZipkin = { readonly serviceName?: string; readonly ipv4?: string; readonly port?: number };
type PrintedByZipkin = {
  readonly traceId: string;
  readonly id: string;
  readonly parentId?: string;
  readonly kind?: string;
  readonly name: string;
  readonly timestamp: number;
  readonly duration: number;
  readonly localEndpoint: EndpointOfZipkin;
  readonly remoteEndpoint?: EndpointOfZipkin;
  readonly annotations?: readonly { readonly value: string }[];
  readonly tags?: Readonly<Record<string, string>>;
};
const placeOf = (side: string, { ipv4, port }: EndpointOfZipkin = {}): Values => ({
  ...(ipv4 === undefined ? {} : { [`network.${side}.address`]: ipv4 }),
  ...(port === undefined || port === 0 ? {} : { [`network.${side}.port`]: port }),
});

/** Zipkin's own JSON, as docs/traces.md says what it becomes. */
export const byZipkin: Statement = (output) =>
  jsonLines<PrintedByZipkin>(output).map(
    ({ traceId, id, parentId = '', kind, localEndpoint, remoteEndpoint, annotations = [], ...span }) => {
      const { tags = {} } = span;
      const { error } = tags;
      const peer = remoteEndpoint?.serviceName;
      return {
        ...{
          traceId: traceId.padStart(32, '0'),
          spanId: id,
          parentSpanId: parentId,
          name: span.name,
          kind: KINDS.indexOf(kind ?? 'INTERNAL'),
        },
        ...{ start: span.timestamp, end: span.timestamp + span.duration, status: error === undefined ? 0 : 2, message: error ?? '' },
        attributes: {
          ...tags,
          ...placeOf('local', localEndpoint),
          ...placeOf('peer', remoteEndpoint),
          ...(peer === undefined ? {} : { 'peer.service': peer }),
        },
        events: annotations.map(({ value }) => ({ name: value, attributes: {} })),
        resource: { 'service.name': localEndpoint.serviceName },
      };
    },
  );

type AnyValue = Readonly<Record<string, unknown>> & { readonly arrayValue?: { readonly values?: readonly AnyValue[] } };
type Pairs = readonly { readonly key: string; readonly value?: AnyValue }[];
type OtlpSpan = {
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number; readonly message?: string };
  readonly attributes?: Pairs;
  readonly events?: readonly { readonly name: string; readonly attributes?: Pairs }[];
  readonly links?: readonly (Ids & { readonly attributes?: Pairs })[];
  readonly resource?: { readonly attributes?: Pairs };
  readonly scope?: { readonly name?: string; readonly version?: string };
};
function valueOf(value: AnyValue = {}): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(valueOf);
  const [[name, one] = ['', null]] = Object.entries(value);
  return name === 'intValue' ? Number(one) : one;
}
const valuesOf = (pairs: Pairs = []): Values => Object.fromEntries(pairs.map(({ key, value }) => [key, valueOf(value)]));

/** Spans of OTLP in the form of statements. */
export const statedOf = (spans: readonly WholeSpan[]): StatedSpan[] =>
  spans.map((whole) => {
    const span = whole as unknown as OtlpSpan;
    return {
      ...{ traceId: whole.traceId, spanId: whole.spanId, parentSpanId: span.parentSpanId ?? '', name: span.name, kind: span.kind },
      ...{ start: Number(span.startTimeUnixNano) / 1000, end: Number(span.endTimeUnixNano) / 1000 },
      ...{ status: span.status?.code ?? 0, message: span.status?.message ?? '', attributes: valuesOf(span.attributes) },
      events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: valuesOf(attributes) })),
      links: (span.links ?? []).map(({ traceId, spanId, attributes }) => ({ traceId, spanId, attributes: valuesOf(attributes) })),
      resource: valuesOf(span.resource?.attributes),
      scope: `${span.scope?.name ?? ''} ${span.scope?.version ?? ''}`,
    };
  });
