import { patternLayout, patternsSignal } from '../pipeline/counters/pattern-rows.ts';
import { rowsSink } from './rows-sink.ts';

/** The templates of tenants into `patterns`. */
export const patternsSink = rowsSink('patterns', patternsSignal, patternLayout);
