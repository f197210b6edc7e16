import { measureLayout } from '../pipeline/counters/measure-layout.ts';
import { measuresSignal } from '../pipeline/counters/measures-signal.ts';
import { rowsSink } from './rows-sink.ts';

/** What mergers measure into `measures`. */
export const measuresSink = rowsSink('measures', measuresSignal, measureLayout);
