import { patternCountLayout, patternCountsSignal } from '../pipeline/counters/pattern-counts.ts';
import { rowsSink } from './rows-sink.ts';

/** How often patterns came into `pattern_counts`. */
export const patternCountsSink = rowsSink('pattern_counts', patternCountsSignal, patternCountLayout);
