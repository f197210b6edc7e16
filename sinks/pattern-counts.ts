import { patternCountColumns, patternCountsSignal } from '../pipeline/counters/pattern-counts.ts';
import { rowsSink } from './rows-sink.ts';

/** How often patterns came into `pattern_counts`. */
export const patternCountsSink = rowsSink({
  name: 'pattern_counts',
  signal: patternCountsSignal,
  table: 'pattern_counts',
  columns: patternCountColumns.names,
  structure: patternCountColumns.structure,
});
