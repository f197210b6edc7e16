import type { MessagePatterns } from '../../clusterer/message-patterns.ts';
import type { Halves } from '../../rows/halves.ts';
import { Dictionary } from '../../rows/dictionary.ts';
import { MAX_KEYS, MAX_ROWS } from '../../rows/native.ts';
import { StringColumn } from '../../rows/string-column.ts';
import type { WordIds, WordTable } from '../../rows/words.ts';

/** What the words of all columns of a process have in common: their ids, so that columns of several requests can be joined. */
export type Vocabulary = { readonly names: WordIds; readonly levels: WordTable; readonly services: WordTable };

/**
 * Rows as columns that grow: what a record of `logs.v1` is before it is encoded. The caller adds one value to each column for each row,
 * and then calls `closeRow`. Memory is kept when it is cleared, so that it can be used again.
 */
export class LogColumns {
  count = 0;
  /** Little-endian 64-bit integers, two words each. */
  time: Uint32Array;
  streamId: Uint32Array;
  severity: Uint8Array;
  pattern: Uint32Array;
  readonly level: Dictionary;
  readonly service: Dictionary;
  readonly traceId: StringColumn;
  readonly spanId: StringColumn;
  readonly message: StringColumn;
  readonly names: Dictionary;
  readonly values: StringColumn;
  /** Names of the fields whose values are JSON numbers or booleans. */
  readonly jsonNames: Dictionary;
  /** How many fields, and JSON names, the rows up to each have. */
  fieldEnds: Uint32Array;
  jsonEnds: Uint32Array;
  #rows: number;

  /** `rows`: how many fit at first. */
  constructor({ names, levels, services }: Vocabulary, rows: number) {
    this.#rows = rows;
    this.time = new Uint32Array(2 * rows);
    this.streamId = new Uint32Array(2 * rows);
    this.severity = new Uint8Array(rows);
    this.pattern = new Uint32Array(2 * rows);
    this.level = new Dictionary(levels.ids, rows);
    this.service = new Dictionary(services.ids, rows);
    this.traceId = new StringColumn(rows * 16);
    this.spanId = new StringColumn(rows * 8);
    this.message = new StringColumn(rows * 96);
    this.names = new Dictionary(names, rows * 8);
    this.values = new StringColumn(rows * 64);
    this.jsonNames = new Dictionary(names, rows * 2);
    this.fieldEnds = new Uint32Array(rows);
    this.jsonEnds = new Uint32Array(rows);
  }

  clear(): void {
    this.count = 0;
    for (const column of [this.level, this.service, this.traceId, this.spanId, this.message, this.names, this.values, this.jsonNames])
      column.clear();
  }

  /** Bytes of the variable part and of the fixed one: about what the encoded columns have before they are compressed. */
  get size(): number {
    const { traceId, spanId, message, values, names, jsonNames } = this;
    return this.count * 45 + traceId.length + spanId.length + message.length + values.length + names.length + jsonNames.length;
  }

  /** How many rows fit. */
  get capacity(): number {
    return this.#rows;
  }

  /** Memory that it keeps when it is cleared, in bytes; most of it. */
  get bytes(): number {
    const { traceId, spanId, message, values, names } = this;
    return (
      this.#rows * 45 + traceId.bytes.length + spanId.bytes.length + message.bytes.length + values.bytes.length + names.codes.length * 2
    );
  }

  /** True while `rows` more rows of `fields` fields fit into one record. */
  fits(rows: number, fields: number): boolean {
    return this.count + rows <= MAX_ROWS && this.names.words.length + fields <= MAX_KEYS;
  }

  /** Begins a row by its values of fixed size. */
  openRow(timeLow: number, timeHigh: number, stream: Halves, severity: number): void {
    const row = this.count;
    if (row >= this.#rows) this.#grow(row + 1);
    this.time[2 * row] = timeLow;
    this.time[2 * row + 1] = timeHigh;
    this.streamId[2 * row] = stream.low;
    this.streamId[2 * row + 1] = stream.high;
    this.severity[row] = severity;
    this.pattern[2 * row] = 0;
    this.pattern[2 * row + 1] = 0;
    this.level.reserve(1);
    this.service.reserve(1);
  }

  /** Sets the row's pattern, by its message, which was added last; 0 stays where the message is empty. `headerLength`: as `CanonicalEntry` has it. */
  readPattern(patterns: MessagePatterns, headerLength = -1): void {
    const { message, count } = this;
    const start = message.lastStart;
    if (start === message.length) return;
    if (headerLength < 0) patterns.read(message.bytes, start, message.length);
    else patterns.readContent(message.bytes, start + headerLength, message.length);
    this.pattern[2 * count] = patterns.low;
    this.pattern[2 * count + 1] = patterns.high;
  }

  closeRow(): void {
    this.fieldEnds[this.count] = this.names.length;
    this.jsonEnds[this.count] = this.jsonNames.length;
    this.count += 1;
  }

  /** Makes space for `more` rows. */
  reserveRows(more: number): void {
    if (this.count + more > this.#rows) this.#grow(this.count + more);
  }

  /** Adds all rows of others, of the same vocabulary. */
  append(other: LogColumns): void {
    const { count } = this;
    this.reserveRows(other.count);
    for (const column of ['time', 'streamId', 'pattern'] as const) this[column].set(other[column].subarray(0, 2 * other.count), 2 * count);
    this.severity.set(other.severity.subarray(0, other.count), count);
    appendEnds(this.fieldEnds, count, this.names.length, other.fieldEnds, other.count);
    appendEnds(this.jsonEnds, count, this.jsonNames.length, other.jsonEnds, other.count);
    for (const column of ['level', 'service', 'names', 'jsonNames'] as const) this[column].append(other[column]);
    for (const column of ['traceId', 'spanId', 'message', 'values'] as const)
      this[column].append(other[column].bytes.subarray(0, other[column].length));
    this.count += other.count;
  }

  #grow(rows: number): void {
    this.#rows = Math.max(rows, this.#rows * 2);
    for (const column of ['time', 'streamId', 'pattern'] as const) this[column] = widened(this[column], 2 * this.#rows);
    for (const column of ['fieldEnds', 'jsonEnds'] as const) this[column] = widened(this[column], this.#rows);
    const severity = new Uint8Array(this.#rows);
    severity.set(this.severity);
    this.severity = severity;
  }
}

function widened(column: Uint32Array, length: number): Uint32Array {
  const larger = new Uint32Array(length);
  larger.set(column);
  return larger;
}

function appendEnds(ends: Uint32Array, at: number, base: number, more: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) ends[at + i] = base + (more[i] as number);
}
