import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import { cutRows } from './cut-rows.ts';
import { measureColumns, measureSize } from './measure-columns.ts';
import { measureRow, type Measure } from './measure.ts';
import { measuresSignal } from './measures-signal.ts';
import { rowsHeaders } from './rows-signal.ts';

/** The records of measures that were found at this offset of a partition of `partials.v1`. Throws where one of them is none. */
export const measureRecords = (partition: number, measures: readonly Measure[], version: number): AbsoluteRecord[] =>
  cutRows(
    measures.map((measure) => measureRow(measure, version)),
    measureSize,
  ).map((rows) => ({
    ...{ topic: measuresSignal.topic.name, partition, key: null },
    ...{ value: measureColumns.encode(rows), headers: rowsHeaders(measuresSignal, rows.length) },
  }));
