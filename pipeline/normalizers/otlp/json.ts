import { CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { invalidBody } from '../../core/errors.ts';
import { last, skipNumber, skipSpace, skipString, skipValue } from '../../wire/json-tokens.ts';
import { nextElement, nextMember, openArray, openObject } from '../../wire/json-walk.ts';
import type { Draft } from '../../logs/draft.ts';
import { FixedName, type Name } from '../../logs/names.ts';
import type { SplitTime } from '../../rows/halves.ts';
import type { Value } from '../../logs/values.ts';
import { validUtf8, type EntryWriter } from '../../logs/writer.ts';
import { jsonErrorReason } from '../shared/json-error.ts';
import { putStringToken } from '../shared/json-token-field.ts';
import type { IngestRequest } from '../normalizer.ts';
import { OtlpEntries, type PartReader, type Span } from './entry.ts';
import { otlpNames, putAnyValue, putKeyValue, readUnixNano } from './json-value.ts';
import { LOG_RECORD, REQUEST, RESOURCE, RESOURCE_LOGS, SCOPE, SCOPE_LOGS } from './schema.ts';

const NULL = 0x6e;

const REQUEST_NAMES = otlpNames(REQUEST);
const RESOURCE_LOGS_NAMES = otlpNames(RESOURCE_LOGS);
const RESOURCE_NAMES = otlpNames(RESOURCE);
const SCOPE_LOGS_NAMES = otlpNames(SCOPE_LOGS);
const SCOPE_NAMES = otlpNames(SCOPE);
const LOG_RECORD_NAMES = otlpNames(LOG_RECORD);

const SCOPE_NAME = new FixedName('scope.name');
const SCOPE_VERSION = new FixedName('scope.version');
const SCOPE_ATTRIBUTES = 'scope.attributes.';

/** Reads an ExportLogsServiceRequest in OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export function readOtlpJson(request: IngestRequest, out: EntryWriter): void {
  new Decoder(request, out).request();
}

class Decoder implements PartReader {
  readonly #body: Buffer;
  readonly #end: number;
  readonly #entries: OtlpEntries;
  /** Where the resource and the scope of the records lie, negative where they are absent, and the size of the resource. */
  #resource = -1;
  #resourceBytes = 0;
  #scope = -1;
  /** What the records of the scope share has been put in. */
  #begun = false;

  constructor(request: IngestRequest, out: EntryWriter) {
    this.#body = validUtf8(request.body);
    this.#end = this.#body.length;
    this.#entries = new OtlpEntries(request, out, this);
  }

  request(): void {
    const body = this.#body;
    const end = this.#end;
    const start = skipSpace(body, 0, end);
    if (start === end) throw invalidBody('The body is empty; send {"resourceLogs":[…]}.');
    let i = openObject(body, start, end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = REQUEST_NAMES.find(body, i, end);
      if (i < 0) break;
      i = REQUEST_NAMES.field === REQUEST.resourceLogs ? this.#objects('resourceLogs', i, this.#resourceLogs) : skipValue(body, i, end);
      i = nextMember(body, i, end);
    }
    if (i < 0) throw invalidBody(`The body is ${jsonErrorReason(body, 0, end)}.`);
    const rest = skipSpace(body, i + 1, end);
    if (rest < end) throw invalidBody(`After the request, at byte ${String(rest)}: expected the end of the body.`);
  }

  /** An array of objects, or null, which is an empty one. */
  #objects(name: string, at: number, read: (this: this, at: number) => number): number {
    const body = this.#body;
    if (body[at] === NULL) return skipValue(body, at, this.#end);
    if (body[at] !== OPEN_ARRAY) throw invalidBody(`${name} is not an array.`);
    let i = openArray(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_ARRAY) {
      if (body[i] !== OPEN_OBJECT) throw invalidBody(`An element of ${name} is not an object.`);
      i = nextElement(body, read.call(this, i), this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  #resourceLogs(at: number): number {
    const body = this.#body;
    let later = -1;
    this.#resource = -1;
    this.#resourceBytes = 0;
    let i = openObject(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = RESOURCE_LOGS_NAMES.find(body, i, this.#end);
      if (i < 0) return -1;
      const { field } = RESOURCE_LOGS_NAMES;
      if (field === RESOURCE_LOGS.resource) this.#resource = i;
      if (field === RESOURCE_LOGS.scopeLogs && this.#resource < 0) later = i;
      const now = field === RESOURCE_LOGS.scopeLogs && this.#resource >= 0;
      i = now ? this.#objects('scopeLogs', i, this.#scopeLogs) : skipValue(body, i, this.#end);
      if (field === RESOURCE_LOGS.resource) this.#resourceBytes = i - this.#resource;
      i = nextMember(body, i, this.#end);
    }
    if (i >= 0 && later >= 0) this.#objects('scopeLogs', later, this.#scopeLogs);
    return i < 0 ? -1 : i + 1;
  }

  #scopeLogs(at: number): number {
    const body = this.#body;
    let later = -1;
    this.#scope = -1;
    this.#begun = false;
    let i = openObject(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = SCOPE_LOGS_NAMES.find(body, i, this.#end);
      if (i < 0) return -1;
      const { field } = SCOPE_LOGS_NAMES;
      if (field === SCOPE_LOGS.scope) this.#scope = i;
      if (field === SCOPE_LOGS.logRecords && this.#scope < 0) later = i;
      const now = field === SCOPE_LOGS.logRecords && this.#scope >= 0;
      i = now ? this.#logRecords(i) : skipValue(body, i, this.#end);
      i = nextMember(body, i, this.#end);
    }
    if (i >= 0 && later >= 0) this.#logRecords(later);
    return i < 0 ? -1 : i + 1;
  }

  #logRecords(at: number): number {
    const body = this.#body;
    if (body[at] === NULL) return skipValue(body, at, this.#end);
    if (body[at] !== OPEN_ARRAY) throw invalidBody('logRecords is not an array.');
    let i = openArray(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_ARRAY) {
      if (!this.#begun) this.#beginGroup();
      const refusal = body[i] === OPEN_OBJECT ? this.#entries.nextRecord() : 'not a JSON object';
      i = nextElement(body, refusal === '' ? this.#record(i) : this.#refuse(refusal, i), this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  #refuse(reason: string, at: number): number {
    const after = skipValue(this.#body, at, this.#end);
    if (after >= 0) this.#entries.refuseRecord(reason, this.#body, at, after);
    return after;
  }

  /** Puts in what all records of a scope share. Both objects were passed over, so they are JSON. */
  #beginGroup(): void {
    this.#begun = true;
    const draft = this.#entries.beginGroup(this.#body);
    if (draft === null) return;
    if (this.#resource >= 0) this.#putResource(draft, this.#resource);
    this.#entries.endResource(draft);
    if (this.#scope >= 0) this.#putScope(draft, this.#scope);
    this.#entries.holdGroup(draft, this.#resourceBytes);
  }

  #putResource(draft: Draft, at: number): void {
    const { body } = draft;
    let i = openObject(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = RESOURCE_NAMES.find(body, i, this.#end);
      const isAttributes = RESOURCE_NAMES.field === RESOURCE.attributes;
      i = nextMember(body, isAttributes ? this.#attributes(draft, i, '') : skipValue(body, i, this.#end), this.#end);
    }
  }

  #putScope(draft: Draft, at: number): void {
    const { body, names } = draft;
    let i = openObject(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = SCOPE_NAMES.find(body, i, this.#end);
      const { field } = SCOPE_NAMES;
      if (field === SCOPE.attributes) i = this.#attributes(draft, i, SCOPE_ATTRIBUTES);
      else {
        const after = skipValue(body, i, this.#end);
        const name = field === SCOPE.name ? SCOPE_NAME : field === SCOPE.version ? SCOPE_VERSION : null;
        if (name !== null) this.putText(draft, name.in(names), { start: i, end: after });
        i = after;
      }
      i = nextMember(body, i, this.#end);
    }
  }

  /** An array of KeyValues. Another value refuses the entry, or every entry of the group. */
  #attributes(draft: Draft, at: number, prefix: string): number {
    const body = this.#body;
    if (body[at] !== OPEN_ARRAY) {
      if (body[at] !== NULL) draft.refuse('attributes is not an array');
      return skipValue(body, at, this.#end);
    }
    let i = openArray(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_ARRAY) {
      if (body[i] === OPEN_OBJECT) i = putKeyValue(draft, i, this.#end, prefix);
      else {
        draft.refuse('an attribute is not an object');
        i = skipValue(body, i, this.#end);
      }
      i = nextElement(body, i, this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  #record(at: number): number {
    const body = this.#body;
    const draft = this.#entries.beginRecord(at, this.#end);
    let i = openObject(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = LOG_RECORD_NAMES.find(body, i, this.#end);
      if (i < 0) return -1;
      i = nextMember(body, this.#recordField(draft, LOG_RECORD_NAMES.field, i), this.#end);
    }
    if (i < 0) return -1;
    this.#entries.endRecord(draft);
    return i + 1;
  }

  /** Takes the member whose value begins at `at`; gives the offset after it. */
  #recordField(draft: Draft, field: number, at: number): number {
    const { parts } = this.#entries;
    switch (field) {
      case LOG_RECORD.attributes:
        return this.#attributes(draft, at, '');
      case LOG_RECORD.timeUnixNano:
        return this.#time(draft, 'timeUnixNano', at, parts.time);
      case LOG_RECORD.observedTimeUnixNano:
        return this.#time(draft, 'observedTimeUnixNano', at, parts.observed);
      case LOG_RECORD.severityNumber:
        return this.#severityNumber(at);
      case LOG_RECORD.severityText:
        return this.#find(at, parts.severityText);
      case LOG_RECORD.body:
        return this.#find(at, parts.body);
      case LOG_RECORD.traceId:
        return this.#find(at, parts.traceId);
      case LOG_RECORD.spanId:
        return this.#find(at, parts.spanId);
      case LOG_RECORD.eventName:
        return this.#find(at, parts.eventName);
      default:
        return skipValue(this.#body, at, this.#end);
    }
  }

  #find(at: number, part: Span): number {
    const after = skipValue(this.#body, at, this.#end);
    part.start = this.#body[at] === NULL ? -1 : at;
    part.end = after;
    return after;
  }

  #time(draft: Draft, name: string, at: number, into: SplitTime): number {
    const body = this.#body;
    const after = body[at] === QUOTE ? skipString(body, at, this.#end) : skipValue(body, at, this.#end);
    if (after < 0 || body[at] === NULL) return after;
    if (!readUnixNano(body, at, after, into)) draft.refuse(`_time is not a time: ${name} is not a number of nanoseconds`);
    return after;
  }

  /** An integer; as a string, or the name of the enum's value, where a producer writes it so. */
  #severityNumber(at: number): number {
    const body = this.#body;
    const isText = body[at] === QUOTE;
    const after = isText ? skipString(body, at, this.#end) : skipValue(body, at, this.#end);
    if (after < 0 || after - at > 40) return after;
    const text = body.toString('latin1', isText ? at + 1 : at, isText ? after - 1 : after);
    this.#entries.parts.severityNumber = /^-?\d+$/.test(text) ? Number(text) | 0 : SEVERITY_NUMBERS.indexOf(text);
    return after;
  }

  putText(draft: Draft, name: Name, { start, end }: Span): void {
    const { body } = draft;
    if (body[start] === QUOTE) {
      skipString(body, start, end);
      putStringToken(draft, name, start, end, last.escapes);
    } else if (skipNumber(body, start, end) === end) draft.putString(name, body.toString('latin1', start, end));
    else if (body[start] !== NULL) draft.refuse(`${name.text} is not a string`);
  }

  putBody(draft: Draft, name: Name, { start, end }: Span): ReadonlyMap<string, Value> | null {
    return putAnyValue(draft, name, start, end);
  }

  /** JSON has ids in hexadecimal, case-insensitive. */
  hexId({ start, end }: Span, digits: Buffer): number {
    const length = end - start - 2;
    if (this.#body[start] !== QUOTE || length > digits.length) return -1;
    for (let i = 0; i < length; i++) {
      const byte = this.#body[start + 1 + i] as number;
      const lower = byte | 0x20;
      if (!((byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66))) return -1;
      digits[i] = byte >= 0x40 ? lower : byte;
    }
    return length;
  }
}

/** Names of the severity numbers: SEVERITY_NUMBER_TRACE, SEVERITY_NUMBER_TRACE2, … */
const SEVERITY_NUMBERS = [
  'SEVERITY_NUMBER_UNSPECIFIED',
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((word) => ['', '2', '3', '4'].map((n) => `SEVERITY_NUMBER_${word}${n}`)),
];
