import { BACKSLASH, NEWLINE, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { skipSpace, skipValue } from '../../wire/json-tokens.ts';
import { stringAt, walkArray } from '../../wire/json-walk.ts';
import { STRING, type Draft } from '../../logs/draft.ts';
import { FixedName } from '../../logs/names.ts';
import { validUtf8, type EntryWriter } from '../../logs/writer.ts';
import { endOfLine } from '../shared/bytes.ts';
import { GroupBudget } from '../shared/group-budget.ts';
import { putJsonToken, scalarText } from '../shared/json-token-field.ts';
import { MemberSpans } from '../shared/member-spans.ts';

const CONTROL_MESSAGE = '"CONTROL_MESSAGE"';
const TOO_LONG = 'a log event longer than the cap of a body';
const NO_MESSAGE = 'not a log event with a message';

/** Log events of one request, as a share of the body's cap in bytes: a bound on what gzip can hide. */
const BYTES_PER_EVENT = 8;

const MESSAGE = new FixedName('_msg');
const EVENT_ID = new FixedName('log_event_id');
const EXTRACTED_FIELDS = new FixedName('extracted_fields');
/** What all events of a subscription message share. */
const SHARED = [new FixedName('owner'), new FixedName('log_group'), new FixedName('log_stream')];

/** The members of a subscription message; the first are those of SHARED. */
const message = new MemberSpans(['owner', 'logGroup', 'logStream', 'messageType', 'logEvents']);
const MESSAGE_TYPE = 3;
const LOG_EVENTS = 4;

/** The members of a log event. */
const event = new MemberSpans(['id', 'timestamp', 'message', 'extractedFields']);
const ID = 0;
const TIMESTAMP = 1;
const TEXT = 2;
const EXTRACTED = 3;

/** Takes the log events of a request out of its decoded records. */
export class LogEvents {
  readonly #out: EntryWriter;
  readonly #budget: GroupBudget;
  readonly #attributes: readonly (readonly [string, string])[];
  readonly #maxBytes: number;
  readonly #maxEvents: number;
  #events = 0;
  /** Subscription messages and lines that could be read. */
  readable = 0;

  /** `attributes`: fields of every event. */
  constructor(out: EntryWriter, maxBytes: number, attributes: readonly (readonly [string, string])[]) {
    this.#out = out;
    this.#budget = new GroupBudget(maxBytes);
    this.#attributes = attributes;
    this.#maxBytes = maxBytes;
    this.#maxEvents = Math.floor(maxBytes / BYTES_PER_EVENT);
  }

  /** The data of one record: subscription messages one after the other, or lines. */
  take(bytes: Buffer): void {
    const data = validUtf8(bytes);
    const end = data.length;
    let inLines = false;
    let lineEnd = -1;
    for (let at = skipSpace(data, 0, end); at < end;) {
      if (at > lineEnd) lineEnd = endOfLine(data, at);
      const objectEnd = data[at] === OPEN_OBJECT ? message.read(data, at, lineEnd) : -1;
      const after = objectEnd < 0 ? lineEnd : objectEnd;
      const isMessage = objectEnd >= 0 && has(message, LOG_EVENTS);
      if (!isMessage && !inLines) this.#budget.hold(this.#begin(data));
      if (!(isMessage ? this.#message(data, at, after) : this.#line(data, at, after))) return;
      inLines = !isMessage;
      at = skipSpace(data, after, end);
    }
  }

  /** The subscription message at `body[at..after)`. */
  message(body: Buffer, at: number, after: number): void {
    message.read(body, at, after);
    this.#message(body, at, after);
  }

  /** Takes the subscription message that was read; false where no more events can be taken. */
  #message(body: Buffer, at: number, after: number): boolean {
    const out = this.#out;
    const before = this.#excess();
    if (before !== '') return this.#stop(before, body, at, after);
    const events = message.at[LOG_EVENTS] as number;
    const type = body.toString('latin1', message.at[MESSAGE_TYPE], has(message, MESSAGE_TYPE) ? message.after[MESSAGE_TYPE] : 0);
    if (type === CONTROL_MESSAGE) {
      this.readable += 1;
      return true;
    }
    if (body[events] !== OPEN_ARRAY) {
      out.reject('neither a Firehose request nor a subscription message with logEvents', body, at, after);
      return true;
    }
    this.readable += 1;
    const draft = this.#begin(body);
    for (const [index, field] of SHARED.entries()) if (has(message, index)) putSpan(draft, field, message, index);
    this.#budget.hold(draft);
    let excess = '';
    walkArray(body, events, after, (from, to) => {
      const next = event.read(body, from, to);
      excess = this.#excess();
      if (excess !== '') return -1;
      if (next >= 0) this.#event(body, from, next);
      else out.reject(NO_MESSAGE, body, from, skipValue(body, from, to));
      return next >= 0 ? next : skipValue(body, from, to);
    });
    return excess === '' || this.#stop(excess, body, at, after);
  }

  /** Begins a group of events with the attributes; more may be put in before it is held. */
  #begin(body: Buffer): Draft {
    const draft = this.#out.begin(body);
    for (const [name, value] of this.#attributes) draft.putString(draft.names.of(name.toWellFormed()), value);
    return draft;
  }

  /** Why no more events may be taken; empty while they may. Counts one. */
  #excess(): string {
    return ++this.#events > this.#maxEvents ? `more than ${String(this.#maxEvents)} log events in one request` : this.#budget.next();
  }

  /** Rejects the event at `body[at..after)`, the first one too many. */
  #stop(problem: string, body: Buffer, at: number, after: number): false {
    this.#out.reject(`${problem}; the rest of this record is not read`, body, at, after);
    return false;
  }

  /** Takes the log event that was read. */
  #event(body: Buffer, at: number, after: number): void {
    const out = this.#out;
    const problem = after - at > this.#maxBytes ? TOO_LONG : has(event, TEXT) ? '' : NO_MESSAGE;
    if (problem !== '') {
      out.reject(problem, body, at, after);
      return;
    }
    const draft = out.again(at, after);
    if (has(event, ID)) putSpan(draft, EVENT_ID, event, ID);
    if (has(event, EXTRACTED)) putSpan(draft, EXTRACTED_FIELDS, event, EXTRACTED);
    putText(draft, body);
    const time = event.at[TIMESTAMP] as number;
    if (time < 0 || out.timeIsText(scalarText(body, time, event.after[TIMESTAMP] as number))) out.end('');
    else {
      const timeEnd = Math.min(event.after[TIMESTAMP] as number, time + 80);
      out.reject('_time is not a time', body, at, after, () => body.toString('utf8', time, timeEnd));
    }
  }

  #line(data: Buffer, at: number, after: number): boolean {
    const excess = this.#excess();
    if (excess !== '') return this.#stop(excess, data, at, after);
    this.readable += 1;
    if (after - at > this.#maxBytes) this.#out.reject(TOO_LONG, data, at, after);
    else {
      putLine(this.#out.again(at, after), data, at, after);
      this.#out.end('');
    }
    return true;
  }
}

/** Puts in a line without its end as the message, and its members where it is a JSON object. */
function putLine(draft: Draft, bytes: Buffer, at: number, after: number): void {
  let end = after;
  while (end > at && (bytes[end - 1] === NEWLINE || bytes[end - 1] === 0x0d)) end -= 1;
  draft.putText(MESSAGE.in(draft.names), bytes, at, end);
  draft.readLine(bytes, at, end);
}

/** Puts in the message of the log event that was read. */
function putText(draft: Draft, body: Buffer): void {
  const start = event.at[TEXT] as number;
  const end = event.after[TEXT] as number;
  const escape = body[start] === QUOTE ? body.subarray(start, end).indexOf(BACKSLASH) : -1;
  const isObject = body[start] === QUOTE && body[start + 1] === OPEN_OBJECT;
  // nearly every message is a plain text, or one with a line feed at its end
  if (escape < 0 && !isObject) putSpan(draft, MESSAGE, event, TEXT);
  else if (escape > 1 && escape === end - start - 3 && body[end - 2] === 0x6e && !isObject)
    draft.set(MESSAGE.in(draft.names), STRING, `${body.toString('utf8', start, end - 3)}"`);
  else {
    const text = Buffer.from(stringAt(body, start, end));
    putLine(draft, text, 0, text.length);
  }
}

const has = ({ at }: MemberSpans, member: number): boolean => (at[member] as number) >= 0;

function putSpan(draft: Draft, field: FixedName, { at, after }: MemberSpans, member: number): void {
  putJsonToken(draft, field.in(draft.names), at[member] as number, after[member] as number);
}
