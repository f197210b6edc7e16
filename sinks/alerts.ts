import { alertLayout } from '../pipeline/alerts/alert-layout.ts';
import { alertsSignal } from '../pipeline/alerts/alerts-signal.ts';
import { rowsSink } from './rows-sink.ts';

/** What detectors have found into `alerts`. */
export const alertsSink = rowsSink('alerts', alertsSignal, alertLayout);
