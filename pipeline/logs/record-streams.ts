import { isStream } from '../core/labels.ts';
import { lookIntoFrames } from '../rows/frames.ts';
import { MAX_ROWS } from '../rows/native.ts';
import { StringView } from '../rows/string-view.ts';
import { idText } from './id-text.ts';
import { STREAM_COLUMNS, STREAM_HEADS } from './stream-list.ts';

/** A stream in a record's header: its label set, and the days (since the epoch) of which the record has entries of it. */
export type StreamDays = { readonly text: string; readonly days: readonly number[] };

/** A stream of a record, where it lies: valid until the next one is read. `high`, `low`: its id, as two signed halves. */
export interface StreamView {
  readonly high: number;
  readonly low: number;
  text(): string;
}

/** Days are this far from 1970 at most. */
export const MAX_DAY = 9_999_999;
const SCRATCH_BYTES = 65_536;

/**
 * The streams of a record's entries. They stay compressed, as they came: those of a record are read at most twice, and a sink holds
 * many records. All of it is checked when it is made.
 */
export class RecordStreams {
  readonly #header: Buffer;
  readonly count: number;
  /** The first day, of all streams, of which the record has entries; Infinity where it has none. */
  readonly firstDay: number;

  private constructor(header: Buffer, count: number, firstDay: number) {
    this.#header = header;
    this.count = count;
    this.firstDay = firstDay;
  }

  /** Of what `StreamList.encode` has made; null where it is no such header. */
  static read(header: Buffer): RecordStreams | null {
    if (header.length === 0) return NONE;
    if (!block.read(header)) return null;
    let firstDay = Infinity;
    for (let index = 0; index < block.dayCount; index++) {
      const day = block.dayAt(index);
      if (Math.abs(day) > MAX_DAY) return null;
      firstDay = Math.min(firstDay, day);
    }
    for (let row = 0; row < block.count; row++) if (!block.hasText(row)) return null;
    return new RecordStreams(header, block.count, firstDay);
  }

  static readonly none = new RecordStreams(Buffer.alloc(0), 0, Infinity);

  /** Calls back for each stream and each of its days. What is called must not read or compress another record. */
  forEach(take: (stream: StreamView, day: number) => void): void {
    if (this.count === 0) return;
    if (!block.read(this.#header)) throw new Error('BUG: a header that was read before cannot be read.');
    for (let index = 0; block.row < block.count; block.row++)
      for (const end = block.dayEnd(block.row); index < end; index++) take(block, block.dayAt(index));
  }

  /** All of it, by stream id. */
  toMap(): Map<string, StreamDays> {
    const streams = new Map<string, { readonly text: string; readonly days: number[] }>();
    this.forEach((stream, day) => {
      const id = idText(stream.high, stream.low);
      const known = streams.get(id);
      if (known === undefined) streams.set(id, { text: stream.text(), days: [day] });
      else known.days.push(day);
    });
    return streams;
  }
}

const NONE = RecordStreams.none;

/** Reads header after header, each into the same object. */
class Block implements StreamView {
  count = 0;
  row = 0;
  dayCount = 0;
  readonly #texts = new StringView();
  #bytes: Buffer = Buffer.alloc(0);
  #data: DataView = new DataView(new ArrayBuffer(0));
  #ids = 0;
  #dayEnds = 0;
  #days = 0;

  /** Takes a header; whether it holds these columns and nothing else. */
  read(header: Buffer): boolean {
    const bytes = lookIntoFrames(header, scratch);
    if (bytes === null) return false;
    this.#bytes = bytes;
    this.#data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.row = 0;
    return this.#readColumns(bytes);
  }

  get high(): number {
    return this.#data.getInt32(this.#ids + 8 * this.row + 4, true);
  }

  get low(): number {
    return this.#data.getInt32(this.#ids + 8 * this.row, true);
  }

  text(): string {
    return this.#bytes.toString('utf8', this.#texts.starts[this.row], this.#texts.ends[this.row]);
  }

  hasText(row: number): boolean {
    return isStream(this.#bytes, this.#texts.starts[row] as number, this.#texts.ends[row] as number);
  }

  dayEnd(row: number): number {
    return this.#data.getUint32(this.#dayEnds + 8 * row, true);
  }

  dayAt(index: number): number {
    return this.#data.getInt32(this.#days + 4 * index, true);
  }

  #readColumns(bytes: Buffer): boolean {
    if (bytes[0] !== STREAM_COLUMNS.length) return false;
    let [at, count] = [1, 0];
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = bytes[at++] ?? 0;
      count |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    if (count < 1 || count > MAX_ROWS) return false;
    this.count = count;
    this.#ids = afterHead(bytes, at, 0);
    at = afterHead(bytes, this.#ids + 8 * count, 1);
    if (Number.isNaN(at) || !this.#texts.read(bytes, at, count)) return false;
    this.#dayEnds = afterHead(bytes, this.#texts.to, 2);
    this.#days = this.#dayEnds + 8 * count;
    return this.#days <= bytes.length && this.#readDayEnds(bytes.length);
  }

  /** Each stream has a day, and there are as many as stated. */
  #readDayEnds(end: number): boolean {
    let before = 0;
    for (let row = 0; row < this.count; row++) {
      const days = this.dayEnd(row);
      if (days <= before || this.#data.getUint32(this.#dayEnds + 8 * row + 4, true) !== 0) return false;
      before = days;
    }
    this.dayCount = before;
    return this.#days + 4 * before === end;
  }
}

/** Where the data of a column begins whose head is at `at`; NaN where it is not there. */
function afterHead(bytes: Buffer, at: number, column: number): number {
  const head = STREAM_HEADS[column] as Buffer;
  if (Number.isNaN(at) || at + head.length > bytes.length) return NaN;
  for (let byte = 0; byte < head.length; byte++) if (bytes[at + byte] !== head[byte]) return NaN;
  return at + head.length;
}

const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
const block = new Block();
