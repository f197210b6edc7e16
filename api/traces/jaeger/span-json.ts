import type { KeyValue } from '../any-value.ts';
import { resourceAttributes, type StoredSpan } from '../stored-span.ts';
import { NO_SERVICE } from './parameters.ts';
import { tagsOf, tagsOfList, textTag, type JaegerTag } from './tags.ts';

/** A span in Jaeger's JSON (jaegertracing/jaeger, internal/uimodel). Times and durations are microseconds. */
type JaegerSpan = {
  readonly traceID: string;
  readonly spanID: string;
  readonly operationName: string;
  readonly references: readonly Reference[];
  readonly startTime: number;
  readonly duration: number;
  readonly tags: readonly JaegerTag[];
  readonly logs: readonly { readonly timestamp: number; readonly fields: readonly JaegerTag[] }[];
  readonly processID: string;
  readonly warnings: readonly string[] | null;
};
type Reference = { readonly refType: 'CHILD_OF' | 'FOLLOWS_FROM'; readonly traceID: string; readonly spanID: string };

/** Event and Link of OTLP, as far as Jaeger shows them. */
type OtlpEvent = { readonly timeUnixNano?: string | number; readonly name?: string; readonly attributes?: readonly KeyValue[] };
type OtlpLink = { readonly traceId?: string; readonly spanId?: string; readonly attributes?: readonly KeyValue[] };

const KIND_TAGS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUS_TAGS = ['', 'OK', 'ERROR'];
const MICROSECOND = 1000n;

/** The id of a trace as Jaeger prints it: 16 digits where the upper half is zeros. */
export const jaegerTraceId = (id: string): string => (id.startsWith('0'.repeat(16)) ? id.slice(16) : id);

const micros = (nanoseconds: bigint): number => Number(nanoseconds / MICROSECOND);

/** The processes of a trace, each once, by the names that its spans give them. */
export class Processes {
  /** Names by the resource as it is stored, and by the process: different resources may be one process. */
  readonly #names = new Map<string, string>();
  readonly #processes = new Map<string, string>();

  nameOf(span: StoredSpan): string {
    const key = JSON.stringify([span.resource, span.resourceTypes]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const process = processJson(span);
    const name = this.#processes.get(process) ?? `p${String(this.#processes.size + 1)}`;
    this.#processes.set(process, name);
    this.#names.set(key, name);
    return name;
  }

  get json(): string {
    return `{${[...this.#processes].map(([process, name]) => `"${name}":${process}`).join(',')}}`;
  }
}

function processJson(span: StoredSpan): string {
  const attributes = resourceAttributes(span);
  const tags = tagsOf(attributes).filter(({ key }) => key !== 'service.name');
  return JSON.stringify({ serviceName: span.service === '' ? NO_SERVICE : span.service, tags });
}

/** A span as the collector's translator and Jaeger make it of OTLP. */
export function jaegerSpan(span: StoredSpan, processes: Processes, warnings: readonly string[] = []): JaegerSpan {
  return {
    ...{ traceID: jaegerTraceId(span.traceId), spanID: span.spanId, operationName: span.name, references: referencesOf(span) },
    ...{ startTime: micros(span.time), duration: micros(span.duration), tags: spanTags(span), logs: logsOf(span.events) },
    ...{ processID: processes.nameOf(span), warnings: warnings.length === 0 ? null : warnings },
  };
}

/** Scope, attributes by name, then what other members of a span say. */
function spanTags({ scope, scopeVersion, attributes, kind, status, statusMessage, traceState }: StoredSpan): JaegerTag[] {
  const given: readonly (readonly [string, string])[] = [
    ['span.kind', KIND_TAGS[kind] ?? ''],
    ['otel.status_code', STATUS_TAGS[status] ?? ''],
    ['error', ''],
    ['otel.status_description', statusMessage],
    ['w3c.tracestate', traceState],
  ];
  return [
    ...(scope === '' ? [] : [textTag('otel.scope.name', scope)]),
    ...(scopeVersion === '' ? [] : [textTag('otel.scope.version', scopeVersion)]),
    ...tagsOf(attributes),
    ...given.flatMap(([key, value]): JaegerTag[] => {
      if (key === 'error') return status === 2 ? [{ key, type: 'bool', value: true }] : [];
      return value === '' ? [] : [textTag(key, value)];
    }),
  ];
}

/** The parent first; links follow, and one to the parent says what the parent is. */
function referencesOf({ traceId, parentId, links }: StoredSpan): Reference[] {
  const parent = parentId === '' ? [] : [{ refType: 'CHILD_OF', traceID: jaegerTraceId(traceId), spanID: parentId } as const];
  const others: Reference[] = [...parent];
  for (const { traceId: id = '', spanId = '', attributes = [] } of (links === '' ? [] : JSON.parse(links)) as readonly OtlpLink[]) {
    if (id === '' && spanId === '') continue;
    const isChild = attributes.some(({ key, value }) => key === 'opentracing.ref_type' && value?.stringValue === 'child_of');
    const reference = {
      refType: isChild ? 'CHILD_OF' : 'FOLLOWS_FROM',
      traceID: jaegerTraceId(id.toLowerCase()),
      spanID: spanId.toLowerCase(),
    } as const;
    if (parent[0]?.traceID === reference.traceID && parent[0].spanID === reference.spanID) others[0] = reference;
    else others.push(reference);
  }
  return others;
}

/** Events by time, each with its name as the field `event`, unless it has an attribute of that name. */
function logsOf(events: string): JaegerSpan['logs'] {
  const list = ((events === '' ? [] : JSON.parse(events)) as readonly OtlpEvent[]).map((event) => ({
    ...event,
    at: BigInt(event.timeUnixNano ?? 0),
  }));
  return list
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .map(({ at, name = '', attributes = [] }) => {
      const isNamed = name !== '' && !attributes.some(({ key }) => key === 'event');
      return { timestamp: micros(at), fields: [...(isNamed ? [textTag('event', name)] : []), ...tagsOfList(attributes)] };
    });
}
