import { ProtobufReader } from '../../wire/protobuf.ts';
import type { Draft } from '../../logs/draft.ts';
import { FixedName, type Name } from '../../logs/names.ts';
import { putValue, type Value } from '../../logs/values.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import type { IngestRequest } from '../normalizer.ts';
import { OtlpEntries, type PartReader, type Span } from './entry.ts';
import { eachField, putAnyValue, putKeyValue, putText, readAnyValue } from './protobuf-value.ts';
import { ANY_VALUE_TAGS, LOG_RECORD_TAGS, REQUEST_TAGS, RESOURCE_LOGS_TAGS, RESOURCE_TAGS, SCOPE_LOGS_TAGS, SCOPE_TAGS } from './schema.ts';

/** Reads an ExportLogsServiceRequest in protobuf. Fields may come in any order: some encoders write the last ones first. */
export function readOtlpProtobuf(request: IngestRequest, out: EntryWriter): void {
  new Decoder(request, out).request();
}

class Decoder implements PartReader {
  readonly #wire: ProtobufReader;
  readonly #entries: OtlpEntries;
  /** Where the resource of the records lies; empty where there is none. */
  readonly #resource: Span = { start: 0, end: 0 };

  constructor(request: IngestRequest, out: EntryWriter) {
    this.#wire = new ProtobufReader(request.body);
    this.#entries = new OtlpEntries(request, out, this);
  }

  request(): void {
    const wire = this.#wire;
    eachField(wire, REQUEST_TAGS.resourceLogs, () => {
      const { at, end } = wire;
      this.#resource.start = this.#resource.end = at;
      this.#findField(RESOURCE_LOGS_TAGS.resource, this.#resource);
      wire.seek(at, end);
      eachField(wire, RESOURCE_LOGS_TAGS.scopeLogs, () => {
        this.#scopeLogs();
      });
    });
  }

  /** The ScopeLogs that was entered. */
  #scopeLogs(): void {
    const wire = this.#wire;
    const { at, end } = wire;
    let begun = false;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag !== SCOPE_LOGS_TAGS.logRecords) {
        wire.skip(tag);
        continue;
      }
      if (!begun) {
        begun = true;
        const record = wire.at;
        wire.seek(at, end);
        this.#beginGroup();
        wire.seek(record, end);
      }
      const outer = wire.enter();
      const refusal = this.#entries.nextRecord();
      if (refusal === '') this.#record();
      else this.#entries.refuseRecord(refusal, wire.bytes, wire.at, wire.end);
      wire.leave(outer);
    }
  }

  /** Puts in what all records of the scope that was entered share. */
  #beginGroup(): void {
    const wire = this.#wire;
    const draft = this.#entries.beginGroup(wire.bytes);
    if (draft === null) return;
    const { at, end } = wire;
    const resource = this.#resource;
    wire.seek(resource.start, resource.end);
    eachField(wire, RESOURCE_TAGS.attributes, () => {
      putKeyValue(wire, draft, '');
    });
    this.#entries.endResource(draft);
    wire.seek(at, end);
    eachField(wire, SCOPE_LOGS_TAGS.scope, () => {
      this.#scope(draft);
    });
    this.#entries.holdGroup(draft, resource.end - resource.start);
  }

  /** Finds the last field of this tag in the message that was entered. */
  #findField(wanted: number, part: Span): void {
    const wire = this.#wire;
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === wanted) this.#find(part);
      else wire.skip(tag);
    }
  }

  #scope(draft: Draft): void {
    const wire = this.#wire;
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === SCOPE_TAGS.name) putText(wire, draft, SCOPE_NAME.in(draft.names));
      else if (tag === SCOPE_TAGS.version) putText(wire, draft, SCOPE_VERSION.in(draft.names));
      else if (tag === SCOPE_TAGS.attributes) {
        const outer = wire.enter();
        putKeyValue(wire, draft, SCOPE_ATTRIBUTES);
        wire.leave(outer);
      } else wire.skip(tag);
    }
  }

  /** The LogRecord that was entered. */
  #record(): void {
    const wire = this.#wire;
    const { end } = wire;
    const draft = this.#entries.beginRecord(wire.at, end);
    while (wire.at < end) this.#recordField(draft, wire.tag());
    this.#entries.endRecord(draft);
    wire.seek(end, end);
  }

  #recordField(draft: Draft, tag: number): void {
    const wire = this.#wire;
    const { parts } = this.#entries;
    if (tag === LOG_RECORD_TAGS.attributes) {
      const outer = wire.enter();
      putKeyValue(wire, draft, '');
      wire.leave(outer);
    } else if (tag === LOG_RECORD_TAGS.timeUnixNano) wire.nanoseconds(parts.time);
    else if (tag === LOG_RECORD_TAGS.observedTimeUnixNano) wire.nanoseconds(parts.observed);
    else if (tag === LOG_RECORD_TAGS.severityNumber) parts.severityNumber = wire.varint32() | 0;
    else if (tag === LOG_RECORD_TAGS.severityText) this.#find(parts.severityText);
    else if (tag === LOG_RECORD_TAGS.body) this.#find(parts.body);
    else if (tag === LOG_RECORD_TAGS.traceId) this.#find(parts.traceId);
    else if (tag === LOG_RECORD_TAGS.spanId) this.#find(parts.spanId);
    else if (tag === LOG_RECORD_TAGS.eventName) this.#find(parts.eventName);
    else wire.skip(tag);
  }

  #find(part: Span): void {
    const wire = this.#wire;
    const outer = wire.enter();
    part.start = wire.at;
    part.end = wire.end;
    wire.leave(outer);
  }

  putText(draft: Draft, name: Name, { start, end }: Span): void {
    draft.putText(name, this.#wire.bytes, start, end);
  }

  putBody(draft: Draft, name: Name, { start, end }: Span): ReadonlyMap<string, Value> | null {
    const wire = this.#wire;
    wire.seek(start, end);
    // a list of pairs is an AnyValue's only field
    const isPairs = start < end && wire.tag() === ANY_VALUE_TAGS.kvlistValue;
    wire.seek(start, end);
    if (!isPairs) {
      putAnyValue(wire, draft, name);
      return null;
    }
    const value = readAnyValue(wire, draft);
    if (value instanceof Map) return value as ReadonlyMap<string, Value>;
    putValue(draft, name, value);
    return null;
  }

  hexId({ start, end }: Span, digits: Buffer): number {
    if ((end - start) * 2 > digits.length) return -1;
    for (let at = start, to = 0; at < end; at++) {
      const byte = this.#wire.bytes[at] as number;
      digits[to++] = HEX[byte >>> 4] as number;
      digits[to++] = HEX[byte & 15] as number;
    }
    return (end - start) * 2;
  }
}

const SCOPE_NAME = new FixedName('scope.name');
const SCOPE_VERSION = new FixedName('scope.version');
const SCOPE_ATTRIBUTES = 'scope.attributes.';
const HEX = Buffer.from('0123456789abcdef');
