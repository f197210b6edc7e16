import type { SignalRecord } from '../../bus/records/signal-record.ts';
import { positionOf } from '../../bus/records/record.ts';
import { type AlertRow, alertLayout } from '../book/alert.ts';

/** Gets the rows of alerts, each at least once: after a crash again. */
export type AlertListener = {
  readonly name: string;
  /** Rows in their order, of a record of this partition. Resolves when they need not come again; the next ones may come before. */
  take(rows: readonly AlertRow[], partition: number): Promise<void>;
};

/** Gives the rows of a record of `alerts.v1` to all listeners. Rejects where one of them does. */
export async function publishAlerts(record: SignalRecord, listeners: readonly AlertListener[]): Promise<void> {
  if (record.count === 0) return;
  const rows = alertLayout.read(record.value, record.count);
  if (typeof rows === 'string') throw new Error(`BUG: the checked record ${String(positionOf(record))} cannot be read: ${rows}.`);
  await Promise.all(listeners.map((listener) => listener.take(rows, record.partition)));
}
