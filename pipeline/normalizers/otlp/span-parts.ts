import type { SplitTime } from '../../rows/halves.ts';
import { MAX_ATTRIBUTES } from '../../traces/attribute-list.ts';
import { isZero } from '../../traces/ids.ts';
import { KINDS, SPAN_ID_BYTES, STATUSES, TRACE_ID_BYTES } from '../../traces/span.ts';
import type { Place } from '../../traces/span-group.ts';
import { MAX_DEPTH, type ValueText } from '../../traces/value-text.ts';

/** Why a span is rejected, as both encodings say it. */
export const TOO_DEEP = `nested deeper than ${String(MAX_DEPTH)} levels`;
export const TOO_MANY = `more than ${String(MAX_ATTRIBUTES)} attributes`;
export const OF_EVENT = `more than ${String(MAX_ATTRIBUTES)} attributes of an event or a link`;
export const OF_RESOURCE = `more than ${String(MAX_ATTRIBUTES)} attributes of the resource`;
export const OF_SCOPE = `more than ${String(MAX_ATTRIBUTES)} attributes of the scope`;
export const WRONG_TRACE_ID = `the trace id is not ${String(TRACE_ID_BYTES)} bytes`;
export const WRONG_SPAN_ID = `the span id is not ${String(SPAN_ID_BYTES)} bytes`;
export const WRONG_PARENT_ID = `the id of the parent is not ${String(SPAN_ID_BYTES)} bytes`;

/** A kind and a status that are known; else 0. */
export const kindOf = (kind: number): number => (kind > 0 && kind < KINDS.length ? kind : 0);
export const statusOf = (code: number): number => (code > 0 && code < STATUSES.length ? code : 0);

/** An event or a link as a decoder finds it, but for its attributes. */
export class ItemParts {
  readonly time: SplitTime = { seconds: 0, nanos: 0 };
  readonly name: Place;
  /** Zeros where they are missing. */
  readonly traceId = Buffer.alloc(TRACE_ID_BYTES);
  readonly spanId = Buffer.alloc(SPAN_ID_BYTES);
  dropped = 0;
  flags = 0;

  constructor(name: Place) {
    this.name = name;
  }

  clear(): void {
    this.time.seconds = this.time.nanos = this.dropped = this.flags = 0;
    this.traceId.fill(0);
    this.spanId.fill(0);
    this.name.clear();
  }
}

/** Begins a member of an object. */
function member(to: ValueText, start: number, name: string): void {
  to.ascii(to.length === start ? `{"${name}":` : `,"${name}":`);
}

/** What an event has beside its attributes, which `putAttributes` writes as the member's value where there are some, as an object of OTLP's JSON. */
export function putEvent(to: ValueText, { time, name, dropped }: ItemParts, putAttributes: (() => void) | null): void {
  const start = to.length;
  member(to, start, 'timeUnixNano');
  to.ascii(`"${nanosText(time)}"`);
  member(to, start, 'name');
  to.string(name.source, name.start, name.end);
  endItem(to, start, dropped, putAttributes);
}

/** The same of a link. */
export function putLink(to: ValueText, parts: ItemParts, putAttributes: (() => void) | null): void {
  const { name: traceState, traceId, spanId, flags } = parts;
  const start = to.length;
  member(to, start, 'traceId');
  to.ascii(`"${hexOf(traceId)}"`);
  member(to, start, 'spanId');
  to.ascii(`"${hexOf(spanId)}"`);
  if (traceState.end > traceState.start) {
    member(to, start, 'traceState');
    to.string(traceState.source, traceState.start, traceState.end);
  }
  if (flags > 0) {
    member(to, start, 'flags');
    to.ascii(String(flags));
  }
  endItem(to, start, parts.dropped, putAttributes);
}

function endItem(to: ValueText, start: number, dropped: number, putAttributes: (() => void) | null): void {
  if (putAttributes !== null) {
    member(to, start, 'attributes');
    putAttributes();
  }
  if (dropped > 0) {
    member(to, start, 'droppedAttributesCount');
    to.ascii(String(dropped));
  }
  to.ascii('}');
}

const hexOf = (id: Buffer): string => (isZero(id) ? '' : id.toString('hex'));

const nanosText = ({ seconds, nanos }: SplitTime): string =>
  seconds === 0 ? String(nanos) : String(seconds) + String(nanos).padStart(9, '0');
