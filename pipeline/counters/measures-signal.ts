import type { Signal } from '../bus/records/signal.ts';
import { measureColumns } from './measure-columns.ts';
import { rowsSignal } from './rows-signal.ts';

/** What mergers measure: records of rows of many tenants on `measures.v1`. */
export const measuresSignal: Signal = rowsSignal('measures', (value, count) => measureColumns.read(value, count));
