import { SCOPE_ALL, SCOPE_STREAM } from '../../counters/volume-row.ts';
import type { ColumnsView } from '../../logs/columns/column-reader.ts';
import type { StringView } from '../../rows/string-view.ts';
import { GroupTable } from './group-table.ts';
import type { Batch } from './processor.ts';

/**
 * The entries of one record by stream, minute and level, and by minute and level; the table's levels are codes of the record, its kinds
 * are scopes. Valid until the next record is counted.
 */
export class RecordGroups {
  readonly table = new GroupTable();
  /** The strings of the codes, a character for each byte. */
  readonly levels: string[] = [];
  #levelSizes = new Uint32Array(64);
  #serviceSizes = new Uint32Array(64);
  #nameSizes = new Uint32Array(256);

  clear(): void {
    this.levels.length = 0;
    this.table.clear();
  }

  count(view: ColumnsView): void {
    this.#lookUp(view);
    this.table.clear();
    this.#countStreams(view);
    this.#countAll();
  }

  #lookUp({ bytes, level, service, names }: ColumnsView): void {
    this.#levelSizes = sizesOf(level.keys, this.#levelSizes);
    this.#serviceSizes = sizesOf(service.keys, this.#serviceSizes);
    this.#nameSizes = sizesOf(names.keys, this.#nameSizes);
    const { starts, ends, count } = level.keys;
    this.levels.length = 0;
    for (let key = 0; key < count; key++) this.levels.push(bytes.toString('latin1', starts[key], ends[key]));
  }

  #countStreams(view: ColumnsView): void {
    const { bytes, count, time, streamId } = view;
    const { table } = this;
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const levels = view.level.codes;
    const sizeOf = this.#sizes(view);
    let [group, high, low, minute, level] = [-1, 0, 0, 0, 0];
    for (let row = 0; row < count; row++) {
      const rowLow = data.getInt32(streamId + 8 * row, true);
      const rowHigh = data.getInt32(streamId + 8 * row + 4, true);
      const rowMinute = minuteOf(data.getInt32(time + 8 * row + 4, true), data.getUint32(time + 8 * row, true));
      const rowLevel = levels[row] as number;
      if (group < 0 || rowLow !== low || rowHigh !== high || rowMinute !== minute || rowLevel !== level) {
        [high, low, minute, level] = [rowHigh, rowLow, rowMinute, rowLevel];
        group = table.at(0, SCOPE_STREAM, high, low, minute, level);
      }
      table.add(group, 1, sizeOf(row));
    }
  }

  /** Sums over all streams, which come behind those of the streams. */
  #countAll(): void {
    const { table } = this;
    const { size } = table;
    for (let group = 0; group < size; group++)
      table.add(table.at(0, SCOPE_ALL, 0, 0, table.time(group), table.level(group)), table.entries(group), table.bytes(group));
  }

  /** The bytes of an entry, as a function of its row; rows must be passed in their order. */
  #sizes({ level, service, traceId, spanId, message, names, values, fieldEnds }: ColumnsView): (row: number) => number {
    const [levels, services, nameCodes] = [level.codes, service.codes, names.codes];
    const [levelSizes, serviceSizes, nameSizes] = [this.#levelSizes, this.#serviceSizes, this.#nameSizes];
    const [traceStarts, traceEnds, spanStarts, spanEnds] = [traceId.starts, traceId.ends, spanId.starts, spanId.ends];
    const [messageStarts, messageEnds, valueStarts, valueEnds] = [message.starts, message.ends, values.starts, values.ends];
    let field = 0;
    return (row) => {
      let size =
        (messageEnds[row] as number) -
        (messageStarts[row] as number) +
        (levelSizes[levels[row] as number] as number) +
        (serviceSizes[services[row] as number] as number) +
        ((traceEnds[row] as number) - (traceStarts[row] as number)) +
        ((spanEnds[row] as number) - (spanStarts[row] as number));
      for (const end = fieldEnds[row] as number; field < end; field++)
        size += (nameSizes[nameCodes[field] as number] as number) + (valueEnds[field] as number) - (valueStarts[field] as number);
      return size;
    };
  }
}

const shared = new RecordGroups();
let counted: Batch | null = null;

/** Those of a record, which all processors that use them share: counted once, and valid until the call for another record. */
export function groupsOf(batch: Batch): RecordGroups {
  if (counted !== batch) {
    counted = null;
    if (batch.columns === null || batch.columns.count === 0) shared.clear();
    else shared.count(batch.columns);
    counted = batch;
  }
  return shared;
}

/** The sizes of strings, in `into` where it is large enough. */
function sizesOf({ starts, ends, count }: StringView, into: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const sizes = into.length < count ? new Uint32Array(count) : into;
  for (let i = 0; i < count; i++) sizes[i] = (ends[i] as number) - (starts[i] as number);
  return sizes;
}

/** A minute has 2^11 times this number of nanoseconds. Both are exact: what is divided has at most 53 bits. */
const MINUTE_UNITS = 29_296_875;

/** The minute of a time in nanoseconds, as a high half, which is signed, and a low one: since 1970, before it towards minus infinity. */
export const minuteOf = (high: number, low: number): number => Math.floor((high * 2_097_152 + (low >>> 11)) / MINUTE_UNITS);
