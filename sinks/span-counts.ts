import { spanCountLayout, spanCountsSignal } from '../pipeline/counters/span-counts.ts';
import { rowsSink } from './rows-sink.ts';

/** What is counted of spans into `span_counts`. */
export const spanCountsSink = rowsSink('span_counts', spanCountsSignal, spanCountLayout);
