import { alertLayout, alertsSignal } from '../pipeline/alerting/book/alert.ts';
import { rowsSink } from './rows-sink.ts';

/** What detectors have found into `alerts`. */
export const alertsSink = rowsSink('alerts', alertsSignal, alertLayout);
