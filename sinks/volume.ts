import { countersSignal } from '../pipeline/counters/counters-signal.ts';
import { VOLUME_COLUMNS, VOLUME_STRUCTURE } from '../pipeline/counters/layout.ts';
import { rowsSink } from './rows-sink.ts';

/** The rows of the volume into `volume`. */
export const volumeSink = rowsSink({
  name: 'volume',
  signal: countersSignal,
  table: 'volume',
  columns: VOLUME_COLUMNS,
  structure: VOLUME_STRUCTURE,
});
