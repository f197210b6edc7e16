import { lookIntoFrames, readFrames } from './frames.ts';
import { COLUMN_NAMES, DICTIONARY_FLAGS, DICTIONARY_VERSION, HEADS, MAX_KEYS, MAX_ROWS, type ColumnName } from './layout.ts';

/** Strings in Native's form: string i is `bytes[starts[i]..ends[i])`. */
export type StringView = { readonly starts: Uint32Array; readonly ends: Uint32Array; readonly from: number; readonly to: number };

/** Words as codes into keys. */
export type WordView = { readonly keys: StringView; readonly codes: Uint16Array };

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
  /** How many fields, and JSON names, the rows up to each have. */
  readonly fieldEnds: Uint32Array;
  readonly jsonEnds: Uint32Array;
};

/** Why a value is not the columns that its headers say. */
class Wrong extends Error {}

const scratch = Buffer.allocUnsafeSlow(8 * 1024 * 1024);
const NO_STRINGS: StringView = { starts: new Uint32Array(0), ends: new Uint32Array(0), from: 0, to: 0 };
const NO_WORDS: WordView = { keys: NO_STRINGS, codes: new Uint16Array(0) };

/**
 * Reads the value of a record with the encoding `columns`, and checks all of it: frames, names and types of the columns, that each has
 * `count` values, and that nothing is left over. So it can be passed on as it is, and cannot reach into the next record's columns.
 * Returns what is wrong as a string. The view is valid until the next call.
 */
export function readColumns(value: Buffer, count: number): ColumnsView | string {
  return read(value, count, true);
}

/** The same, where only what is wrong is asked: null for nothing. A third cheaper, since nothing is kept of strings and codes. */
export function checkColumns(value: Buffer, count: number): string | null {
  const view = read(value, count, false);
  return typeof view === 'string' ? view : null;
}

function read(value: Buffer, count: number, keeps: boolean): ColumnsView | string {
  if (count < 1 || count > MAX_ROWS) return `its header count must be 1 to ${String(MAX_ROWS)}`;
  const bytes = keeps ? readFrames(value, scratch) : lookIntoFrames(value, scratch);
  if (bytes === null) return 'its frames cannot be decompressed';
  try {
    return new Cursor(bytes, count, keeps).columns();
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

/** The high half of 1900 in nanoseconds: the table's DateTime64 begins there, and ends with what 64 bits hold. */
const MIN_TIME_HIGH = Math.floor((-2_208_988_800 * 1e9) / 4_294_967_296);

class Cursor {
  readonly #bytes: Buffer;
  readonly #count: number;
  /** Whether strings and codes are for a view; else they are only checked. */
  readonly #keeps: boolean;
  #at = 0;
  #column: ColumnName = '_time';

  constructor(bytes: Buffer, count: number, keeps: boolean) {
    this.#bytes = bytes;
    this.#count = count;
    this.#keeps = keeps;
  }

  columns(): ColumnsView {
    const count = this.#count;
    const time = this.#fixed('_time', 8);
    this.#checkTimes(time);
    const streamId = this.#fixed('stream_id', 8);
    const severity = this.#fixed('severity', 1);
    const pattern = this.#fixed('pattern', 8);
    const level = this.#wordColumn('level');
    const service = this.#wordColumn('service');
    const traceId = this.#stringColumn('trace_id');
    const spanId = this.#stringColumn('span_id');
    const message = this.#stringColumn('_msg');
    const [fieldEnds, names] = this.#listColumn('fields');
    const values = this.#strings(fieldEnds[this.#count - 1] as number);
    const [jsonEnds, jsonNames] = this.#listColumn('json_keys');
    if (this.#at !== this.#bytes.length) throw new Wrong(`${String(this.#bytes.length - this.#at)} bytes follow its last column`);
    const fixed = { count, bytes: this.#bytes, time, streamId, severity, pattern };
    return { ...fixed, level, service, traceId, spanId, message, names, values, jsonNames, fieldEnds, jsonEnds };
  }

  #head(column: ColumnName): void {
    this.#column = column;
    const head = HEADS[column];
    const end = this.#at + head.length;
    if (head.compare(this.#bytes, this.#at, Math.min(end, this.#bytes.length)) !== 0)
      throw new Wrong(`column ${String(COLUMN_NAMES.indexOf(column) + 1)} is not ${column} of the expected type`);
    this.#at = end;
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new Wrong(`column ${this.#column} ends before its last value`);
    this.#at = at + length;
    return at;
  }

  #fixed(column: ColumnName, width: number): number {
    this.#head(column);
    return this.#take(width * this.#count);
  }

  #checkTimes(at: number): void {
    const end = at + 8 * this.#count;
    for (let i = at + 4; i < end; i += 8)
      if (this.#bytes.readInt32LE(i) < MIN_TIME_HIGH) throw new Wrong('column _time has a value before the year 1900');
  }

  #number(): number {
    const at = this.#take(8);
    if (this.#bytes.readUInt32LE(at + 4) !== 0) throw new Wrong(`column ${this.#column} has a size over 2^32`);
    return this.#bytes.readUInt32LE(at);
  }

  #stringColumn(column: ColumnName): StringView {
    this.#head(column);
    return this.#strings(this.#count);
  }

  #strings(count: number): StringView {
    const bytes = this.#bytes;
    const end = bytes.length;
    // each has at least the byte of its length
    if (count > end - this.#at) throw new Wrong(`column ${this.#column} ends before its last value`);
    const kept = this.#keeps ? count : 0;
    const starts = new Uint32Array(kept);
    const ends = new Uint32Array(kept);
    const from = this.#at;
    let at = from;
    for (let i = 0; i < count; i++) {
      let length = at < end ? (bytes[at++] as number) : 128;
      if (length > 127) {
        length &= 127;
        for (let factor = 128; ; factor *= 128) {
          if (at >= end || factor > 4_294_967_296) throw new Wrong(`column ${this.#column} ends before its last value`);
          const byte = bytes[at++] as number;
          length += (byte & 127) * factor;
          if (byte < 128) break;
        }
      }
      starts[i] = at;
      at += length;
      if (at > end) throw new Wrong(`column ${this.#column} ends before its last value`);
      ends[i] = at;
    }
    this.#at = at;
    return { starts, ends, from, to: at };
  }

  #version(): void {
    if (this.#number() !== DICTIONARY_VERSION) throw new Wrong(`the dictionary of column ${this.#column} has an unknown version`);
  }

  #wordColumn(column: ColumnName): WordView {
    this.#head(column);
    this.#version();
    return this.#words(this.#count);
  }

  #words(count: number): WordView {
    const flags = this.#number();
    if ((flags & ~0xff) !== DICTIONARY_FLAGS || (flags & 0xff) > 1)
      throw new Wrong(`the dictionary of column ${this.#column} has flags that are not supported`);
    const size = this.#number();
    if (size > MAX_KEYS) throw new Wrong(`the dictionary of column ${this.#column} has more than ${String(MAX_KEYS)} keys`);
    const keys = this.#strings(size);
    if (this.#number() !== count) throw new Wrong(`column ${this.#column} does not have as many values as its record has rows`);
    const wide = (flags & 0xff) === 1;
    const at = this.#take(wide ? 2 * count : count);
    if (!this.#keeps) {
      this.#checkCodes(at, count, wide, size);
      return { keys, codes: NO_WORDS.codes };
    }
    const codes = new Uint16Array(count);
    if (wide) for (let i = 0; i < count; i++) codes[i] = this.#bytes.readUInt16LE(at + 2 * i);
    else codes.set(this.#bytes.subarray(at, at + count));
    for (let i = 0; i < count; i++)
      if ((codes[i] as number) >= size) throw new Wrong(`column ${this.#column} has a code that its dictionary does not have`);
    return { keys, codes };
  }

  #checkCodes(at: number, count: number, wide: boolean, size: number): void {
    const bytes = this.#bytes;
    let largest = 0;
    if (wide)
      for (let i = at; i < at + 2 * count; i += 2) largest = Math.max(largest, (bytes[i] as number) | ((bytes[i + 1] as number) << 8));
    else for (let i = at; i < at + count; i++) largest = Math.max(largest, bytes[i] as number);
    if (count > 0 && largest >= size) throw new Wrong(`column ${this.#column} has a code that its dictionary does not have`);
  }

  /** A column of lists of words: where each row's list ends, and the words of all. */
  #listColumn(column: ColumnName): [Uint32Array, WordView] {
    this.#head(column);
    this.#version();
    const at = this.#take(8 * this.#count);
    const ends = new Uint32Array(this.#count);
    let before = 0;
    for (let i = 0; i < this.#count; i++) {
      const end = this.#bytes.readUInt32LE(at + 8 * i);
      if (end < before || this.#bytes.readUInt32LE(at + 8 * i + 4) !== 0) throw new Wrong(`column ${column} has lists that overlap`);
      ends[i] = end;
      before = end;
    }
    return [ends, before === 0 ? NO_WORDS : this.#words(before)];
  }
}
