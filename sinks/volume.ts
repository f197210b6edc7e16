import { countersSignal } from '../pipeline/counters/counters-signal.ts';
import { volumeLayout } from '../pipeline/counters/volume-layout.ts';
import { rowsSink } from './rows-sink.ts';

/** The rows of the volume into `volume`. */
export const volumeSink = rowsSink('volume', countersSignal, volumeLayout);
