import { lookIntoFrames, readFrames } from './frames.ts';
import { COLUMN_NAMES, DICTIONARY_FLAGS, DICTIONARY_VERSION, HEADS, MAX_KEYS, MAX_ROWS, type ColumnName } from './layout.ts';
import { StringView } from './string-view.ts';
import { WordView } from './word-view.ts';

/**
 * The columns of a record, where they lie in its decompressed bytes. Numbers that are not aligned are read by the offset at which their
 * column begins. Valid until the next record is read.
 */
export type ColumnsView = {
  readonly count: number;
  readonly bytes: Buffer;
  /** Where the columns of fixed size begin. */
  readonly time: number;
  readonly streamId: number;
  readonly severity: number;
  readonly pattern: number;
  readonly level: WordView;
  readonly service: WordView;
  readonly traceId: StringView;
  readonly spanId: StringView;
  readonly message: StringView;
  readonly names: WordView;
  readonly values: StringView;
  readonly jsonNames: WordView;
  /** How many fields, and JSON names, the rows up to each have; they may be longer than `count`. */
  readonly fieldEnds: Uint32Array;
  readonly jsonEnds: Uint32Array;
};

/** Why a value is not the columns that its headers state. */
class Wrong extends Error {}

const scratch = Buffer.allocUnsafeSlow(8 * 1024 * 1024);
const scratchData = new DataView(scratch.buffer);

/**
 * Reads the value of a record with the encoding `columns`, and checks all of it: frames, names and types of the columns, that each has
 * `count` values, and that nothing is left over. So it can be passed on as it is, and cannot reach into the next record's columns.
 * Returns what is wrong as a string. The view is valid until the next call.
 */
export function readColumns(value: Buffer, count: number): ColumnsView | string {
  return read(count, () => readFrames(value, scratch));
}

/** The same, but returns only what is wrong: null for nothing. */
export function checkColumns(value: Buffer, count: number): string | null {
  const view = read(count, () => lookIntoFrames(value, scratch));
  return typeof view === 'string' ? view : null;
}

function read(count: number, content: () => Buffer | null): ColumnsView | string {
  if (count < 1 || count > MAX_ROWS) return `its header count must be 1 to ${String(MAX_ROWS)}`;
  const bytes = content();
  if (bytes === null) return 'its frames cannot be decompressed';
  try {
    columns.read(bytes, count);
    return columns;
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

/** The high half of 1900 in nanoseconds: the table's DateTime64 begins there, and ends with what 64 bits hold. */
const MIN_TIME_HIGH = Math.floor((-2_208_988_800 * 1e9) / 4_294_967_296);

/** Reads record after record, each into the same objects. */
class Columns implements ColumnsView {
  bytes: Buffer = scratch;
  count = 0;
  time = 0;
  streamId = 0;
  severity = 0;
  pattern = 0;
  readonly level = new WordView();
  readonly service = new WordView();
  readonly traceId = new StringView();
  readonly spanId = new StringView();
  readonly message = new StringView();
  readonly names = new WordView();
  readonly values = new StringView();
  readonly jsonNames = new WordView();
  fieldEnds = new Uint32Array(64);
  jsonEnds = new Uint32Array(64);
  #data: DataView = scratchData;
  #at = 0;
  #column: ColumnName = '_time';

  read(bytes: Buffer, count: number): void {
    this.bytes = bytes;
    this.#data = bytes.buffer === scratch.buffer ? scratchData : new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.count = count;
    this.#at = 0;
    if (this.fieldEnds.length < count) {
      this.fieldEnds = new Uint32Array(Math.min(2 * count, MAX_ROWS));
      this.jsonEnds = new Uint32Array(this.fieldEnds.length);
    }
    this.time = this.#fixed('_time', 8);
    this.#checkTimes();
    this.streamId = this.#fixed('stream_id', 8);
    this.severity = this.#fixed('severity', 1);
    this.pattern = this.#fixed('pattern', 8);
    this.#wordColumn('level', this.level);
    this.#wordColumn('service', this.service);
    this.#stringColumn('trace_id', this.traceId);
    this.#stringColumn('span_id', this.spanId);
    this.#stringColumn('_msg', this.message);
    this.#listColumn('fields', this.fieldEnds, this.names);
    this.#strings(this.values, this.names.count);
    this.#listColumn('json_keys', this.jsonEnds, this.jsonNames);
    if (this.#at !== bytes.length) throw new Wrong(`${String(bytes.length - this.#at)} bytes follow its last column`);
  }

  #head(column: ColumnName): void {
    this.#column = column;
    const { bytes } = this;
    const head = HEADS[column];
    const at = this.#at;
    let same = at + head.length <= bytes.length ? 0 : -1;
    while (same >= 0 && same < head.length) same = bytes[at + same] === head[same] ? same + 1 : -1;
    if (same < 0) throw new Wrong(`column ${String(COLUMN_NAMES.indexOf(column) + 1)} is not ${column} of the expected type`);
    this.#at = at + head.length;
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.bytes.length) throw this.#cutOff();
    this.#at = at + length;
    return at;
  }

  #cutOff(): Wrong {
    return new Wrong(`column ${this.#column} ends before its last value`);
  }

  #fixed(column: ColumnName, width: number): number {
    this.#head(column);
    return this.#take(width * this.count);
  }

  #checkTimes(): void {
    const data = this.#data;
    const end = this.time + 8 * this.count;
    for (let at = this.time + 4; at < end; at += 8)
      if (data.getInt32(at, true) < MIN_TIME_HIGH) throw new Wrong('column _time has a value before the year 1900');
  }

  #number(): number {
    const at = this.#take(8);
    if (this.#data.getUint32(at + 4, true) !== 0) throw new Wrong(`column ${this.#column} has a size over 2^32`);
    return this.#data.getUint32(at, true);
  }

  #stringColumn(column: ColumnName, into: StringView): void {
    this.#head(column);
    this.#strings(into, this.count);
  }

  #strings(into: StringView, count: number): void {
    if (!into.read(this.bytes, this.#at, count)) throw this.#cutOff();
    this.#at = into.to;
  }

  #version(): void {
    if (this.#number() !== DICTIONARY_VERSION) throw new Wrong(`the dictionary of column ${this.#column} has an unknown version`);
  }

  #wordColumn(column: ColumnName, into: WordView): void {
    this.#head(column);
    this.#version();
    this.#words(into, this.count);
  }

  #words(into: WordView, count: number): void {
    const flags = this.#number();
    if ((flags & ~0xff) !== DICTIONARY_FLAGS || (flags & 0xff) > 1)
      throw new Wrong(`the dictionary of column ${this.#column} has flags that are not supported`);
    const size = this.#number();
    if (size > MAX_KEYS) throw new Wrong(`the dictionary of column ${this.#column} has more than ${String(MAX_KEYS)} keys`);
    this.#strings(into.keys, size);
    if (this.#number() !== count) throw new Wrong(`column ${this.#column} does not have as many values as its record has rows`);
    const isWide = (flags & 0xff) === 1;
    const at = this.#take(isWide ? 2 * count : count);
    if (!into.read(this.#data, at, count, isWide)) throw new Wrong(`column ${this.#column} has a code that its dictionary does not have`);
  }

  /** A column of lists of words: where each row's list ends, and the words of all. */
  #listColumn(column: ColumnName, ends: Uint32Array, into: WordView): void {
    this.#head(column);
    this.#version();
    const { count } = this;
    const data = this.#data;
    const from = this.#take(8 * count);
    let before = 0;
    for (let i = 0, at = from; i < count; i++, at += 8) {
      const end = data.getUint32(at, true);
      if (end < before || data.getUint32(at + 4, true) !== 0) throw new Wrong(`column ${column} has lists that overlap`);
      ends[i] = end;
      before = end;
    }
    if (before === 0) into.clear();
    else this.#words(into, before);
  }
}

const columns = new Columns();
