import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { cutRows } from '../counters/cut-rows.ts';
import { rowsHeaders, rowsSignal } from '../counters/rows-signal.ts';
import type { AlertRow } from './alert.ts';
import { alertColumns, alertSize } from './alert-columns.ts';

/** What detectors have found: records of rows of many tenants on `alerts.v1`. */
export const alertsSignal: Signal = rowsSignal('alerts', (value, count) => {
  const rows = alertColumns.read(value, count);
  return typeof rows === 'string' ? rows : rows.map(({ retentionDays, firedAt }) => ({ retentionDays, time: firedAt, span: 0 }));
});

/** The records of these rows, for a partition of `alerts.v1`. */
export const alertRecords = (partition: number, rows: readonly AlertRow[]): AbsoluteRecord[] =>
  cutRows(rows, alertSize).map((together) => ({
    ...{ topic: alertsSignal.topic.name, partition, key: null },
    ...{ value: alertColumns.encode(together), headers: rowsHeaders(alertsSignal, together.length) },
  }));
