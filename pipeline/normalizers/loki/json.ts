import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { invalidBody } from '../../core/errors.ts';
import { last, skipSpace, skipString, skipValue } from '../../wire/json-tokens.ts';
import { nextElement, nextMember, openArray, openObject, stringAt } from '../../wire/json-walk.ts';
import { LITERAL, STRING, type Draft } from '../../logs/draft.ts';
import { FixedName } from '../../logs/names.ts';
import { validUtf8, type EntryWriter } from '../../logs/writer.ts';
import { jsonErrorReason } from '../shared/json-error.ts';
import { MemberNames } from '../shared/json-members.ts';
import { putStringToken } from '../shared/json-token-field.ts';
import { LokiEntries } from './entry.ts';
import { readNanos } from '../shared/nanos.ts';
import type { IngestRequest } from '../normalizer.ts';

const NO_PAIR = 'an element of values is not an array of a timestamp, a line, and optional structured metadata';

const REQUEST = { streams: 1 } as const;
const STREAM = { stream: 1, values: 2 } as const;
const REQUEST_NAMES = new MemberNames(REQUEST);
const STREAM_NAMES = new MemberNames(STREAM);
const MESSAGE = new FixedName('_msg');

/** Reads a push body in JSON: `{"streams":[{"stream":{…labels},"values":[["<ns>","<line>",{…metadata}],…]},…]}`. */
export function readLokiJson(request: IngestRequest, out: EntryWriter): void {
  new Decoder(request, out).request();
}

class Decoder {
  readonly #body: Buffer;
  readonly #end: number;
  readonly #entries: LokiEntries;

  constructor(request: IngestRequest, out: EntryWriter) {
    this.#body = validUtf8(request.body);
    this.#end = this.#body.length;
    this.#entries = new LokiEntries(request, out);
  }

  request(): void {
    const body = this.#body;
    const end = this.#end;
    const start = skipSpace(body, 0, end);
    if (start === end) throw invalidBody('The body is empty; send {"streams":[…]}.');
    let hasStreams = false;
    let i = openObject(body, start, end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = REQUEST_NAMES.find(body, i, end);
      if (i < 0) break;
      const isStreams = REQUEST_NAMES.field === REQUEST.streams;
      hasStreams ||= isStreams;
      i = nextMember(body, isStreams ? this.#streams(i) : skipValue(body, i, end), end);
    }
    if (i < 0) throw invalidBody(`The body is ${jsonErrorReason(body, 0, end)}.`);
    const rest = skipSpace(body, i + 1, end);
    if (rest < end) throw invalidBody(`After the request, at byte ${String(rest)}: expected the end of the body.`);
    if (!hasStreams) throw invalidBody('streams is missing.');
    this.#entries.finish();
  }

  #streams(at: number): number {
    const body = this.#body;
    if (body[at] !== OPEN_ARRAY) throw invalidBody('streams is not an array.');
    let i = openArray(body, at, this.#end);
    for (let number = 0; i >= 0 && body[i] !== CLOSE_ARRAY; number++) {
      if (body[i] !== OPEN_OBJECT) throw invalidBody(`streams[${String(number)}] is not an object.`);
      i = nextElement(body, this.#stream(i, number), this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  /** The labels may come behind the values. */
  #stream(at: number, number: number): number {
    const body = this.#body;
    let labels = -1;
    let values = -1;
    let taken = false;
    let i = openObject(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = STREAM_NAMES.find(body, i, this.#end);
      if (i < 0) return -1;
      const { field } = STREAM_NAMES;
      if (field === STREAM.stream) labels = i;
      if (field === STREAM.values) values = i;
      if (field === STREAM.values && labels >= 0) {
        i = this.#values(i, labels, number);
        taken = true;
      } else i = skipValue(body, i, this.#end);
      i = nextMember(body, i, this.#end);
    }
    if (i < 0) return -1;
    if (labels < 0) throw invalidBody(`streams[${String(number)}] has no stream.`);
    if (values < 0) throw invalidBody(`streams[${String(number)}] has no values.`);
    if (!taken) this.#values(values, labels, number);
    return i + 1;
  }

  #values(at: number, labels: number, number: number): number {
    const body = this.#body;
    if (body[labels] !== OPEN_OBJECT) throw invalidBody(`stream of streams[${String(number)}] is not an object.`);
    if (body[at] !== OPEN_ARRAY) throw invalidBody(`values of streams[${String(number)}] is not an array.`);
    const draft = this.#entries.beginStream(body);
    if (draft !== null) this.#putLabels(draft, labels);
    let i = openArray(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_ARRAY) {
      const refusal = body[i] === OPEN_ARRAY ? this.#entries.next() : NO_PAIR;
      i = nextElement(body, refusal === '' ? this.#entry(i) : this.#refuse(i, refusal), this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  /** A label whose value is not a string gets its token as one. */
  #putLabels(draft: Draft, at: number): void {
    draft.readObject(at, this.#end);
    for (let i = 0; i < draft.count; i++) {
      if (draft.kinds[i] === LITERAL) draft.replace(i, STRING, JSON.stringify(draft.text(i)));
    }
    this.#entries.holdStream(draft);
  }

  #refuse(at: number, reason: string, detail: (() => string) | null = null): number {
    const after = skipValue(this.#body, at, this.#end);
    if (after >= 0) this.#entries.refuse(reason, this.#body, at, after, detail);
    return after;
  }

  #entry(at: number): number {
    const body = this.#body;
    const end = this.#end;
    const entries = this.#entries;
    const time = openArray(body, at, end);
    const timeEnd = time >= 0 && body[time] === QUOTE ? skipString(body, time, end) : skipValue(body, time, end);
    const line = nextElement(body, timeEnd, end);
    if (line < 0 || body[line] !== QUOTE) return this.#refuse(at, NO_PAIR);
    const lineEnd = skipString(body, line, end);
    const { escapes } = last;
    let close = nextElement(body, lineEnd, end);
    const metadata = close;
    if (close >= 0 && body[close] === OPEN_OBJECT) close = nextElement(body, skipValue(body, close, end), end);
    if (close < 0 || body[close] !== CLOSE_ARRAY) return this.#refuse(at, NO_PAIR);
    if (!this.#readTime(time, timeEnd)) {
      const shown = (): string => body.toString('utf8', time, Math.min(timeEnd, time + 40));
      return this.#refuse(at, '_time is not a time', () => `${shown()} is not a number of nanoseconds`);
    }
    const draft = entries.begin(at, close + 1);
    if (lineEnd === line + 2) entries.putEmptyLine(draft);
    else putStringToken(draft, MESSAGE.in(draft.names), line, lineEnd, escapes);
    if (metadata < close) {
      if (!draft.readLine(body, metadata, close)) draft.refuse('too many or too deep fields in the structured metadata');
      entries.endMetadata(draft);
    }
    this.#readLine(draft, line, lineEnd);
    entries.end();
    return close + 1;
  }

  /** Empty and zero mean that there is no time: the entry gets that of its arrival. */
  #readTime(at: number, after: number): boolean {
    const { time } = this.#entries;
    const quotes = this.#body[at] === QUOTE ? 1 : 0;
    time.seconds = time.nanos = 0;
    return (quotes === 1 && after === at + 2) || readNanos(this.#body, at + quotes, after - quotes, time);
  }

  /** A line that may be a JSON object is decoded to be read. */
  #readLine(draft: Draft, at: number, after: number): void {
    const body = this.#body;
    let first = at + 1;
    while (body[first] === 0x20) first += 1;
    // a name's quote is escaped
    if (body[first] !== OPEN_OBJECT || (body[first + 1] !== BACKSLASH && body[first + 1] !== 0x20)) return;
    const line = Buffer.from(stringAt(body, at, after));
    draft.readLine(line, 0, line.length);
  }
}
