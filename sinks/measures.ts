import { measureColumns } from '../pipeline/counters/measure-columns.ts';
import { measuresSignal } from '../pipeline/counters/measures-signal.ts';
import { rowsSink } from './rows-sink.ts';

/** What mergers measure into `measures`. */
export const measuresSink = rowsSink({
  name: 'measures',
  signal: measuresSignal,
  table: 'measures',
  columns: measureColumns.names,
  structure: measureColumns.structure,
});
