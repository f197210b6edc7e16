import type { Signal } from '../bus/records/signal.ts';
import { rowsSignal } from '../rows/rows-signal.ts';
import { volumeLayout } from './volume-layout.ts';

/** What is counted of the log: records of rows of many tenants on `counters.v1`. */
export const countersSignal: Signal = rowsSignal(volumeLayout, ({ time, span }, row) => time(row) + span(row));
