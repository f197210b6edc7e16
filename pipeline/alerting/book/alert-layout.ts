import { count, seconds, uint16, uint32, uint8 } from '../../rows/fixed-types.ts';
import { isPositive, Layout } from '../../rows/layout.ts';
import { string } from '../../rows/string-types.ts';
import { PART_ALERT, PART_WHY, type AlertRow } from './alert.ts';

/** The columns of a record of `alerts.v1`, in their order. docs/topics.md is the specification. */
export const alertLayout = new Layout<AlertRow>('alerts', [
  { name: 'tenant_id', type: uint32, member: 'tenantId', isGood: isPositive },
  { name: 'retention_days', type: uint16, member: 'retentionDays' },
  { name: 'id', type: count, member: 'id', isGood: isPositive },
  { name: 'part', type: uint8, member: 'part', isGood: (part) => part === PART_ALERT || part === PART_WHY },
  { name: 'version', type: count, member: 'version' },
  { name: 'fired_at', type: seconds, member: 'firedAt' },
  { name: 'updated_at', type: seconds, member: 'updatedAt' },
  { name: 'resolved_at', type: seconds, member: 'resolvedAt' },
  { name: 'detector', type: string, member: 'detector' },
  { name: 'stream', type: string, member: 'stream' },
  { name: 'service', type: string, member: 'service' },
  { name: 'severity', type: string, member: 'severity' },
  { name: 'state', type: string, member: 'state' },
  { name: 'title', type: string, member: 'title' },
  { name: 'description', type: string, member: 'description' },
  { name: 'evidence', type: string, member: 'evidence' },
  { name: 'fire_count', type: uint32, member: 'fireCount' },
  { name: 'note', type: string, member: 'note' },
  { name: 'incident_id', type: count, member: 'incidentId' },
]);

/** What a row takes before it is compressed, at most. Bytes. */
export const alertSize = ({ stream, service, title, description, evidence, note }: AlertRow): number =>
  100 + 3 * (stream.length + service.length + title.length + description.length + evidence.length + note.length);
