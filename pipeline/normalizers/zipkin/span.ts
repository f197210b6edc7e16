import type { SplitTime } from '../../rows/halves.ts';
import { MAX_ATTRIBUTES, type AttributeList } from '../../traces/attribute-list.ts';
import { idOfBytes } from '../../traces/ids.ts';
import { TYPES } from '../../traces/span.ts';
import type { SpanDraft } from '../../traces/span-draft.ts';
import type { Place } from '../../traces/span-group.ts';
import type { SpansWriter } from '../../traces/spans-writer.ts';
import { ItemParts, putEvent, TOO_MANY } from '../otlp/span-parts.ts';
import { Place as EventName } from '../../traces/span-group.ts';

/** Members of an object that came as JSON. */
type Members = Readonly<Record<string, unknown>>;

const KINDS: readonly (readonly [string, number])[] = [
  ['SERVER', 2],
  ['CLIENT', 3],
  ['PRODUCER', 4],
  ['CONSUMER', 5],
];
const INTERNAL = 1;
/** Microseconds from where on a number is none of these times. */
const MOST_MICROS = 2 ** 53;
/** Tags that say what is a member of a span of OTLP (https://opentelemetry.io/docs/specs/otel/trace/sdk_exporters/zipkin/). */
const STATUS_CODE = 'otel.status_code';
const STATUS_MESSAGES = ['otel.status_description', 'error'];
const SCOPE_NAMES = ['otel.scope.name', 'otel.library.name'];
const SCOPE_VERSIONS = ['otel.scope.version', 'otel.library.version'];
const TRACE_STATE = 'w3c.tracestate';

const item = new ItemParts(new EventName());

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);
/** A member of its own: what is called `constructor` is none else. */
const member = (object: Members, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined);
const textOf = (object: Members, name: string): string => {
  const value = member(object, name);
  return typeof value === 'string' ? value : '';
};

/** Takes a span of Zipkin, which lies at `source[from..to)`; https://github.com/openzipkin/zipkin-api/blob/master/zipkin2-api.yaml */
export function takeZipkinSpan(span: unknown, out: SpansWriter, source: Buffer, from: number, to: number): void {
  const members = span as Members;
  const tags = member(members, 'tags');
  const pairs = isObject(tags) ? Object.entries(tags) : [];
  const draft = out.begin();
  if (!putId(draft.traceId, textOf(members, 'traceId'))) draft.refuse('the trace id is not 1 to 32 hexadecimal digits');
  if (!putId(draft.spanId, textOf(members, 'id'))) draft.refuse('the span id is not 1 to 16 hexadecimal digits');
  const parent = textOf(members, 'parentId');
  if (parent !== '' && !putId(draft.parentSpanId, parent)) draft.refuse('the id of the parent is not 1 to 16 hexadecimal digits');
  if (draft.problem === '') {
    putGroup(members, isObject(tags) ? tags : {}, out);
    putParts(draft, members, pairs);
  }
  out.end(source, from, to);
}

function putParts(draft: SpanDraft, members: Members, pairs: readonly (readonly [string, unknown])[]): void {
  setPlace(draft.name, textOf(members, 'name'));
  draft.kind = KINDS.find(([kind]) => kind === textOf(members, 'kind'))?.[1] ?? INTERNAL;
  putTimes(draft, members);
  putTags(draft, pairs);
  putEndpoint(draft.attributes, member(members, 'remoteEndpoint'), 'network.peer', 'peer.service');
  putEndpoint(draft.attributes, member(members, 'localEndpoint'), 'network.local', null);
  for (const flag of ['shared', 'debug']) if (member(members, flag) === true) add(draft, `zipkin.${flag}`, 'true', TYPES.boolean);
}

/** Zipkin has no resource and no scope but for what tags say of them. */
function putGroup(members: Members, tags: Members, { group }: SpansWriter): void {
  const endpoint = member(members, 'localEndpoint');
  const service = isObject(endpoint) ? textOf(endpoint, 'serviceName') : '';
  group.beginResource();
  if (service !== '') group.attributes.addText('service.name', service);
  group.endResource();
  group.beginScope();
  setPlace(group.scopeName, firstOf(tags, SCOPE_NAMES));
  setPlace(group.version, firstOf(tags, SCOPE_VERSIONS));
  group.endScope();
}

const firstOf = (tags: Members, names: readonly string[]): string =>
  names.map((name) => textOf(tags, name)).find((text) => text !== '') ?? '';

function setPlace(place: Place, text: string): void {
  const bytes = Buffer.from(text);
  place.set(bytes, 0, bytes.length);
}

/** Ids of 64 bits have 16 digits; leading zeros may be missing. */
function putId(target: Buffer, digits: string): boolean {
  const most = 2 * target.length;
  if (digits === '' || digits.length > most) return false;
  const padded = Buffer.from(digits.padStart(most, '0'));
  return idOfBytes(target, padded, 0, padded.length);
}

/** Times are microseconds. Without one the span begins with its first annotation. */
function putTimes(draft: SpanDraft, members: Members): void {
  const annotations = annotationsOf(members);
  const times = annotations.map(({ timestamp }) => timestamp).filter((time) => isMicros(time));
  const own = member(members, 'timestamp');
  const start = isMicros(own) && own > 0 ? own : times.reduce((least, time) => Math.min(least, time), Infinity);
  if (start === Infinity) return;
  const duration = member(members, 'duration');
  split(start, draft.start);
  split(start + (isMicros(duration) ? duration : 0), draft.end);
  for (const { timestamp, value } of annotations) {
    if (!draft.events.open()) continue;
    item.clear();
    split(isMicros(timestamp) ? timestamp : start, item.time);
    setPlace(item.name, value);
    putEvent(draft.events, item, null);
  }
}

const isMicros = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < MOST_MICROS;

function annotationsOf(members: Members): { readonly timestamp: unknown; readonly value: string }[] {
  const all = member(members, 'annotations');
  if (!Array.isArray(all)) return [];
  return all.filter((one) => isObject(one)).map((one) => ({ timestamp: member(one, 'timestamp'), value: textOf(one, 'value') }));
}

function split(micros: number, into: SplitTime): void {
  into.seconds = Math.floor(micros / 1e6);
  into.nanos = Math.round((micros - into.seconds * 1e6) * 1000);
}

/** Tags are strings; another value is its JSON. */
function putTags(draft: SpanDraft, pairs: readonly (readonly [string, unknown])[]): void {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  for (const [name, value] of pairs) {
    if (name === TRACE_STATE) setPlace(draft.traceState, text(value));
    else if (name === STATUS_CODE && /^(?:OK|ERROR|UNSET)$/i.test(text(value)))
      draft.status = ['UNSET', 'OK', 'ERROR'].indexOf(text(value).toUpperCase()); // prettier-ignore
    else if (SCOPE_NAMES.includes(name) || SCOPE_VERSIONS.includes(name)) continue;
    else add(draft, name, text(value), TYPES.string);
  }
  // a span that failed has the tag `error`, with a message or without one
  const tags = Object.fromEntries(pairs);
  if (draft.status === 0 && Object.hasOwn(tags, 'error') && text(tags['error']) !== 'false') draft.status = 2;
  const message = draft.status === 2 ? firstOf(tags, STATUS_MESSAGES) : '';
  if (message !== 'true') setPlace(draft.statusMessage, message);
}

/** Addresses of an endpoint: `<prefix>.address` and `<prefix>.port`, and its service where that has a name. */
function putEndpoint(to: AttributeList, endpoint: unknown, prefix: string, service: string | null): void {
  if (!isObject(endpoint) || to.count + 3 > MAX_ATTRIBUTES) return;
  const address = textOf(endpoint, 'ipv4') || textOf(endpoint, 'ipv6');
  const port = member(endpoint, 'port');
  if (address !== '') to.addText(`${prefix}.address`, address);
  if (Number.isInteger(port)) to.addText(`${prefix}.port`, String(port), TYPES.int);
  if (service !== null && textOf(endpoint, 'serviceName') !== '') to.addText(service, textOf(endpoint, 'serviceName'));
}

function add(draft: SpanDraft, name: string, value: string, type: string): void {
  if (draft.attributes.isFull) draft.refuse(TOO_MANY);
  else draft.attributes.addText(name, value, type);
}
