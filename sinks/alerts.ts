import { alertColumns } from '../pipeline/alerting/book/alert-columns.ts';
import { alertsSignal } from '../pipeline/alerting/book/alerts-signal.ts';
import { rowsSink } from './rows-sink.ts';

/** What detectors have found into `alerts`. */
export const alertsSink = rowsSink({
  name: 'alerts',
  signal: alertsSignal,
  table: 'alerts',
  columns: alertColumns.names,
  structure: alertColumns.structure,
});
