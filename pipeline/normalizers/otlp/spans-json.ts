import { invalidBody } from '../../core/errors.ts';
import { validUtf8 } from '../../logs/writer.ts';
import type { SplitTime } from '../../rows/halves.ts';
import { idOfText } from '../../traces/ids.ts';
import { KINDS, STATUSES } from '../../traces/span.ts';
import type { SpanDraft, SpanItems } from '../../traces/span-draft.ts';
import { Place } from '../../traces/span-group.ts';
import type { SpansWriter } from '../../traces/spans-writer.ts';
import type { ValueText } from '../../traces/value-text.ts';
import { MAX_ATTRIBUTES } from '../../traces/attribute-list.ts';
import { CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { last, PLAIN, skipSpace, skipString, skipValue } from '../../wire/json-tokens.ts';
import { nextElement, nextMember, openArray, openObject, stringAt } from '../../wire/json-walk.ts';
import { jsonErrorReason, NO_OBJECT } from '../shared/json-error.ts';
import type { MemberNames } from '../shared/json-members.ts';
import type { IngestRequest } from '../normalizer.ts';
import { otlpNames, readUnixNano } from './json-value.ts';
import { EVENT, LINK, RESOURCE_SPANS, SCOPE_SPANS, SPAN, SPANS_RESOURCE, SPANS_SCOPE, STATUS, TRACES_REQUEST } from './schema.ts';
import {
  ItemParts,
  kindOf,
  OF_EVENT,
  OF_RESOURCE,
  OF_SCOPE,
  putEvent,
  putLink,
  statusOf,
  TOO_DEEP,
  TOO_MANY,
  WRONG_PARENT_ID,
  WRONG_SPAN_ID,
  WRONG_TRACE_ID,
} from './span-parts.ts';
import { addPair, isTooDeep, putPair } from './span-values-json.ts';

const NULL = 0x6e;
const MAX_UINT32 = 0xffff_ffff;

const REQUEST_NAMES = otlpNames(TRACES_REQUEST);
const RESOURCE_SPANS_NAMES = otlpNames(RESOURCE_SPANS);
const RESOURCE_NAMES = otlpNames(SPANS_RESOURCE);
const SCOPE_SPANS_NAMES = otlpNames(SCOPE_SPANS);
const SCOPE_NAMES = otlpNames(SPANS_SCOPE);
const SPAN_NAMES = otlpNames(SPAN);
const EVENT_NAMES = otlpNames(EVENT);
const LINK_NAMES = otlpNames(LINK);
const STATUS_NAMES = otlpNames(STATUS);

/** Reads an ExportTraceServiceRequest in OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export function readSpansJson(request: IngestRequest, out: SpansWriter): void {
  new Decoder(request, out).request();
}

/** Takes the member of this number whose value begins at `at`; returns the offset after it, or -1. */
type Visit = (field: number, at: number) => number;

class Decoder {
  readonly #body: Buffer;
  readonly #end: number;
  readonly #out: SpansWriter;
  readonly #item = new ItemParts(new Place());

  constructor(request: IngestRequest, out: SpansWriter) {
    this.#body = validUtf8(request.body);
    this.#end = this.#body.length;
    this.#out = out;
  }

  request(): void {
    const body = this.#body;
    const end = this.#end;
    const start = skipSpace(body, 0, end);
    if (start === end) throw invalidBody('The body is empty; send {"resourceSpans":[…]}.');
    const after = this.#members(REQUEST_NAMES, start, (field, at) =>
      field === TRACES_REQUEST.resourceSpans ? this.#objects('resourceSpans', at, (one) => this.#resourceSpans(one)) : this.#skip(at),
    );
    if (after < 0) throw invalidBody(`The body is ${jsonErrorReason(body, 0, end)}.`);
    const rest = skipSpace(body, after, end);
    if (rest < end) throw invalidBody(`After the request, at byte ${String(rest)}: expected the end of the body.`);
  }

  /** Visits the members of the object at `at`; returns the offset after it, or -1. */
  #members(names: MemberNames, at: number, visit: Visit): number {
    const body = this.#body;
    let i = openObject(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = names.find(body, i, this.#end);
      if (i < 0) return -1;
      i = nextMember(body, visit(names.field, i), this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  #skip(at: number): number {
    return skipValue(this.#body, at, this.#end);
  }

  /** An array of objects, or null, which is an empty one. */
  #objects(name: string, at: number, read: (at: number) => number): number {
    const body = this.#body;
    if (body[at] === NULL) return this.#skip(at);
    if (body[at] !== OPEN_ARRAY) throw invalidBody(`${name} is not an array.`);
    let i = openArray(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_ARRAY) {
      if (body[i] !== OPEN_OBJECT) throw invalidBody(`An element of ${name} is not an object.`);
      i = nextElement(body, read(i), this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  /** What the spans share may stand behind them: so it is looked for first, and then they are read. */
  #resourceSpans(at: number): number {
    const { group } = this.#out;
    let scopes = -1;
    group.beginResource();
    const after = this.#members(RESOURCE_SPANS_NAMES, at, (field, value) => {
      if (field === RESOURCE_SPANS.schemaUrl) return this.#place(value, group.resourceSchemaUrl);
      if (field === RESOURCE_SPANS.scopeSpans) scopes = value;
      return field === RESOURCE_SPANS.resource && this.#body[value] === OPEN_OBJECT ? this.#resource(value) : this.#skip(value);
    });
    group.endResource();
    if (after >= 0 && scopes >= 0) this.#objects('scopeSpans', scopes, (one) => this.#scopeSpans(one));
    return after;
  }

  #resource(at: number): number {
    const { group } = this.#out;
    return this.#members(RESOURCE_NAMES, at, (field, value) => {
      if (field === SPANS_RESOURCE.droppedAttributesCount) return this.#uint(value, (count) => (group.resourceDropped = count));
      if (field !== SPANS_RESOURCE.attributes) return this.#skip(value);
      return this.#pairs(value, (one, isObject) => {
        if (isObject && !group.attributes.isFull) {
          const after = addPair(this.#body, one, this.#end, group.attributes, group.scopeAttributes);
          if (isTooDeep()) group.resourceProblem ||= TOO_DEEP;
          return after;
        }
        group.resourceProblem ||= isObject ? OF_RESOURCE : NO_PAIR;
        return this.#skip(one);
      });
    });
  }

  #scopeSpans(at: number): number {
    const { group } = this.#out;
    let spans = -1;
    group.beginScope();
    const after = this.#members(SCOPE_SPANS_NAMES, at, (field, value) => {
      if (field === SCOPE_SPANS.schemaUrl) return this.#place(value, group.scopeSchemaUrl);
      if (field === SCOPE_SPANS.spans) spans = value;
      return field === SCOPE_SPANS.scope && this.#body[value] === OPEN_OBJECT ? this.#scope(value) : this.#skip(value);
    });
    group.endScope();
    if (after >= 0 && spans >= 0) this.#spans(spans);
    return after;
  }

  #scope(at: number): number {
    const { group } = this.#out;
    let attributes = -1;
    const after = this.#members(SCOPE_NAMES, at, (field, value) => {
      if (field === SPANS_SCOPE.name) return this.#place(value, group.scopeName);
      if (field === SPANS_SCOPE.version) return this.#place(value, group.version);
      if (field === SPANS_SCOPE.droppedAttributesCount) return this.#uint(value, (count) => (group.scopeDropped = count));
      if (field === SPANS_SCOPE.attributes) attributes = value;
      return this.#skip(value);
    });
    if (after >= 0 && this.#hasItems(attributes) && this.#putAttributes(attributes, group.scopeAttributes) > MAX_ATTRIBUTES)
      group.scopeProblem = OF_SCOPE;
    if (group.scopeAttributes.isTooDeep) group.scopeProblem = TOO_DEEP;
    return after;
  }

  /** The spans at `at`, which are JSON. */
  #spans(at: number): void {
    const body = this.#body;
    if (body[at] === NULL) return;
    if (body[at] !== OPEN_ARRAY) throw invalidBody('spans is not an array.');
    let i = openArray(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_ARRAY) {
      const after = body[i] === OPEN_OBJECT ? this.#span(i) : this.#skip(i);
      if (body[i] !== OPEN_OBJECT) this.#out.reject(NO_OBJECT, body, i, after);
      i = nextElement(body, after, this.#end);
    }
  }

  #span(at: number): number {
    const draft = this.#out.begin();
    const after = this.#members(SPAN_NAMES, at, (field, value) => this.#spanField(draft, field, value));
    if (after >= 0) this.#out.end(this.#body, at, after);
    return after;
  }

  #spanField(draft: SpanDraft, field: number, at: number): number {
    switch (field) {
      case SPAN.attributes:
        return this.#pairs(at, (one, isObject) => this.#attribute(draft, one, isObject));
      case SPAN.traceId:
        return this.#id(at, draft.traceId, (isGood) => {
          if (!isGood) draft.refuse(WRONG_TRACE_ID);
        });
      case SPAN.spanId:
        return this.#id(at, draft.spanId, (isGood) => {
          if (!isGood) draft.refuse(WRONG_SPAN_ID);
        });
      case SPAN.parentSpanId:
        return this.#id(at, draft.parentSpanId, (isGood) => {
          if (!isGood) draft.refuse(WRONG_PARENT_ID);
        });
      case SPAN.name:
        return this.#place(at, draft.name);
      case SPAN.kind:
        return this.#enum(at, 'SPAN_KIND_', KINDS, (kind) => (draft.kind = kindOf(kind)));
      case SPAN.startTimeUnixNano:
        return this.#time(draft, 'startTimeUnixNano', at, draft.start);
      case SPAN.endTimeUnixNano:
        return this.#time(draft, 'endTimeUnixNano', at, draft.end);
      case SPAN.status:
        return this.#status(draft, at);
      default:
        return this.#rareField(draft, field, at);
    }
  }

  #rareField(draft: SpanDraft, field: number, at: number): number {
    switch (field) {
      case SPAN.flags:
        return this.#uint(at, (flags) => (draft.flags = flags));
      case SPAN.traceState:
        return this.#place(at, draft.traceState);
      case SPAN.events:
        return this.#pairs(at, (one, isObject) => this.#itemOf(draft, draft.events, one, isObject));
      case SPAN.links:
        return this.#pairs(at, (one, isObject) => this.#itemOf(draft, draft.links, one, isObject));
      case SPAN.droppedAttributesCount:
        return this.#uint(at, (count) => (draft.droppedAttributes = count));
      case SPAN.droppedEventsCount:
        return this.#uint(at, (count) => (draft.droppedEvents = count));
      case SPAN.droppedLinksCount:
        return this.#uint(at, (count) => (draft.droppedLinks = count));
      default:
        return this.#skip(at);
    }
  }

  #attribute(draft: SpanDraft, at: number, isObject: boolean): number {
    if (isObject && !draft.attributes.isFull) {
      const after = addPair(this.#body, at, this.#end, draft.attributes, draft.text);
      if (isTooDeep()) draft.refuse(TOO_DEEP);
      return after;
    }
    draft.refuse(isObject ? TOO_MANY : NO_PAIR);
    return this.#skip(at);
  }

  /** An event or a link. */
  #itemOf(draft: SpanDraft, to: SpanItems, at: number, isObject: boolean): number {
    if (!isObject) {
      draft.refuse('an event or a link is not an object');
      return this.#skip(at);
    }
    if (!to.open()) return this.#skip(at);
    const isEvent = to === draft.events;
    const item = this.#item;
    item.clear();
    let attributes = -1;
    const after = this.#members(isEvent ? EVENT_NAMES : LINK_NAMES, at, (field, value) => {
      if (field === (isEvent ? EVENT : LINK).attributes) attributes = value;
      return isEvent ? this.#eventField(draft, field, value) : this.#linkField(field, value);
    });
    if (after < 0) return -1;
    const put = this.#hasItems(attributes)
      ? (): void => {
          if (this.#putAttributes(attributes, to) > MAX_ATTRIBUTES) draft.refuse(OF_EVENT);
        }
      : null;
    if (isEvent) putEvent(to, item, put);
    else putLink(to, item, put);
    if (to.isTooDeep) draft.refuse(TOO_DEEP);
    return after;
  }

  #eventField(draft: SpanDraft, field: number, at: number): number {
    const item = this.#item;
    if (field === EVENT.timeUnixNano) return this.#time(draft, 'timeUnixNano', at, item.time);
    if (field === EVENT.name) return this.#place(at, item.name);
    if (field === EVENT.droppedAttributesCount) return this.#uint(at, (count) => (item.dropped = count));
    return this.#skip(at);
  }

  #linkField(field: number, at: number): number {
    const item = this.#item;
    if (field === LINK.traceId) return this.#idOrNone(at, item.traceId);
    if (field === LINK.spanId) return this.#idOrNone(at, item.spanId);
    if (field === LINK.traceState) return this.#place(at, item.name);
    if (field === LINK.droppedAttributesCount) return this.#uint(at, (count) => (item.dropped = count));
    if (field === LINK.flags) return this.#uint(at, (flags) => (item.flags = flags));
    return this.#skip(at);
  }

  #status(draft: SpanDraft, at: number): number {
    if (this.#body[at] !== OPEN_OBJECT) return this.#skip(at);
    return this.#members(STATUS_NAMES, at, (field, value) => {
      if (field === STATUS.message) return this.#place(value, draft.statusMessage);
      if (field === STATUS.code) return this.#enum(value, 'STATUS_CODE_', STATUSES, (code) => (draft.status = statusOf(code)));
      return this.#skip(value);
    });
  }

  /** Visits the elements of the array at `at`; another value is an empty one. */
  #pairs(at: number, visit: (at: number, isObject: boolean) => number): number {
    const body = this.#body;
    if (body[at] !== OPEN_ARRAY) return this.#skip(at);
    let i = openArray(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_ARRAY) i = nextElement(body, visit(i, body[i] === OPEN_OBJECT), this.#end);
    return i < 0 ? -1 : i + 1;
  }

  /** Whether there is an array with elements at `at`, which is JSON. */
  #hasItems(at: number): boolean {
    return at >= 0 && this.#body[at] === OPEN_ARRAY && this.#body[openArray(this.#body, at, this.#end)] !== CLOSE_ARRAY;
  }

  /** Writes the KeyValues of the array at `at`, which is JSON, at most so many as are allowed; returns how many there are. */
  #putAttributes(at: number, to: ValueText): number {
    let count = 0;
    to.ascii('[');
    this.#pairs(at, (one) => {
      count += 1;
      return count > MAX_ATTRIBUTES || to.isTooDeep ? this.#skip(one) : putPair(this.#body, one, this.#end, to, count === 1, 1);
    });
    to.ascii(']');
    return count;
  }

  #time(draft: SpanDraft, name: string, at: number, into: SplitTime): number {
    const after = this.#skip(at);
    if (after < 0 || this.#body[at] === NULL) return after;
    if (!readUnixNano(this.#body, at, after, into)) draft.refuse(`_time is not a time: ${name} is not a number of nanoseconds`);
    return after;
  }

  /** An id in hexadecimal or base64; none where it is null or empty. `take` is told whether it is one. */
  #id(at: number, target: Buffer, take: (isGood: boolean) => void): number {
    const after = this.#skip(at);
    const isNone = this.#body[at] === NULL || (this.#body[at] === QUOTE && after === at + 2);
    if (after >= 0 && !isNone) take(this.#body[at] === QUOTE && idOfText(target, this.#body, at + 1, after - 1));
    return after;
  }

  /** An id of a link; one that is wrong is none. */
  #idOrNone(at: number, target: Buffer): number {
    return this.#id(at, target, (isGood) => {
      if (!isGood) target.fill(0);
    });
  }

  /** A string; a number as its digits. */
  #place(at: number, place: Place): number {
    const body = this.#body;
    if (body[at] !== QUOTE) {
      const after = this.#skip(at);
      if (body[at] !== NULL && after >= 0) place.set(body, at, after);
      return after;
    }
    const after = skipString(body, at, this.#end);
    if (after < 0) return -1;
    if (last.escapes === PLAIN) place.set(body, at + 1, after - 1);
    else {
      const text = Buffer.from(stringAt(body, at, after));
      place.set(text, 0, text.length);
    }
    return after;
  }

  /** A number of 32 bits, as a number or a string. */
  #uint(at: number, take: (value: number) => void): number {
    const after = this.#skip(at);
    const quotes = this.#body[at] === QUOTE ? 1 : 0;
    if (after < 0 || after - at > 12) return after;
    const value = Number(this.#body.toString('latin1', at + quotes, after - quotes));
    if (Number.isInteger(value) && value >= 0 && value <= MAX_UINT32) take(value);
    return after;
  }

  /** A number of an enumeration, or the name of it. */
  #enum(at: number, prefix: string, names: readonly string[], take: (value: number) => void): number {
    const after = this.#skip(at);
    const quotes = this.#body[at] === QUOTE ? 1 : 0;
    if (after < 0 || after - at > 40) return after;
    const text = this.#body.toString('latin1', at + quotes, after - quotes);
    take(/^\d+$/.test(text) ? Number(text) : names.indexOf(text.replace(prefix, '').toLowerCase()));
    return after;
  }
}

const NO_PAIR = 'an attribute is not an object';
