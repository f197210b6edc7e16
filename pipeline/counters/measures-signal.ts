import type { Signal } from '../bus/records/signal.ts';
import { rowsSignal } from '../rows/rows-signal.ts';
import { measureLayout } from './measure-layout.ts';

/** What mergers measure: records of rows of many tenants on `measures.v1`. */
export const measuresSignal: Signal = rowsSignal(measureLayout, ({ time, span }, row) => time(row) + span(row));
