import { head, numberText, readHead, skipPacked } from '../../wire/msgpack.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { NO_FIELDS, TaggedEntries, tagProblem } from './tag.ts';
import { InnerGzip, isGzip } from '../shared/inner-gzip.ts';
import { putPackedMap, readPackedTime, type PackedTime } from './packed-fields.ts';

/** Fluent Bit begins and ends a group of records with records of these times; they are not entries. */
const GROUP_MARKERS = 0xffff_fffe;

const packedTime: PackedTime = { seconds: 0, nanos: 0 };

/**
 * The records of MessagePack bodies: records one after the other or in an array, `[time, record]` and Fluent Bit's
 * `[[time, metadata], record]` (https://github.com/fluent/fluent-bit-docs/blob/master/development/msgpack-format.md), and the messages
 * of the forward protocol (https://github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1) with one record, a list or a
 * packed, perhaps gzipped, stream of them.
 */
export class PackedRecords {
  readonly #out: EntryWriter;
  readonly #tags: TaggedEntries;
  readonly #gzip: InnerGzip;
  /** Values that were records or lists of them. */
  readable = 0;

  /** `maxBytes`: what gzipped streams may decompress to altogether. */
  constructor(out: EntryWriter, maxBytes: number) {
    this.#out = out;
    this.#tags = new TaggedEntries(out, maxBytes);
    this.#gzip = new InnerGzip(maxBytes);
  }

  /** Takes all values of a body; `tag`: of those that have none of their own. */
  take(bytes: Buffer, tag: string): void {
    this.#walk(bytes, (at, after) => {
      this.#value(bytes, at, after, tag);
    });
  }

  #walk(bytes: Buffer, visit: (at: number, after: number) => void): void {
    let at = 0;
    while (at < bytes.length) {
      const after = skipPacked(bytes, at, bytes.length);
      if (after < 0) {
        this.#out.reject(`not MessagePack, or cut off, at byte ${String(at)}; what follows is not read`, bytes, at);
        return;
      }
      visit(at, after);
      at = after;
    }
  }

  #value(bytes: Buffer, at: number, after: number, tag: string): void {
    readHead(bytes, at, after);
    const { kind, start, size } = head;
    if (kind !== 'array') this.#entry(bytes, at, after, tag);
    else if (size >= 2 && kindAt(bytes, start) === 'str') this.#forward(bytes, start, after, size, tag);
    else if (isPair(bytes, start, size)) this.#entry(bytes, at, after, tag);
    else this.#list(bytes, start, size, tag);
  }

  /** Takes `size` entries from `at` on. */
  #list(bytes: Buffer, at: number, size: number, tag: string): void {
    if (size === 0) this.readable += 1;
    for (let item = 0, i = at; item < size; item++) {
      const after = skipPacked(bytes, i, bytes.length);
      this.#entry(bytes, i, after, tag);
      i = after;
    }
  }

  /** A message of the forward protocol, from its tag on: `[tag, time, record, option?]`, `[tag, list or stream, option?]`. */
  #forward(bytes: Buffer, at: number, after: number, size: number, requestTag: string): void {
    readHead(bytes, at, after);
    const second = head.start + head.size;
    const tag = bytes.toString('utf8', head.start, second) || requestTag;
    const problem = tagProblem(tag);
    if (problem !== '') {
      this.#out.reject(problem, bytes, at, after);
      return;
    }
    readHead(bytes, second, after);
    const { kind, start } = head;
    if (kind === 'array') this.#list(bytes, start, head.size, tag);
    else if (kind === 'bin' || kind === 'str') this.#stream(bytes.subarray(start, start + head.size), tag);
    else if (size < 3) this.#out.reject('a forward message without a record', bytes, at, after);
    else this.#record(bytes, second, skipPacked(bytes, second, after), after, tag);
  }

  /** The packed stream of a forward message. Its option states whether it is gzipped, and so do its first bytes. */
  #stream(packed: Buffer, tag: string): void {
    const records = isGzip(packed) ? this.#gzip.inflate(packed) : packed;
    if (typeof records === 'string') this.#out.reject(records, packed);
    else
      this.#walk(records, (at, after) => {
        this.#entry(records, at, after, tag);
      });
  }

  /** A record, or a time and a record. */
  #entry(bytes: Buffer, at: number, after: number, tag: string): void {
    readHead(bytes, at, after);
    const { kind, start, size } = head;
    if (kind === 'map') this.#record(bytes, -1, at, after, tag);
    else if (kind === 'array' && isPair(bytes, start, size)) this.#record(bytes, start, skipPacked(bytes, start, after), after, tag);
    else this.#out.reject('neither a record nor a time and a record', bytes, at, after);
  }

  /** Takes the map at `at` as an entry; `time`: where its time stands, or -1. */
  #record(bytes: Buffer, time: number, at: number, after: number, tag: string): void {
    const out = this.#out;
    if (kindAt(bytes, at) !== 'map') {
      out.reject('neither a record nor a time and a record', bytes, time < 0 ? at : time, after);
      return;
    }
    this.readable += 1;
    const draft = this.#tags.begin(bytes, at, after, tag);
    const own = draft.count;
    const metadata = metadataOf(bytes, time);
    if (metadata >= 0) putPackedMap(draft, bytes, metadata, 'metadata');
    const timed = time < 0 ? 'none' : this.#time(bytes, metadata < 0 ? time : firstOf(bytes, time));
    putPackedMap(draft, bytes, at);
    if (timed === 'marker') return;
    if (timed === 'unreadable') out.reject('_time is not a time', bytes, time, after);
    else if (draft.count === own && draft.problem === '') out.reject(NO_FIELDS, bytes, at, after);
    else out.end('');
  }

  /** Reads the time at `at` into the entry. */
  #time(bytes: Buffer, at: number): 'time' | 'none' | 'marker' | 'unreadable' {
    const out = this.#out;
    if (readPackedTime(bytes, at, packedTime)) {
      const { seconds, nanos } = packedTime;
      if (seconds >= GROUP_MARKERS && seconds <= 0xffff_ffff) return 'marker';
      if (seconds === 0 && nanos === 0) return 'none';
      out.timeIs(seconds, nanos);
      return 'time';
    }
    const kind = kindAt(bytes, at);
    if (kind === 'nil') return 'none';
    return (kind === 'int' || kind === 'float') && out.timeIsText(numberText(bytes, at)) ? 'time' : 'unreadable';
  }
}

function kindAt(bytes: Buffer, at: number): typeof head.kind {
  readHead(bytes, at, bytes.length);
  return head.kind;
}

/** Where the first element of the array at `at` stands. */
function firstOf(bytes: Buffer, at: number): number {
  readHead(bytes, at, bytes.length);
  return head.start;
}

/** Where the metadata of `[time, metadata]` at `at` stand; -1 where there is no such pair. */
function metadataOf(bytes: Buffer, at: number): number {
  if (at < 0 || kindAt(bytes, at) !== 'array' || head.size !== 2) return -1;
  const metadata = skipPacked(bytes, head.start, bytes.length);
  return kindAt(bytes, metadata) === 'map' ? metadata : -1;
}

/** True for `[time, record]`, whose first element is not a record; `at` is where that stands. */
function isPair(bytes: Buffer, at: number, size: number): boolean {
  if (size !== 2 || kindAt(bytes, at) === 'map') return false;
  return kindAt(bytes, skipPacked(bytes, at, bytes.length)) === 'map';
}
