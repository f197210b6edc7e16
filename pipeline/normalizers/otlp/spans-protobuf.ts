import { MAX_ATTRIBUTES } from '../../traces/attribute-list.ts';
import { idOfBytes } from '../../traces/ids.ts';
import type { SpanDraft, SpanItems } from '../../traces/span-draft.ts';
import { Place } from '../../traces/span-group.ts';
import type { SpansWriter } from '../../traces/spans-writer.ts';
import type { ValueText } from '../../traces/value-text.ts';
import { ProtobufReader } from '../../wire/protobuf.ts';
import type { IngestRequest } from '../normalizer.ts';
import { eachField } from './protobuf-value.ts';
import {
  EVENT_TAGS,
  LINK_TAGS,
  RESOURCE_SPANS_TAGS,
  SCOPE_SPANS_TAGS,
  SPANS_RESOURCE_TAGS,
  SPANS_SCOPE_TAGS,
  SPAN_TAGS,
  STATUS_TAGS,
  TRACES_REQUEST_TAGS,
} from './schema.ts';
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
import { addPair, putPair } from './span-values-protobuf.ts';

/** Reads an ExportTraceServiceRequest in protobuf. Fields may come in any order. */
export function readSpansProtobuf(request: IngestRequest, out: SpansWriter): void {
  new Decoder(request, out).request();
}

/** Where a message lies; empty where it is missing. */
type Found = { start: number; end: number };

class Decoder {
  readonly #wire: ProtobufReader;
  readonly #out: SpansWriter;
  readonly #found: Found = { start: 0, end: 0 };
  readonly #item = new ItemParts(new Place());

  constructor(request: IngestRequest, out: SpansWriter) {
    this.#wire = new ProtobufReader(request.body);
    this.#out = out;
  }

  request(): void {
    eachField(this.#wire, TRACES_REQUEST_TAGS.resourceSpans, () => {
      this.#resourceSpans();
    });
  }

  #resourceSpans(): void {
    const wire = this.#wire;
    const { group } = this.#out;
    const { at, end } = wire;
    if (!this.#holds(RESOURCE_SPANS_TAGS.scopeSpans)) return;
    group.beginResource();
    this.#findShared(RESOURCE_SPANS_TAGS.resource, RESOURCE_SPANS_TAGS.schemaUrl, group.resourceSchemaUrl);
    wire.seek(this.#found.start, this.#found.end);
    this.#resource();
    group.endResource();
    wire.seek(at, end);
    eachField(wire, RESOURCE_SPANS_TAGS.scopeSpans, () => {
      this.#scopeSpans();
    });
  }

  #scopeSpans(): void {
    const wire = this.#wire;
    const { group } = this.#out;
    const { at, end } = wire;
    if (at === end) return;
    group.beginScope();
    this.#findShared(SCOPE_SPANS_TAGS.scope, SCOPE_SPANS_TAGS.schemaUrl, group.scopeSchemaUrl);
    wire.seek(this.#found.start, this.#found.end);
    this.#scope();
    group.endScope();
    wire.seek(at, end);
    eachField(wire, SCOPE_SPANS_TAGS.spans, () => {
      this.#span();
    });
  }

  /** Whether the message that was entered has a field of this tag that is not empty: what has no spans needs no resource. */
  #holds(wanted: number): boolean {
    const wire = this.#wire;
    const { at, end } = wire;
    let isFound = false;
    while (!isFound && wire.at < end) {
      const tag = wire.tag();
      if (tag !== wanted) wire.skip(tag);
      else {
        const outer = wire.enter();
        isFound = wire.at < wire.end;
        wire.leave(outer);
      }
    }
    wire.seek(isFound ? at : end, end);
    return isFound;
  }

  /** Finds the last field of the tag `wanted`, and the schema's URL. */
  #findShared(wanted: number, urlTag: number, url: Place): void {
    const wire = this.#wire;
    this.#found.start = this.#found.end = wire.at;
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === urlTag) this.#find(url);
      else if (tag === wanted) {
        const outer = wire.enter();
        this.#found.start = wire.at;
        this.#found.end = wire.end;
        wire.leave(outer);
      } else wire.skip(tag);
    }
  }

  #resource(): void {
    const wire = this.#wire;
    const { group } = this.#out;
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === SPANS_RESOURCE_TAGS.attributes) {
        const outer = wire.enter();
        if (group.attributes.isFull) group.resourceProblem ||= OF_RESOURCE;
        else if (!addPair(wire, group.attributes, group.scopeAttributes)) group.resourceProblem ||= TOO_DEEP;
        wire.leave(outer);
      } else if (tag === SPANS_RESOURCE_TAGS.droppedAttributesCount) group.resourceDropped = wire.varint32();
      else wire.skip(tag);
    }
  }

  #scope(): void {
    const wire = this.#wire;
    const { group } = this.#out;
    const { at, end } = wire;
    let count = 0;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === SPANS_SCOPE_TAGS.name) this.#find(group.scopeName);
      else if (tag === SPANS_SCOPE_TAGS.version) this.#find(group.version);
      else if (tag === SPANS_SCOPE_TAGS.droppedAttributesCount) group.scopeDropped = wire.varint32();
      else {
        if (tag === SPANS_SCOPE_TAGS.attributes) count += 1;
        wire.skip(tag);
      }
    }
    if (count > MAX_ATTRIBUTES) group.scopeProblem = OF_SCOPE;
    else if (count > 0) this.#putAttributes(at, end, SPANS_SCOPE_TAGS.attributes, group.scopeAttributes);
    if (group.scopeAttributes.isTooDeep) group.scopeProblem = TOO_DEEP;
  }

  /** The Span that was entered. */
  #span(): void {
    const wire = this.#wire;
    const { at, end } = wire;
    const draft = this.#out.begin();
    while (wire.at < end) this.#spanField(draft, wire.tag());
    this.#out.end(wire.bytes, at, end);
    wire.seek(end, end);
  }

  #spanField(draft: SpanDraft, tag: number): void {
    const wire = this.#wire;
    switch (tag) {
      case SPAN_TAGS.attributes: {
        const outer = wire.enter();
        if (draft.attributes.isFull) draft.refuse(TOO_MANY);
        else if (!addPair(wire, draft.attributes, draft.text)) draft.refuse(TOO_DEEP);
        wire.leave(outer);
        break;
      }
      case SPAN_TAGS.traceId:
        if (!this.#id(draft.traceId)) draft.refuse(WRONG_TRACE_ID);
        break;
      case SPAN_TAGS.spanId:
        if (!this.#id(draft.spanId)) draft.refuse(WRONG_SPAN_ID);
        break;
      case SPAN_TAGS.parentSpanId:
        if (!this.#id(draft.parentSpanId)) draft.refuse(WRONG_PARENT_ID);
        break;
      case SPAN_TAGS.name:
        this.#find(draft.name);
        break;
      case SPAN_TAGS.kind:
        draft.kind = kindOf(wire.varint32());
        break;
      case SPAN_TAGS.startTimeUnixNano:
        wire.nanoseconds(draft.start);
        break;
      case SPAN_TAGS.endTimeUnixNano:
        wire.nanoseconds(draft.end);
        break;
      case SPAN_TAGS.status:
        this.#status(draft);
        break;
      default:
        this.#rareField(draft, tag);
    }
  }

  #rareField(draft: SpanDraft, tag: number): void {
    const wire = this.#wire;
    switch (tag) {
      case SPAN_TAGS.flags:
        draft.flags = wire.fixed32();
        break;
      case SPAN_TAGS.traceState:
        this.#find(draft.traceState);
        break;
      case SPAN_TAGS.events:
        this.#event(draft);
        break;
      case SPAN_TAGS.links:
        this.#link(draft);
        break;
      case SPAN_TAGS.droppedAttributesCount:
        draft.droppedAttributes = wire.varint32();
        break;
      case SPAN_TAGS.droppedEventsCount:
        draft.droppedEvents = wire.varint32();
        break;
      case SPAN_TAGS.droppedLinksCount:
        draft.droppedLinks = wire.varint32();
        break;
      default:
        wire.skip(tag);
    }
  }

  /** An id, or none where it is empty. False where it is wrong. */
  #id(target: Buffer): boolean {
    const wire = this.#wire;
    const outer = wire.enter();
    const isGood = wire.at === wire.end || idOfBytes(target, wire.bytes, wire.at, wire.end);
    wire.leave(outer);
    return isGood;
  }

  /** An id of a link; one that is wrong is none. */
  #idOrNone(target: Buffer): void {
    if (!this.#id(target)) target.fill(0);
  }

  #status(draft: SpanDraft): void {
    const wire = this.#wire;
    const outer = wire.enter();
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === STATUS_TAGS.message) this.#find(draft.statusMessage);
      else if (tag === STATUS_TAGS.code) draft.status = statusOf(wire.varint32());
      else wire.skip(tag);
    }
    wire.leave(outer);
  }

  #event(draft: SpanDraft): void {
    const wire = this.#wire;
    const item = this.#item;
    if (!draft.events.open()) {
      wire.skip(SPAN_TAGS.events);
      return;
    }
    const outer = wire.enter();
    const { at, end } = wire;
    let count = 0;
    item.clear();
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === EVENT_TAGS.timeUnixNano) wire.nanoseconds(item.time);
      else if (tag === EVENT_TAGS.name) this.#find(item.name);
      else if (tag === EVENT_TAGS.droppedAttributesCount) item.dropped = wire.varint32();
      else {
        if (tag === EVENT_TAGS.attributes) count += 1;
        wire.skip(tag);
      }
    }
    putEvent(draft.events, item, this.#attributesOf(draft, draft.events, count, at, end, EVENT_TAGS.attributes));
    this.#endItem(draft, draft.events, end, outer);
  }

  #link(draft: SpanDraft): void {
    const wire = this.#wire;
    const item = this.#item;
    if (!draft.links.open()) {
      wire.skip(SPAN_TAGS.links);
      return;
    }
    const outer = wire.enter();
    const { at, end } = wire;
    let count = 0;
    item.clear();
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === LINK_TAGS.traceId) this.#idOrNone(item.traceId);
      else if (tag === LINK_TAGS.spanId) this.#idOrNone(item.spanId);
      else if (tag === LINK_TAGS.traceState) this.#find(item.name);
      else if (tag === LINK_TAGS.droppedAttributesCount) item.dropped = wire.varint32();
      else if (tag === LINK_TAGS.flags) item.flags = wire.fixed32();
      else {
        if (tag === LINK_TAGS.attributes) count += 1;
        wire.skip(tag);
      }
    }
    putLink(draft.links, item, this.#attributesOf(draft, draft.links, count, at, end, LINK_TAGS.attributes));
    this.#endItem(draft, draft.links, end, outer);
  }

  /** What writes the attributes of an event or a link that lies at `at`; null where there are none to write. */
  #attributesOf(draft: SpanDraft, to: SpanItems, count: number, at: number, end: number, tag: number): (() => void) | null {
    if (count > MAX_ATTRIBUTES) draft.refuse(OF_EVENT);
    if (count === 0 || count > MAX_ATTRIBUTES) return null;
    return () => {
      this.#putAttributes(at, end, tag, to);
    };
  }

  #endItem(draft: SpanDraft, to: SpanItems, end: number, outer: number): void {
    if (to.isTooDeep) draft.refuse(TOO_DEEP);
    this.#wire.seek(end, end);
    this.#wire.leave(outer);
  }

  /** Writes the fields of this tag in the message at `at`, which are KeyValues, as an array. */
  #putAttributes(at: number, end: number, tag: number, to: ValueText): void {
    const wire = this.#wire;
    let isFirst = true;
    wire.seek(at, end);
    to.ascii('[');
    eachField(wire, tag, () => {
      if (!to.isTooDeep) putPair(wire, to, isFirst, 1);
      isFirst = false;
    });
    to.ascii(']');
  }

  #find(place: Place): void {
    const wire = this.#wire;
    const outer = wire.enter();
    place.set(wire.bytes, wire.at, wire.end);
    wire.leave(outer);
  }
}
