import { alertRow, type Alert } from '../../alerts/alert.ts';
import { alertRecords } from '../../alerts/alerts-signal.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Position } from '../base/processor.ts';
import type { Incidents } from './incidents.ts';
import { incidentRecord } from './partials-signal.ts';

/** What a merger puts out for alerts at this place: their rows, and the announcements to the other mergers. `incidentsOf`: those of a tenant. */
export function alertOutputs(
  { partition, offset }: Position,
  alerts: readonly Alert[],
  incidentsOf: (tenantId: number) => Pick<Incidents, 'announcements'> | undefined,
): AbsoluteRecord[] {
  const rows = alerts.map((alert) => alertRow(alert, offset));
  const byTenant = new Map<number, Alert[]>();
  for (const alert of alerts) {
    const own = byTenant.get(alert.tenantId);
    if (own === undefined) byTenant.set(alert.tenantId, [alert]);
    else own.push(alert);
  }
  const announced = [...byTenant].flatMap(([tenantId, own]) =>
    (incidentsOf(tenantId)?.announcements(own) ?? []).map((joined) => incidentRecord(tenantId, own[0]?.retentionDays ?? 0, joined)),
  );
  return [...alertRecords(partition, rows), ...announced];
}
