import { formatTime } from '../../core/time.ts';
import type { ColumnsView } from '../../logs/columns/column-reader.ts';
import { stringAt, timeAt, wordAt } from '../../logs/columns/row-reader.ts';
import type { WordView } from '../../rows/word-view.ts';
import { GroupTable } from '../base/group-table.ts';
import type { Batch } from '../base/processor.ts';
import { minuteOf } from '../base/record-groups.ts';
import { once, RecordRows } from './record-rows.ts';

/** The entries of a record of the log, for rules over them. */
export class LogRows extends RecordRows {
  #view: ColumnsView | null = null;
  #batch: Batch | null = null;
  #minutes = new Int32Array(0);
  /** The streams of the record by the places of their ids, and the place of each row's. */
  readonly #streams = new GroupTable();
  #streamTexts: string[] = [];
  #places = new Uint32Array(0);
  #hasMinutes = false;
  #hasStreams = false;

  /** Begins with a record that has entries. */
  read(batch: Batch & { readonly columns: ColumnsView }): this {
    this.#batch = batch;
    this.#view = batch.columns;
    this.begin();
    this.#hasMinutes = this.#hasStreams = false;
    return this;
  }

  get count(): number {
    return this.#columns.count;
  }

  get minutes(): Int32Array {
    if (!this.#hasMinutes) this.#findMinutes();
    return this.#minutes;
  }

  protected codesOf(field: string): Uint16Array | Uint32Array | null {
    if (field === 'level') return this.#columns.level.codes;
    if (field === 'service') return this.#columns.service.codes;
    if (field !== '_stream') return null;
    if (!this.#hasStreams) this.#findStreams();
    return this.#places;
  }

  protected readerOf(field: string): ((row: number) => string) | null {
    return this.#columnReader(field) ?? this.#fieldReader(field);
  }

  get #columns(): ColumnsView {
    if (this.#view === null) throw new Error('BUG: no record was read.');
    return this.#view;
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

  #fieldReader(field: string): ((row: number) => string) | null {
    const view = this.#columns;
    const { names, values, fieldEnds, bytes } = view;
    const wanted = Buffer.from(field);
    let code = -1;
    for (let key = 0; key < names.keys.count && code < 0; key++) {
      const start = names.keys.starts[key] as number;
      const length = (names.keys.ends[key] as number) - start;
      if (length === wanted.length && bytes.compare(wanted, 0, length, start, start + length) === 0) code = key;
    }
    if (code < 0) return null;
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

/** Reads words, each of which is decoded once. */
function wordReader(view: ColumnsView, words: WordView): (row: number) => string {
  const known: (string | undefined)[] = [];
  const { codes } = words;
  return (row) => (known[codes[row] as number] ??= wordAt(view, words, row));
}
