import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import { rowsRecords } from '../rows/rows-records.ts';
import { measureLayout, measureSize } from './measure-layout.ts';
import { measureRow, type Measure } from './measure.ts';

/** The records of measures that were found at this offset of a partition of `partials.v1`. Throws where one of them is none. */
export function measureRecords(partition: number, measures: readonly Measure[], version: number): AbsoluteRecord[] {
  const rows = measures.map((measure) => measureRow(measure, version));
  return rowsRecords(measureLayout, rows, measureSize, { partition });
}
