import type { Signal } from '../bus/records/signal.ts';
import { rowsHeaders, rowsSignal } from './rows-signal.ts';
import { readVolume } from './volume-reader.ts';

/** What is counted of the log: records of rows of many tenants on `counters.v1`. */
export const countersSignal: Signal = rowsSignal('counters', readVolume);

/** The headers of a record of `count` rows. */
export const counterHeaders = (count: number): Record<string, string> => rowsHeaders(countersSignal, count);
