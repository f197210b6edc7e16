/**
 * OTLP as Jaeger UI takes it: its schemas (jaegertracing/jaeger-ui, packages/jaeger-ui/src/api/v3/schemas.ts) want exactly one member of each value,
 * numbers where doubles are, and whole ids of links. A trace with one span that is not so would not be shown.
 */
import { anyValueOf, type AnyValue, type KeyValue } from '../any-value.ts';
import { resourceAttributes, type Attributes, type StoredSpan } from '../stored-span.ts';

const [STRING, OTLP_JSON] = ['s', 'o'];
/** JSON that may have a value of no member, or a double that is no number. */
const UNSURE = /\{\}|"doubleValue":"|"value":null/;

type Item = { readonly attributes?: readonly KeyValue[] };
type Link = Item & { readonly traceId?: string; readonly spanId?: string };

/** The span with values that Jaeger UI takes: no value is an empty string, NaN and infinities are strings; without links that name no span. */
export function validSpan(span: StoredSpan): StoredSpan {
  const { attributes, events, links, context } = span;
  return {
    ...span,
    attributes: validAttributes(attributes),
    ...validResource(span),
    events: UNSURE.test(events) ? JSON.stringify((JSON.parse(events) as Item[]).map(validItem)) : events,
    links: links === '' ? '' : validLinks(links),
    context: UNSURE.test(context) ? validContext(context) : context,
  };
}

function validLinks(links: string): string {
  const kept = (JSON.parse(links) as Link[]).filter(({ traceId = '', spanId = '' }) => traceId !== '' && spanId !== '');
  return kept.length === 0 ? '' : JSON.stringify(kept.map(validItem));
}

/** A string is as it is, nearly all others are. */
function validAttributes({ pairs, types }: Attributes): Attributes {
  if (!/[ndvo]/.test(types)) return { pairs, types };
  const valid = pairs.map(([key, value], index) => [key, ...validStored(value, types[index] ?? STRING)] as const);
  return { pairs: valid.map(([key, value]) => [key, value]), types: valid.map(([, , type]) => type).join('') };
}

function validStored(value: string, type: string): readonly [value: string, type: string] {
  if (type === 'n') return ['', STRING];
  if (type === 'd') return Number.isFinite(Number(value)) ? [value, type] : [value, STRING];
  if (type !== 'o' && !(type === 'v' && value.includes('null'))) return [value, type];
  return [JSON.stringify(validValue(anyValueOf(value, type))), OTLP_JSON];
}

function validResource(span: StoredSpan): Pick<StoredSpan, 'resource' | 'resourceTypes'> {
  const { resource, resourceTypes } = span;
  if (!/[ndvo]/.test(resourceTypes)) return { resource, resourceTypes };
  const { pairs, types } = validAttributes(resourceAttributes(span));
  const members = pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return { resource: `{${members.join(',')}}`, resourceTypes: types };
}

function validContext(context: string): string {
  const { scopeAttributes, ...rest } = JSON.parse(context) as { readonly scopeAttributes?: readonly KeyValue[] };
  return JSON.stringify(scopeAttributes === undefined ? rest : { ...rest, scopeAttributes: scopeAttributes.map(validPair) });
}

const validItem = <One extends Item>(item: One): One =>
  item.attributes === undefined ? item : { ...item, attributes: item.attributes.map(validPair) };

const validPair = ({ key, value = {} }: KeyValue): KeyValue => ({ key, value: validValue(value) });

function validValue(value: AnyValue): AnyValue {
  if (value.arrayValue !== undefined) return { arrayValue: { values: (value.arrayValue.values ?? []).map(validValue) } };
  if (value.kvlistValue !== undefined) return { kvlistValue: { values: (value.kvlistValue.values ?? []).map(validPair) } };
  if (typeof value.doubleValue === 'string') return { stringValue: value.doubleValue };
  return Object.keys(value).length === 0 ? { stringValue: '' } : value;
}
