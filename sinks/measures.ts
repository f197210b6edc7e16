import { MEASURE_COLUMNS, MEASURE_STRUCTURE } from '../pipeline/counters/measure-columns.ts';
import { measuresSignal } from '../pipeline/counters/measures-signal.ts';
import { rowsSink } from './rows-sink.ts';

/** What mergers measure into `measures`. */
export const measuresSink = rowsSink({
  name: 'measures',
  signal: measuresSignal,
  table: 'measures',
  columns: MEASURE_COLUMNS,
  structure: MEASURE_STRUCTURE,
});
