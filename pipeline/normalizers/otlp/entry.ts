import { STRING, type Draft } from '../../logs/draft.ts';
import { MESSAGE_NAMES } from '../../logs/message.ts';
import { FixedName, type Name } from '../../logs/names.ts';
import type { SplitTime } from '../../rows/halves.ts';
import { putValue, type Value } from '../../logs/values.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { GroupBudget } from '../shared/group-budget.ts';
import type { IngestRequest } from '../normalizer.ts';
import { labelsAreStream } from '../shared/stream-labels.ts';

const MESSAGE = new FixedName('_msg');
const LEVEL = new FixedName('level');
const SERVICE = new FixedName('service');
const SERVICE_NAME = new FixedName('service.name');
const TRACE_ID = new FixedName('trace_id');
const SPAN_ID = new FixedName('span_id');
const SEVERITY_TEXT = new FixedName('severity_text');
const SEVERITY_NUMBER = new FixedName('severity_number');
const EVENT_NAME = new FixedName('event.name');

/** The level's JSON token by severity number, 1 to 24 (logs data model, "Displaying Severity"). */
const LEVEL_TOKENS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].flatMap((level) => new Array<string>(4).fill(`"${level}"`));
/** Longest id in bytes; the protocol has 16 and 8. */
const MAX_ID_BYTES = 32;

/** Where something lies in the body; `start` is negative where it is absent. */
export type Span = { start: number; end: number };
const span = (): Span => ({ start: -1, end: -1 });

/** A log record as its decoder leaves it: attributes are in the draft already, the other parts are only found. */
export type RecordParts = {
  readonly time: SplitTime;
  readonly observed: SplitTime;
  severityNumber: number;
  readonly severityText: Span;
  readonly body: Span;
  readonly traceId: Span;
  readonly spanId: Span;
  readonly eventName: Span;
};

/** How the parts of a record are read, which depends on the encoding alone. */
export interface PartReader {
  /** Puts in a string. */
  putText(draft: Draft, name: Name, part: Span): void;
  /** Puts in an AnyValue; but gives one that is a list of pairs, and puts in nothing. */
  putBody(draft: Draft, name: Name, part: Span): ReadonlyMap<string, Value> | null;
  /** Writes the lower-case hexadecimal digits of an id and gives their number; -1 where it is not an id. */
  hexId(part: Span, digits: Buffer): number;
}

/** The one mapping of OTLP log records to entries, behind the decoders of both encodings. */
export class OtlpEntries {
  readonly parts: RecordParts = {
    time: { seconds: 0, nanos: 0 },
    observed: { seconds: 0, nanos: 0 },
    severityNumber: 0,
    severityText: span(),
    body: span(),
    traceId: span(),
    spanId: span(),
    eventName: span(),
  };
  readonly #out: EntryWriter;
  readonly #request: IngestRequest;
  readonly #reader: PartReader;
  readonly #budget: GroupBudget;
  readonly #digits = Buffer.alloc(MAX_ID_BYTES * 2);

  constructor(request: IngestRequest, out: EntryWriter, reader: PartReader) {
    this.#request = request;
    this.#out = out;
    this.#reader = reader;
    this.#budget = new GroupBudget(request.maxBytes);
  }

  /** Begins the records of one scope; put in the attributes of the resource. Null: no more records can be taken. */
  beginGroup(body: Buffer): Draft | null {
    return this.#budget.spent ? null : this.#out.begin(body);
  }

  /** The resource is in the draft: it is the stream. Put in the scope's fields, then call `holdGroup`. */
  endResource(draft: Draft): void {
    serviceOf(draft);
    labelsAreStream(draft, this.#out);
  }

  /** `resourceBytes`: how much was read of what other scopes read too. */
  holdGroup(draft: Draft, resourceBytes: number): void {
    this.#budget.hold(draft, resourceBytes);
  }

  /** Why the next record of the group cannot be taken (`refuseRecord`); empty where it can. */
  nextRecord(): string {
    return this.#budget.next();
  }

  /** Begins a record that lies at `body[from..to)`: put in its attributes, find its parts, then call `endRecord`. */
  beginRecord(from: number, to: number): Draft {
    const { parts } = this;
    parts.time.seconds = parts.time.nanos = parts.observed.seconds = parts.observed.nanos = parts.severityNumber = 0;
    parts.severityText.start = parts.body.start = parts.traceId.start = parts.spanId.start = parts.eventName.start = -1;
    return this.#out.again(from, to);
  }

  endRecord(draft: Draft): void {
    const { parts } = this;
    const { names } = draft;
    const reader = this.#reader;
    if (parts.body.start >= 0) {
      const pairs = reader.putBody(draft, MESSAGE.in(names), parts.body);
      if (pairs !== null) putBodyPairs(draft, pairs);
    }
    if (parts.severityText.start >= 0) reader.putText(draft, SEVERITY_TEXT.in(names), parts.severityText);
    if (parts.traceId.start >= 0) this.#putId(draft, TRACE_ID.in(names), parts.traceId);
    if (parts.spanId.start >= 0) this.#putId(draft, SPAN_ID.in(names), parts.spanId);
    if (parts.eventName.start >= 0) reader.putText(draft, EVENT_NAME.in(names), parts.eventName);
    this.#putSeverity(draft, parts.severityNumber);
    serviceOf(draft);
    const { seconds, nanos } = parts.time.seconds !== 0 || parts.time.nanos !== 0 ? parts.time : parts.observed;
    if (seconds !== 0 || nanos !== 0) this.#out.timeIs(seconds, nanos);
    else this.#out.timeIsNs(this.#request.receivedAt + BigInt(this.#out.total));
    this.#out.end(fallbackOf(draft));
  }

  /** A record at `body[from..to)` that is not taken. */
  refuseRecord(reason: string, body: Buffer, from: number, to: number): void {
    this.#out.reject(reason, body, from, to);
  }

  #putSeverity(draft: Draft, number: number): void {
    if (number <= 0) return;
    draft.putLiteral(SEVERITY_NUMBER.in(draft.names), String(number));
    const level = LEVEL.in(draft.names);
    const token = LEVEL_TOKENS[number - 1];
    if (token !== undefined && draft.find(level) < 0) draft.set(level, STRING, token);
  }

  /** An id of zeros is none. */
  #putId(draft: Draft, name: Name, part: Span): void {
    const digits = this.#digits;
    const length = this.#reader.hexId(part, digits);
    if (length < 0) this.#reader.putText(draft, name, part);
    for (let i = 0; i < length; i++) {
      if (digits[i] !== 0x30) {
        draft.putText(name, digits, 0, length);
        return;
      }
    }
  }
}

/** Where the producer names no service, it is that of the resource. */
function serviceOf(draft: Draft): void {
  const service = SERVICE.in(draft.names);
  if (draft.find(service) >= 0) return;
  const index = draft.find(SERVICE_NAME.in(draft.names));
  if (index >= 0) draft.putString(service, draft.text(index));
}

/** What stands for a message that is missing: the event's name, or empty for what the writer finds. */
function fallbackOf(draft: Draft): string {
  if (draft.find(MESSAGE.in(draft.names)) >= 0) return '';
  const index = draft.find(EVENT_NAME.in(draft.names));
  return index < 0 ? '' : draft.text(index);
}

/** A body that is a list of pairs becomes fields; the first of them that names a message is the message. */
function putBodyPairs(draft: Draft, pairs: ReadonlyMap<string, Value>): void {
  const isText = (name: string): boolean => typeof pairs.get(name) === 'string' && pairs.get(name) !== '';
  const message = pairs.has('_msg') ? undefined : MESSAGE_NAMES.find(isText);
  for (const [name, value] of pairs) putValue(draft, draft.names.of(name === message ? '_msg' : name.toWellFormed()), value, 2);
}
