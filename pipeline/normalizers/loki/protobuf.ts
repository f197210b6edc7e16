import { invalidBody } from '../../core/errors.ts';
import { lengthTag, ProtobufReader, varintTag } from '../../wire/protobuf.ts';
import type { Draft } from '../../logs/draft.ts';
import { FixedName } from '../../logs/names.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { LokiEntries } from './entry.ts';
import { MAX_LABELS_LENGTH, parseLokiLabels } from './labels.ts';
import type { IngestRequest } from '../normalizer.ts';

/** Field numbers of Loki's push.proto (https://github.com/grafana/loki/blob/main/pkg/push/push.proto). */
const PUSH_REQUEST = { streams: 1 } as const;
const STREAM = { labels: 1, entries: 2 } as const;
const ENTRY = { timestamp: 1, line: 2, structuredMetadata: 3 } as const;
const TIMESTAMP = { seconds: 1, nanos: 2 } as const;
const LABEL_PAIR = { name: 1, value: 2 } as const;

const MESSAGE = new FixedName('_msg');

/** Reads a PushRequest in protobuf, decompressed. */
export function readLokiProtobuf(body: Buffer, request: IngestRequest, out: EntryWriter): void {
  if (body.length === 0) throw invalidBody('The body is empty.');
  const wire = new ProtobufReader(body);
  const entries = new LokiEntries(request, out);
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag === lengthTag(PUSH_REQUEST.streams)) {
      const outer = wire.enter();
      readStream(wire, entries);
      wire.leave(outer);
    } else wire.skip(tag);
  }
  entries.finish();
}

/** The StreamAdapter that was entered. Its labels may come behind its entries. */
function readStream(wire: ProtobufReader, entries: LokiEntries): void {
  const { at, end } = wire;
  const labels = findLabels(wire);
  wire.seek(at, end);
  const draft = labels === null ? null : entries.beginStream(wire.bytes);
  if (draft !== null && labels !== null) {
    for (const [name, value] of labels) draft.putString(draft.names.of(name), value);
    entries.holdStream(draft);
  }
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag === lengthTag(STREAM.entries)) {
      const outer = wire.enter();
      const refusal = labels === null ? UNREADABLE_LABELS : entries.next();
      if (refusal === '') readEntry(wire, entries);
      else entries.refuse(refusal, wire.bytes, wire.at, wire.end);
      wire.leave(outer);
    } else wire.skip(tag);
  }
}

const UNREADABLE_LABELS = `the labels of its stream are not a label set of at most ${String(MAX_LABELS_LENGTH)} characters`;

/** The labels of the stream that was entered; null where they cannot be read. */
function findLabels(wire: ProtobufReader): Map<string, string> | null {
  let text = '';
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag === lengthTag(STREAM.labels)) {
      const outer = wire.enter();
      text = wire.bytes.toString('utf8', wire.at, Math.min(wire.end, wire.at + 4 * MAX_LABELS_LENGTH));
      wire.leave(outer);
    } else wire.skip(tag);
  }
  return parseLokiLabels(text);
}

/** The EntryAdapter that was entered. */
function readEntry(wire: ProtobufReader, entries: LokiEntries): void {
  const { at, end, bytes } = wire;
  const { time } = entries;
  time.seconds = time.nanos = 0;
  let lineStart = at;
  let lineEnd = at;
  let hasMetadata = false;
  while (wire.at < end) {
    const tag = wire.tag();
    if (tag === lengthTag(ENTRY.timestamp)) readTimestamp(wire, time);
    else if (tag === lengthTag(ENTRY.line)) {
      const outer = wire.enter();
      lineStart = wire.at;
      lineEnd = wire.end;
      wire.leave(outer);
    } else {
      if (tag === lengthTag(ENTRY.structuredMetadata)) hasMetadata = true;
      wire.skip(tag);
    }
  }
  const draft = entries.begin(at, end);
  if (lineStart === lineEnd) entries.putEmptyLine(draft);
  else draft.putText(MESSAGE.in(draft.names), bytes, lineStart, lineEnd);
  if (hasMetadata) {
    wire.seek(at, end);
    readMetadata(wire, draft);
    entries.endMetadata(draft);
  }
  draft.readLine(bytes, lineStart, lineEnd);
  if (time.seconds < 0 || time.nanos >= 1e9) draft.refuse('_time is not a time: the timestamp is before 1970 or has too many nanoseconds');
  entries.end();
}

function readTimestamp(wire: ProtobufReader, time: { seconds: number; nanos: number }): void {
  const outer = wire.enter();
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag === varintTag(TIMESTAMP.seconds)) time.seconds = wire.int64();
    else if (tag === varintTag(TIMESTAMP.nanos)) time.nanos = wire.varint32();
    else wire.skip(tag);
  }
  wire.leave(outer);
}

/** The structured metadata of the entry that was entered. Labels are not overridden. */
function readMetadata(wire: ProtobufReader, draft: Draft): void {
  const { bytes, end } = wire;
  while (wire.at < end) {
    const tag = wire.tag();
    if (tag !== lengthTag(ENTRY.structuredMetadata)) {
      wire.skip(tag);
      continue;
    }
    const outer = wire.enter();
    const pairEnd = wire.end;
    let [nameStart, nameEnd, valueStart, valueEnd] = [pairEnd, pairEnd, pairEnd, pairEnd];
    while (wire.at < pairEnd) {
      const part = wire.tag();
      if (part !== lengthTag(LABEL_PAIR.name) && part !== lengthTag(LABEL_PAIR.value)) {
        wire.skip(part);
        continue;
      }
      const pair = wire.enter();
      if (part === lengthTag(LABEL_PAIR.name)) [nameStart, nameEnd] = [wire.at, wire.end];
      else [valueStart, valueEnd] = [wire.at, wire.end];
      wire.leave(pair);
    }
    wire.leave(outer);
    const name = draft.names.ofBytes(bytes, nameStart, nameEnd);
    if (draft.find(name) < 0) draft.putText(name, bytes, valueStart, valueEnd);
  }
}
