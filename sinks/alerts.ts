import { alertLayout } from '../pipeline/alerting/book/alert-layout.ts';
import { alertsSignal } from '../pipeline/alerting/book/alerts-signal.ts';
import { rowsSink } from './rows-sink.ts';

/** What detectors have found into `alerts`. */
export const alertsSink = rowsSink('alerts', alertsSignal, alertLayout);
