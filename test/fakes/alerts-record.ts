import { alertRow, type Alert, type AlertRow, alertRecords } from '../../pipeline/alerting/book/alert.ts';
import type { Range } from '../../pipeline/bus/consumer/range.ts';
import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';

export const NOW = Date.now();
/** Seconds since 1970, a minute ago. */
export const FIRED = Math.floor(NOW / 1000) - 60;

export const alert = (more: Partial<Alert> = {}): Alert => ({
  ...{ tenantId: 1, retentionDays: 14, id: 4711, detector: 'log_rate', stream: '{service="web"}', service: 'web', severity: 'warning' },
  ...{ title: 'Entries of web rose', description: 'é', evidence: '{"z_score":12.5}', state: 'firing', firedAt: FIRED, fireCount: 1 },
  ...{ updatedAt: FIRED, resolvedAt: null, note: '', incidentId: null },
  ...more,
});

/** A range of one record of `alerts.v1` that lies at this offset. */
export function alertsRange(rows: readonly AlertRow[], offset: number): Range {
  const [record] = alertRecords(3, rows);
  const whole: SignalRecord = {
    ...{ partition: 3, offset, timestamp: NOW, tenantId: 0, retentionDays: 0, count: rows.length, bytes: 0, encoding: 'columns' },
    ...{ value: record?.value ?? Buffer.alloc(0), replayOf: null, fault: null },
    original: { key: null, value: null, headers: {}, timestamp: '0' },
  };
  return { topic: 'alerts.v1', partition: 3, start: offset, end: offset, records: [whole], rows: rows.length };
}

/** Each alert as it is told at its place. */
export const told = (...alerts: readonly Partial<Alert>[]): AlertRow[] => alerts.map((more, index) => alertRow(alert(more), index + 1));
