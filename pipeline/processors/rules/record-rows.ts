import { AndFilter, NotFilter, OrFilter } from '../../../logsql/filters/logic.ts';
import { RegexpFilter } from '../../../logsql/filters/regexp.ts';
import { StreamFilter } from '../../../logsql/filters/stream.ts';
import type { Filter } from '../../../logsql/base/types.ts';
import { formatTime } from '../../core/time.ts';
import type { ColumnsView } from '../../logs/columns/column-reader.ts';
import { stringAt, timeAt, wordAt } from '../../logs/columns/row-reader.ts';
import type { WordView } from '../../rows/word-view.ts';
import { GroupTable } from '../base/group-table.ts';
import type { Batch } from '../base/processor.ts';
import { minuteOf } from '../base/record-groups.ts';

/** The result of a filter for a record: the same for each row, or one for each. */
export type Predicate = boolean | ((row: number) => boolean);

/** Work: a look at a row, and a character that a filter or a measure reads. A unit is about a nanosecond. */
const LOOK = 60;
const CHARACTER = 2;
/** A character that a regexp reads, for each instruction of its program, and the size of a selector's, which is not known. */
const STEP = 1;
const SELECTOR_PROGRAM = 1000;
/** Characters of a filter's text that read each character of a value once more: the words of a list, about. */
const WORDS = 16;

/**
 * The rows of one record as LogsQL's filters take them, decoded as far as filters read them: one object, record after record. `work`: what
 * that has cost, as a function of the entries and of what was read.
 */
export class RecordRows extends Map<string, string> {
  work = 0;
  row = 0;
  #view: ColumnsView | null = null;
  #batch: Batch | null = null;
  readonly #readers = new Map<string, (row: number) => string>();
  readonly #absent = new Set<string>();
  #minutes = new Int32Array(0);
  /** The streams of the record by the places of their ids, and the place of each row's. */
  readonly #streams = new GroupTable();
  #streamTexts: string[] = [];
  #places = new Uint32Array(0);
  #hasMinutes = false;
  #hasStreams = false;

  /** Begins with a record that has entries. */
  read(batch: Batch & { readonly columns: ColumnsView }): void {
    this.#batch = batch;
    this.#view = batch.columns;
    this.#readers.clear();
    this.#absent.clear();
    this.#hasMinutes = this.#hasStreams = false;
    this.work = 0;
  }

  get count(): number {
    return this.#columns.count;
  }

  /** The value of a field in the row. */
  override get(field: string): string {
    const text = (this.#readers.get(field) ?? this.#readerOf(field))(this.row);
    this.work += CHARACTER * text.length;
    return text;
  }

  /** True where no row of the record has the field. */
  lacks(field: string): boolean {
    if (!this.#readers.has(field)) this.#readerOf(field);
    return this.#absent.has(field);
  }

  /** The minutes of the rows, since 1970. */
  get minutes(): Int32Array {
    if (!this.#hasMinutes) this.#findMinutes();
    return this.#minutes;
  }

  /** The result of a filter for the rows: parts about absent fields, or about words, are evaluated once for all rows. */
  predicate(filter: Filter): Predicate {
    if (filter instanceof NotFilter) {
      const part = this.predicate(filter.parts[0]);
      return typeof part === 'boolean' ? !part : (row): boolean => !part(row);
    }
    if (filter instanceof AndFilter || filter instanceof OrFilter) return this.#composed(filter.parts, filter instanceof AndFilter);
    return this.#leaf(filter);
  }

  /** All parts (`isAll`), or one at least. */
  #composed(parts: readonly Filter[], isAll: boolean): Predicate {
    const open: ((row: number) => boolean)[] = [];
    for (const part of parts) {
      const result = this.predicate(part);
      if (result === !isAll) return !isAll;
      if (typeof result !== 'boolean') open.push(result);
    }
    const [first] = open;
    if (first === undefined) return isAll;
    if (open.length === 1) return first;
    return isAll ? (row): boolean => open.every((part) => part(row)) : (row): boolean => open.some((part) => part(row));
  }

  #leaf(filter: Filter): Predicate {
    const weight = weightOf(filter);
    const matches = (row: number): boolean => {
      this.row = row;
      const before = this.work;
      const found = filter.matches(this);
      this.work = before + LOOK + weight * (this.work - before);
      return found;
    };
    if (filter.fields.every((field) => this.lacks(field))) return matches(0);
    const [field = '', ...others] = filter.fields;
    const codes = others.length > 0 ? null : this.#codesOf(field);
    if (codes === null) return matches;
    const known: (boolean | undefined)[] = [];
    return (row) => {
      const code = codes[row] as number;
      this.work += 1;
      return (known[code] ??= matches(row));
    };
  }

  /** Numbers that are equal where the values of a field are; null where that is not known. */
  #codesOf(field: string): Uint16Array | Uint32Array | null {
    if (field === 'level') return this.#columns.level.codes;
    if (field === 'service') return this.#columns.service.codes;
    if (field !== '_stream') return null;
    if (!this.#hasStreams) this.#findStreams();
    return this.#places;
  }

  get #columns(): ColumnsView {
    if (this.#view === null) throw new Error('BUG: no record was read.');
    return this.#view;
  }

  #readerOf(field: string): (row: number) => string {
    const reader = this.#columnReader(field) ?? this.#fieldReader(field);
    this.#readers.set(field, reader);
    return reader;
  }

  #columnReader(field: string): ((row: number) => string) | null {
    const view = this.#columns;
    switch (field) {
      case '_msg':
        return once((row) => stringAt(view, view.message, row));
      case '_time':
        return (row) => formatTime(timeAt(view, row));
      case '_stream':
        if (!this.#hasStreams) this.#findStreams();
        return (row) => this.#streamTexts[this.#places[row] as number] ?? '';
      case 'level':
        return wordReader(view, view.level);
      case 'service':
        return wordReader(view, view.service);
      case 'trace_id':
        return (row) => stringAt(view, view.traceId, row);
      case 'span_id':
        return (row) => stringAt(view, view.spanId, row);
      default:
        return null;
    }
  }

  #fieldReader(field: string): (row: number) => string {
    const view = this.#columns;
    const { names, values, fieldEnds, bytes } = view;
    const wanted = Buffer.from(field);
    let code = -1;
    for (let key = 0; key < names.keys.count && code < 0; key++) {
      const start = names.keys.starts[key] as number;
      const length = (names.keys.ends[key] as number) - start;
      if (length === wanted.length && bytes.compare(wanted, 0, length, start, start + length) === 0) code = key;
    }
    if (code < 0) {
      this.#absent.add(field);
      return () => '';
    }
    const { codes } = names;
    return once((row) => {
      const end = fieldEnds[row] as number;
      for (let at = row === 0 ? 0 : (fieldEnds[row - 1] as number); at < end; at++)
        if (codes[at] === code) return stringAt(view, values, at);
      return '';
    });
  }

  #findMinutes(): void {
    const { bytes, time, count } = this.#columns;
    if (this.#minutes.length < count) this.#minutes = new Int32Array(count);
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let row = 0, at = time; row < count; row++, at += 8)
      this.#minutes[row] = minuteOf(data.getInt32(at + 4, true), data.getUint32(at, true));
    this.#hasMinutes = true;
  }

  #findStreams(): void {
    const { bytes, streamId, count } = this.#columns;
    if (this.#places.length < count) this.#places = new Uint32Array(count);
    const table = this.#streams;
    table.clear();
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let row = 0, at = streamId; row < count; row++, at += 8)
      this.#places[row] = table.at(0, 0, data.getInt32(at + 4, true), data.getInt32(at, true), 0, 0);
    this.#streamTexts = new Array<string>(table.size).fill('');
    this.#batch?.streams.forEach((stream) => {
      const place = table.find(0, 0, stream.high, stream.low, 0, 0);
      if (place >= 0) this.#streamTexts[place] = stream.text();
    });
    this.#hasStreams = true;
  }
}

/** Reads a row once for consecutive calls. */
function once(read: (row: number) => string): (row: number) => string {
  let [last, text] = [-1, ''];
  return (row) => {
    if (row !== last) [last, text] = [row, read(row)];
    return text;
  };
}

/** Reads words, each of which is decoded once. */
function wordReader(view: ColumnsView, words: WordView): (row: number) => string {
  const known: (string | undefined)[] = [];
  const { codes } = words;
  return (row) => (known[codes[row] as number] ??= wordAt(view, words, row));
}

const weights = new WeakMap<Filter, number>();

/** How often a filter reads each character, about. */
function weightOf(filter: Filter): number {
  let weight = weights.get(filter);
  if (weight === undefined) weights.set(filter, (weight = weigh(filter)));
  return weight;
}

function weigh(filter: Filter): number {
  if (filter instanceof RegexpFilter) return 1 + (STEP * filter.regexp.size) / CHARACTER;
  if (filter instanceof StreamFilter) return filter.hasRegexp ? SELECTOR_PROGRAM : 1;
  return 1 + Math.floor(filter.toString().length / WORDS);
}
