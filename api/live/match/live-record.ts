import { textOf, type FieldValue, type LogEntry } from '../../../pipeline/core/entry.ts';
import { formatTime, parseTime } from '../../../pipeline/core/time.ts';
import { readColumns, type ColumnsView } from '../../../pipeline/logs/columns/column-reader.ts';
import { entryAt, stringAt, streamIdAt, timeAt } from '../../../pipeline/logs/columns/row-reader.ts';
import type { WordView } from '../../../pipeline/rows/word-view.ts';
import { entriesOf } from '../../../pipeline/logs/record-entries.ts';
import type { LogRecord } from '../../../pipeline/logs/record.ts';
import { COLUMNS } from '../../../pipeline/rows/native.ts';
import { formatStreamId } from '../../../logsql/values/stream-id.ts';
import { renderResult } from '../../query/render.ts';
import { renderTexts } from '../../select/lines.ts';

/** Fields that any record has. */
const OWN: ReadonlySet<string> = new Set(['_time', '_stream', '_stream_id', '_msg', 'level', 'service', 'trace_id', 'span_id']);

/** A record of entries for filters: its columns where they lie, and of an entry only what is read. Valid until the next one is read. */
export interface LiveRecord {
  readonly count: number;
  /** What no two different values of this field share, among the entries of this record; null where that is not cheap to find. */
  keyOf(field: string): ((row: number) => number) | null;
  /** False where no entry of the record has the field. */
  mayHave(field: string): boolean;
  /** False where no message of the record has these bytes. */
  messagesMayHave(bytes: Buffer): boolean;
  /** When it happened. Nanoseconds. */
  timeOf(row: number): bigint;
  /** The entry of a row, to be looked at by `get` alone; valid until the next call. */
  look(row: number): LogEntry;
  /** The entry of a row, as search gives it; `_stream_id` where it is wanted. */
  entry(row: number, withStreamId: boolean): LogEntry;
  /** Its JSON string: as search gives it, or as VictoriaLogs does. */
  text(row: number, asTexts: boolean): string;
}

/** The entries of a record; null where it cannot be read. */
export function liveRecordOf(record: LogRecord): LiveRecord | null {
  if (record.encoding !== COLUMNS) {
    try {
      return new PlainRecord(record);
    } catch {
      return null;
    }
  }
  const view = readColumns(record.value, record.count);
  if (typeof view === 'string') return null;
  const streams = new Map([...record.streams.toMap()].map(([id, { text }]) => [id, text]));
  return new ColumnsRecord(view, streams, record.tenantId);
}

const rendered = (entry: LogEntry, asTexts: boolean): string => (asTexts ? renderTexts(entry) : renderResult(entry));

class ColumnsRecord implements LiveRecord {
  readonly count: number;
  readonly #view: ColumnsView;
  readonly #streams: ReadonlyMap<string, string>;
  readonly #tenantId: number;
  readonly #row: RowEntry;
  readonly #texts = new Map<number, string>();
  #names: ReadonlySet<string> | null = null;

  constructor(view: ColumnsView, streams: ReadonlyMap<string, string>, tenantId: number) {
    this.count = view.count;
    this.#view = view;
    this.#streams = streams;
    this.#tenantId = tenantId;
    this.#row = new RowEntry(this);
  }

  keyOf(field: string): ((row: number) => number) | null {
    const { level, service } = this.#view;
    if (field === 'level') return (row) => level.codes[row] as number;
    if (field === 'service') return (row) => service.codes[row] as number;
    return field === '_stream' || field === '_stream_id' ? this.#streamKeys() : null;
  }

  /** Streams by numbers of their own, in the order in which they come. */
  #streamKeys(): (row: number) => number {
    const { bytes, streamId } = this.#view;
    const known = new Map<string, number>();
    let [low, high, key] = [0, 0, -1];
    return (row) => {
      const [ownLow, ownHigh] = [bytes.readInt32LE(streamId + 8 * row), bytes.readInt32LE(streamId + 8 * row + 4)];
      if (key >= 0 && ownLow === low && ownHigh === high) return key;
      [low, high] = [ownLow, ownHigh];
      const text = `${String(low)}/${String(high)}`;
      key = known.get(text) ?? known.size;
      known.set(text, key);
      return key;
    };
  }

  mayHave(field: string): boolean {
    if (OWN.has(field)) return true;
    this.#names ??= new Set(wordsOf(this.#view, this.#view.names));
    return this.#names.has(field);
  }

  messagesMayHave(part: Buffer): boolean {
    const { bytes, message } = this.#view;
    return bytes.subarray(message.from, message.to).includes(part);
  }

  timeOf(row: number): bigint {
    return timeAt(this.#view, row);
  }

  look(row: number): LogEntry {
    this.#row.row = row;
    return this.#row;
  }

  value(row: number, field: string): FieldValue | undefined {
    const view = this.#view;
    switch (field) {
      case '_time':
        return formatTime(timeAt(view, row));
      case '_msg':
        return stringAt(view, view.message, row);
      case '_stream':
        return this.#streamText(streamIdAt(view, row));
      case '_stream_id':
        return formatStreamId(this.#tenantId, streamIdAt(view, row));
      case 'level':
        return stringAt(view, view.level.keys, view.level.codes[row] as number);
      case 'service':
        return stringAt(view, view.service.keys, view.service.codes[row] as number);
      case 'trace_id':
        return stringAt(view, view.traceId, row);
      case 'span_id':
        return stringAt(view, view.spanId, row);
      default:
        return this.#field(row, field);
    }
  }

  #field(row: number, field: string): string | undefined {
    if (!this.mayHave(field)) return undefined;
    const view = this.#view;
    const { codes, keys } = view.names;
    const end = view.fieldEnds[row] as number;
    for (let at = row === 0 ? 0 : (view.fieldEnds[row - 1] as number); at < end; at++)
      if (stringAt(view, keys, codes[at] as number) === field) return stringAt(view, view.values, at);
    return undefined;
  }

  readonly #streamText = (id: string): string => this.#streams.get(id) ?? '{}';

  entry(row: number, withStreamId: boolean): LogEntry {
    const entry = entryAt(this.#view, row, this.#streamText);
    return withStreamId ? entry.set('_stream_id', formatStreamId(this.#tenantId, streamIdAt(this.#view, row))) : entry;
  }

  text(row: number, asTexts: boolean): string {
    const key = 2 * row + (asTexts ? 1 : 0);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const made = rendered(this.entry(row, asTexts), asTexts);
    this.#texts.set(key, made);
    return made;
  }
}

const wordsOf = (view: ColumnsView, { keys }: WordView): string[] =>
  Array.from({ length: keys.count }, (_none, code) => stringAt(view, keys, code));

/** A row whose values are made when they are read. */
class RowEntry extends Map<string, FieldValue> {
  row = 0;
  readonly #record: ColumnsRecord;
  constructor(record: ColumnsRecord) {
    super();
    this.#record = record;
  }
  override get(field: string): FieldValue | undefined {
    return this.#record.value(this.row, field);
  }
}

/** Of an encoding that other producers write: its entries are made as a whole. */
class PlainRecord implements LiveRecord {
  readonly count: number;
  /** With their `_stream_id`. */
  readonly #entries: readonly LogEntry[];

  constructor(record: LogRecord) {
    this.#entries = entriesOf(record);
    this.count = this.#entries.length;
    const ids = new Map([...record.streams.toMap()].map(([id, { text }]) => [text, id]));
    for (const entry of this.#entries)
      entry.set('_stream_id', formatStreamId(record.tenantId, ids.get(textOf(entry.get('_stream'))) ?? '0'));
  }
  keyOf(): null {
    return null;
  }
  mayHave(): boolean {
    return true;
  }
  messagesMayHave(): boolean {
    return true;
  }
  timeOf(row: number): bigint {
    return parseTime(textOf(this.look(row).get('_time'))) ?? 0n;
  }
  look(row: number): LogEntry {
    return this.#entries[row] as LogEntry;
  }
  entry(row: number, withStreamId: boolean): LogEntry {
    const entry = new Map(this.look(row));
    if (!withStreamId) entry.delete('_stream_id');
    return entry;
  }
  text(row: number, asTexts: boolean): string {
    return rendered(this.entry(row, asTexts), asTexts);
  }
}
