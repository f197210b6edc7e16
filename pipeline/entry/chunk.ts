import { COMMA, QUOTE } from '../core/bytes.ts';
import { placeOf, tenantSeed } from '../core/shard.ts';
import { LITERAL, STRING, type Draft } from './draft.ts';
import type { Name } from './names.ts';
import type { Severity } from '../core/severity.ts';
import { ROW_START } from './row.ts';
import { idQuotient, idRemainder } from './id-text.ts';
import type { KnownStream, Stream } from './streams.ts';
import type { SplitTime } from './time-token.ts';

/** Rows of one request for one partition: the value of one Kafka record, or a part of it. */
export type Chunk = {
  readonly partition: number;
  readonly value: Buffer;
  readonly count: number;
  readonly streams: readonly KnownStream[];
  /** Days since the epoch of which the chunk has entries. */
  readonly days: readonly number[];
};

/** A record's value stays under this, unless one entry alone is larger. */
export const MAX_CHUNK_BYTES = 900_000;

let chunkNumber = 0;

/** Collects the rows of a request of one tenant, by the partitions of its shard. */
export class ChunkBuilder {
  count = 0;
  /** Bytes of the rows that were closed. */
  bytes = 0;
  readonly #partitions: readonly number[];
  readonly #seed: number;
  /** By the place in the shard. */
  readonly #open: (RowBuffer | undefined)[];
  readonly #done: Chunk[] = [];
  readonly #firstSize: number;

  constructor(tenantId: number, partitions: readonly number[], expectedBytes: number) {
    this.#partitions = partitions;
    this.#seed = tenantSeed(tenantId);
    this.#open = new Array<RowBuffer | undefined>(partitions.length).fill(undefined);
    const share = (expectedBytes * 1.3) / Math.max(1, partitions.length * 0.75);
    this.#firstSize = Math.min(MAX_CHUNK_BYTES + 65_536, Math.max(1024, Math.ceil(share)));
  }

  /** The buffer for a row of at most `bound` bytes of this stream, of an entry of this day. */
  open(stream: Stream, day: number, bound: number): RowBuffer {
    const place = placeOf(this.#seed, stream.low, this.#partitions.length);
    let buffer = this.#open[place];
    if (buffer !== undefined && buffer.length > 0 && buffer.length + bound > MAX_CHUNK_BYTES) {
      this.#done.push(buffer.chunk());
      buffer = undefined;
    }
    if (buffer === undefined) {
      buffer = new RowBuffer(this.#partitions[place] as number, Math.max(this.#firstSize, bound));
      this.#open[place] = buffer;
    }
    buffer.begin(stream, day, bound);
    this.count += 1;
    return buffer;
  }

  finish(): Chunk[] {
    for (const buffer of this.#open) if (buffer !== undefined) this.#done.push(buffer.chunk());
    this.#open.fill(undefined);
    return this.#done.splice(0);
  }
}

const TIME = Buffer.from(ROW_START);
const STREAM_ID = Buffer.from('"_stream_id":"');
const SEVERITY = Buffer.from('"severity":');
const MESSAGE = Buffer.from('"_msg":');
const FIELDS = Buffer.from(',"fields":{');
const NUMBERS = Buffer.from(',"numbers":{');

/** Writes rows byte by byte, which for short tokens is faster than any call into native code. `begin` makes room first. */
class RowBuffer {
  length = 0;
  #bytes: Buffer;
  #count = 0;
  #lastDay = NaN;
  #rowStart = 0;
  readonly #partition: number;
  readonly #number = ++chunkNumber;
  readonly #streams: KnownStream[] = [];
  readonly #days = new Set<number>();

  constructor(partition: number, size: number) {
    this.#partition = partition;
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  begin(stream: Stream, day: number, bound: number): void {
    if (this.length + bound > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.length + bound, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    this.#rowStart = this.length;
    this.#count += 1;
    if (stream.firstIn(this.#number)) this.#streams.push(stream.known());
    if (day !== this.#lastDay) {
      this.#lastDay = day;
      this.#days.add(day);
    }
  }

  chunk(): Chunk {
    return {
      partition: this.#partition,
      value: this.#bytes.subarray(0, this.length),
      count: this.#count,
      streams: this.#streams,
      days: [...this.#days],
    };
  }

  bytes(source: Uint8Array): void {
    this.#copy(source, 0, source.length);
  }

  /** `{"_time":"<nanoseconds>",` */
  time(time: SplitTime): void {
    this.bytes(TIME);
    if (time.seconds >= 1_000_000_000) {
      this.#digits(time.seconds, 10);
      this.#digits(time.nanos, 9);
    } else {
      const ns = BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanos);
      this.length += this.#bytes.write(ns.toString(), this.length, 'latin1');
    }
    this.#bytes[this.length++] = QUOTE;
    this.#bytes[this.length++] = COMMA;
  }

  /** `"_stream_id":"<decimal>",` */
  streamId({ high, low }: Stream): void {
    this.bytes(STREAM_ID);
    const quotient = idQuotient(high, low);
    const remainder = idRemainder(high, low);
    if (quotient > 0) this.#digits(quotient, placesOf(quotient));
    this.#digits(remainder, quotient > 0 ? 6 : placesOf(remainder));
    this.#bytes[this.length++] = QUOTE;
    this.#bytes[this.length++] = COMMA;
  }

  /** A whole number with leading zeros. */
  #digits(number: number, places: number): void {
    const bytes = this.#bytes;
    let rest = number;
    for (let at = this.length + places - 1; at >= this.length; at--) {
      const tenth = Math.floor(rest / 10);
      bytes[at] = 0x30 + (rest - tenth * 10);
      rest = tenth;
    }
    this.length += places;
  }

  /** `"level":<token>,` where the entry has the field; a literal in quotes. */
  column(draft: Draft, json: Uint8Array, name: Name): void {
    const index = draft.find(name);
    if (index < 0) return;
    this.bytes(json);
    if (draft.kinds[index] === LITERAL) {
      this.#bytes[this.length++] = QUOTE;
      this.#token(draft, index);
      this.#bytes[this.length++] = QUOTE;
    } else this.#token(draft, index);
    this.#bytes[this.length++] = COMMA;
  }

  severity(severity: Severity): void {
    if (severity === 0) return;
    this.bytes(SEVERITY);
    this.#bytes[this.length++] = 0x30 + severity;
    this.#bytes[this.length++] = COMMA;
  }

  message(draft: Draft, index: number): void {
    this.bytes(MESSAGE);
    this.#token(draft, index);
  }

  /** `,"fields":{…}` of the strings, or `,"numbers":{…}` of the literals, where there are any. */
  fields(draft: Draft, kind: typeof STRING | typeof LITERAL): void {
    const { count, kinds, fieldNames } = draft;
    let any = false;
    for (let index = 0; index < count; index++) {
      if (kinds[index] !== kind) continue;
      const name = fieldNames[index] as Name;
      // a trace id that is a number stands in its column as text and here for its type
      if (name.column && !(kind === LITERAL && (name.text === 'trace_id' || name.text === 'span_id'))) continue;
      if (any) this.#bytes[this.length++] = COMMA;
      else this.bytes(kind === STRING ? FIELDS : NUMBERS);
      any = true;
      this.bytes(name.json);
      this.#token(draft, index);
    }
    if (any) this.#bytes[this.length++] = 0x7d;
  }

  /** Ends the row; gives its length. */
  close(): number {
    this.#bytes[this.length++] = 0x7d;
    this.#bytes[this.length++] = 0x0a;
    return this.length - this.#rowStart;
  }

  #token(draft: Draft, index: number): void {
    this.#copy(draft.inArena[index] === 1 ? draft.arena : draft.body, draft.starts[index] as number, draft.ends[index] as number);
  }

  #copy(source: Uint8Array, start: number, end: number): void {
    const target = this.#bytes;
    let to = this.length;
    if (end - start > 200) to += (source as Buffer).copy(target, to, start, end);
    else for (let from = start; from < end; from++) target[to++] = source[from] as number;
    this.length = to;
  }
}

/** How many digits a whole number has. */
function placesOf(number: number): number {
  let places = 1;
  for (let bound = 10; number >= bound; bound *= 10) places += 1;
  return places;
}

export type { RowBuffer };
