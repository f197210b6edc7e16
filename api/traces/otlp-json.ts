import { attributesJson } from './any-value.ts';
import { resourceAttributes, type StoredSpan } from './stored-span.ts';

/** What resources and scopes seldom have, as it is stored (docs/topics.md). */
type Context = {
  readonly resourceSchemaUrl?: string;
  readonly resourceDropped?: number;
  readonly scopeAttributes?: unknown;
  readonly scopeDropped?: number;
  readonly scopeSchemaUrl?: string;
};

/** Spans of one resource and scope are in one group: what tells groups apart. */
const groupOf = ({ resource, resourceTypes, context, scope, scopeVersion }: StoredSpan): string =>
  JSON.stringify([resource, resourceTypes, context, scope, scopeVersion]);

/** A member with what stands behind it, unless that is nothing. */
const member = (name: string, json: string | null): string => (json === null ? '' : `,"${name}":${json}`);
const text = (value: string | undefined): string | null => (value === undefined || value === '' ? null : JSON.stringify(value));
const count = (value: number | undefined): string | null => (value === undefined || value === 0 ? null : String(value));

/** A span as OTLP writes it in JSON: ids in hex, 64-bit integers as digits in strings; without the members that have their default. */
function spanJson(span: StoredSpan): string {
  const { traceId, spanId, parentId, time, duration, name, kind, status, statusMessage, attributes, events, links } = span;
  const about = `${member('message', text(statusMessage))}${member('code', count(status))}`.slice(1);
  return [
    `{"traceId":"${traceId}","spanId":"${spanId}"`,
    member('traceState', text(span.traceState)),
    member('parentSpanId', text(parentId)),
    member('flags', count(span.flags)),
    member('name', JSON.stringify(name)),
    member('kind', String(kind)),
    `,"startTimeUnixNano":"${String(time)}","endTimeUnixNano":"${String(time + duration)}"`,
    member('attributes', attributes.pairs.length === 0 ? null : attributesJson(attributes)),
    member('droppedAttributesCount', count(span.droppedAttributes)),
    member('events', events === '' ? null : events),
    member('droppedEventsCount', count(span.droppedEvents)),
    member('links', links === '' ? null : links),
    member('droppedLinksCount', count(span.droppedLinks)),
    `,"status":{${about}}}`,
  ].join('');
}

/** The ResourceSpans of spans that have one resource and scope. */
function groupJson(spans: readonly StoredSpan[], first: StoredSpan): string {
  const { scope, scopeVersion } = first;
  const context = (first.context === '' ? {} : JSON.parse(first.context)) as Context;
  const resource = [
    first.resource === '' ? '' : member('attributes', attributesJson(resourceAttributes(first))),
    member('droppedAttributesCount', count(context.resourceDropped)),
  ].join('');
  const about = [
    member('name', text(scope)),
    member('version', text(scopeVersion)),
    member('attributes', context.scopeAttributes === undefined ? null : JSON.stringify(context.scopeAttributes)),
    member('droppedAttributesCount', count(context.scopeDropped)),
  ].join('');
  const list = spans.map(spanJson).join(',');
  return `{"resource":{${resource.slice(1)}},"scopeSpans":[{"scope":{${about.slice(1)}},"spans":[${list}]${member('schemaUrl', text(context.scopeSchemaUrl))}}]${member('schemaUrl', text(context.resourceSchemaUrl))}}`;
}

/** Spans as items of OTLP's list `resourceSpans`, in the order in which their resources and scopes come first. */
export function resourceSpansJson(spans: readonly StoredSpan[]): string[] {
  const groups = new Map<string, StoredSpan[]>();
  for (const span of spans) {
    const group = groups.get(groupOf(span));
    if (group === undefined) groups.set(groupOf(span), [span]);
    else group.push(span);
  }
  return [...groups.values()].map((group) => groupJson(group, group[0] as StoredSpan));
}
