import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Signal } from '../../bus/records/signal.ts';
import { rowsRecords } from '../../rows/rows-records.ts';
import { rowsSignal } from '../../rows/rows-signal.ts';
import { alertLayout, alertSize } from './alert-layout.ts';
import type { AlertRow } from './alert.ts';

/** What detectors have found: records of rows of many tenants on `alerts.v1`. */
export const alertsSignal: Signal = rowsSignal(alertLayout, ({ firedAt }, row) => firedAt(row));

/** The records of these rows, for a partition of `alerts.v1`. */
export const alertRecords = (partition: number, rows: readonly AlertRow[]): AbsoluteRecord[] =>
  rowsRecords(alertLayout, rows, alertSize, { partition });
