import { patternColumns, patternsSignal } from '../pipeline/counters/pattern-rows.ts';
import { rowsSink } from './rows-sink.ts';

/** The templates of tenants into `patterns`. */
export const patternsSink = rowsSink({
  name: 'patterns',
  signal: patternsSignal,
  table: 'patterns',
  columns: patternColumns.names,
  structure: patternColumns.structure,
});
