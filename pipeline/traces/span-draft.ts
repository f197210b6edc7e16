import type { SplitTime } from '../rows/halves.ts';
import { AttributeList } from './attribute-list.ts';
import { SPAN_ID_BYTES, TRACE_ID_BYTES } from './span.ts';
import { Place } from './span-group.ts';
import { ValueText } from './value-text.ts';

/** Most events and links of a span that are kept; further ones are counted as dropped. */
export const MAX_EVENTS = 1024;
export const MAX_LINKS = 128;
const ALL_BITS = 0xffff_ffff;

/** Events or links of a span, as a JSON array of OTLP; empty for none. */
export class SpanItems extends ValueText {
  count = 0;
  readonly #most: number;

  constructor(most: number) {
    super(1024);
    this.#most = most;
  }

  clearItems(): void {
    this.begin(true);
    this.count = 0;
  }

  /** Counts one more; false where it is not kept. */
  open(): boolean {
    this.count += 1;
    if (this.count > this.#most) return false;
    this.ascii(this.count === 1 ? '[' : ',');
    return true;
  }

  close(): void {
    if (this.count > 0) this.ascii(']');
  }

  /** How many were dropped, with those that the client has dropped. */
  dropped(before: number): number {
    return Math.min(ALL_BITS, before + Math.max(0, this.count - this.#most));
  }
}

/** The span that is being read. One for a process. */
export class SpanDraft {
  readonly start: SplitTime = { seconds: 0, nanos: 0 };
  readonly end: SplitTime = { seconds: 0, nanos: 0 };
  readonly traceId = Buffer.alloc(TRACE_ID_BYTES);
  readonly spanId = Buffer.alloc(SPAN_ID_BYTES);
  /** Zeros for none. */
  readonly parentSpanId = Buffer.alloc(SPAN_ID_BYTES);
  readonly name = new Place();
  readonly statusMessage = new Place();
  readonly traceState = new Place();
  kind = 0;
  status = 0;
  flags = 0;
  readonly attributes = new AttributeList();
  readonly events = new SpanItems(MAX_EVENTS);
  readonly links = new SpanItems(MAX_LINKS);
  droppedAttributes = 0;
  droppedEvents = 0;
  droppedLinks = 0;
  /** Why it cannot be taken, the first reason; empty where it can. */
  problem = '';
  /** Of an AnyValue that is more than a string or a number. */
  readonly text = new ValueText(1024);

  begin(): void {
    this.start.seconds = this.start.nanos = this.end.seconds = this.end.nanos = 0;
    zero(this.traceId);
    zero(this.spanId);
    zero(this.parentSpanId);
    this.name.clear();
    this.statusMessage.clear();
    this.traceState.clear();
    this.kind = this.status = this.flags = 0;
    this.attributes.clear();
    this.events.clearItems();
    this.links.clearItems();
    this.droppedAttributes = this.droppedEvents = this.droppedLinks = 0;
    this.problem = '';
  }

  refuse(reason: string): void {
    if (this.problem === '') this.problem = reason;
  }

  /** Bytes of its strings. */
  get size(): number {
    const { attributes, events, links, name, statusMessage, traceState } = this;
    const texts = name.end - name.start + statusMessage.end - statusMessage.start + traceState.end - traceState.start;
    return attributes.values.length + 2 * attributes.count + events.length + links.length + texts;
  }
}

/** `Buffer.fill` is slower for so few bytes. */
function zero(id: Buffer): void {
  for (let at = 0; at < id.length; at++) id[at] = 0;
}
