import { alertRow, type Alert } from '../../alerts/alert.ts';
import { alertRecords } from '../../alerts/alerts-signal.ts';
import type { AbsoluteRecord } from '../../bus/absolute-record.ts';
import type { Position } from '../processor.ts';
import type { Incidents } from './incidents.ts';
import { incidentRecord } from './partials-signal.ts';

/** Alerts as they are told at this place, and what other mergers are to hear of them. `incidentsOf`: those of a tenant, by its id. */
export function toldAlerts(
  { partition, offset }: Position,
  alerts: readonly Alert[],
  incidentsOf: (tenantId: number) => Pick<Incidents, 'news'> | undefined,
): AbsoluteRecord[] {
  const records = alertRecords(
    partition,
    alerts.map((alert) => alertRow(alert, offset)),
  );
  for (const tenantId of new Set(alerts.map((alert) => alert.tenantId))) {
    const own = alerts.filter((alert) => alert.tenantId === tenantId);
    const retentionDays = own[0]?.retentionDays ?? 0;
    for (const joined of incidentsOf(tenantId)?.news(own) ?? []) records.push(incidentRecord(tenantId, retentionDays, joined));
  }
  return records;
}
