import { RowColumns } from '../../counters/row-columns.ts';
import { PART_ALERT, PART_WHY, type AlertRow } from './alert.ts';

const isPositive = (number: number): boolean => number > 0;

/** The columns of a record of `alerts.v1`, in their order. docs/topics.md is the specification. */
export const alertColumns = new RowColumns<AlertRow>([
  { name: 'tenant_id', type: 'UInt32', member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: 'UInt16', member: 'retentionDays' },
  { name: 'id', type: 'UInt64', member: 'id', isGood: isPositive },
  { name: 'part', type: 'UInt8', member: 'part', isGood: (part) => part === PART_ALERT || part === PART_WHY },
  { name: 'version', type: 'UInt64', member: 'version' },
  { name: 'fired_at', type: "DateTime64(0, 'UTC')", member: 'firedAt' },
  { name: 'updated_at', type: "DateTime64(0, 'UTC')", member: 'updatedAt' },
  { name: 'resolved_at', type: "DateTime64(0, 'UTC')", member: 'resolvedAt' },
  { name: 'detector', type: 'String', member: 'detector' },
  { name: 'stream', type: 'String', member: 'stream' },
  { name: 'service', type: 'String', member: 'service' },
  { name: 'severity', type: 'String', member: 'severity' },
  { name: 'state', type: 'String', member: 'state' },
  { name: 'title', type: 'String', member: 'title' },
  { name: 'description', type: 'String', member: 'description' },
  { name: 'evidence', type: 'String', member: 'evidence' },
  { name: 'fire_count', type: 'UInt32', member: 'fireCount' },
  { name: 'note', type: 'String', member: 'note' },
  { name: 'incident_id', type: 'UInt64', member: 'incidentId' },
]);

/** What a row takes before it is compressed, at most. Bytes. */
export const alertSize = ({ stream, service, title, description, evidence, note }: AlertRow): number =>
  100 + 3 * (stream.length + service.length + title.length + description.length + evidence.length + note.length);
