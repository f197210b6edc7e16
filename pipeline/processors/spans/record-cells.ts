import { durationBin } from '../../core/duration-bins.ts';
import { OF_OPERATION } from '../../counters/span-counts.ts';
import type { StringView } from '../../rows/string-view.ts';
import { Cells, detailOf, kindOf } from './cells.ts';
import type { SpanBatch } from './span-input.ts';

const HALF = 4_294_967_296;
const MINUTE = 60;
/** A second has 2^9 times this number of nanoseconds. Both are exact: what is divided has at most 53 bits. */
const SECOND_UNITS = 1_953_125;
/** The status of a span that failed, as OTLP numbers it. */
export const ERROR = 2;

/** The second of a time in nanoseconds, as a high half, which is signed, and a low one: since 1970, before it towards minus infinity. */
export const secondOf = (high: number, low: number): number => Math.floor((high * 8_388_608 + (low >>> 9)) / SECOND_UNITS);

const [cells, fewer] = [new Cells(), new Cells()];
let counted: SpanBatch | null = null;

/** The spans of a record by operation and minute, for all that count them: counted once, and valid until the call for another record. */
export function cellsOf(batch: SpanBatch): Cells {
  if (counted !== batch) {
    counted = null;
    cells.clear();
    count(batch, cells);
    counted = batch;
  }
  return cells;
}

/** The same without these rows, which ascend; valid until the next call for some without. */
export function cellsWithout(batch: SpanBatch, rows: readonly number[]): Cells {
  if (rows.length === 0) return cellsOf(batch);
  fewer.clear();
  count(batch, fewer, rows);
  return fewer;
}

function count({ tenantId, retentionDays, spans }: SpanBatch, into: Cells, without: readonly number[] = []): void {
  if (spans === null) return;
  const { bytes, data, time, duration, service, name, kind, status } = spans;
  const own = kindOf(retentionDays, OF_OPERATION);
  const [services, names] = [service.codes, name.codes];
  const { table } = into;
  let [left, passed] = [without[0] ?? -1, 0];
  for (let row = 0; row < spans.count; row++) {
    if (row === left) {
      left = without[(passed += 1)] ?? -1;
      continue;
    }
    const second = secondOf(data.getInt32(time + 8 * row + 4, true), data.getUint32(time + 8 * row, true));
    const [low, high] = [data.getUint32(duration + 8 * row, true), data.getUint32(duration + 8 * row + 4, true)];
    const detail = detailOf(bytes[kind + row] as number, durationBin(high, low), bytes[status + row] === ERROR);
    const cell = table.at(tenantId, own, services[row] as number, names[row] as number, Math.floor(second / MINUTE), detail);
    into.add(cell, 1, high * HALF + low, second);
  }
  readWords(into.services.texts, bytes, service.keys);
  readWords(into.others.texts, bytes, name.keys);
}

/** The words of a record by their codes, of which two may have the same one. */
function readWords(into: string[], bytes: Buffer, { starts, ends, count: words }: StringView): void {
  for (let word = 0; word < words; word++) into.push(bytes.toString('latin1', starts[word], ends[word]));
}
