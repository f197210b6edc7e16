import { createHash } from 'node:crypto';
import { objectOf } from '../../core/read-json.ts';
import { count, seconds, uint16, uint32, uint8 } from '../../rows/fixed-types.ts';
import { isPositive, Layout } from '../../rows/layout.ts';
import { string } from '../../rows/string-types.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Signal } from '../../bus/records/signal.ts';
import { rowsRecords } from '../../rows/rows-records.ts';
import { rowsSignal } from '../../rows/rows-signal.ts';

export const ALERT_SEVERITIES = ['info', 'warning', 'critical'] as const;
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];
export const ALERT_STATES = ['firing', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** The detector of alerts of rules (docs/rules.md), which a merger of their own reports. */
export const RULE = 'rule';
/** The detector of error templates that were never seen before, which `clusters` reports. */
export const NEW_PATTERN = 'new_pattern';

/** What has left its own past, of one tenant, as published: each version is whole, and the last one counts. Times: seconds since 1970. */
export type Alert = {
  readonly tenantId: number;
  /** For how many days it is kept; 0 for ever. */
  readonly retentionDays: number;
  readonly id: number;
  /** Which detector has found it. */
  readonly detector: string;
  /** The label set of what it is about; `{}` for more than one stream. */
  readonly stream: string;
  /** By which it is found and grouped; empty for none. */
  readonly service: string;
  readonly severity: AlertSeverity;
  readonly title: string;
  readonly description: string;
  /** A JSON object. */
  readonly evidence: string;
  readonly state: AlertState;
  readonly firedAt: number;
  /** In how many windows it has fired. */
  readonly fireCount: number;
  readonly updatedAt: number;
  /** Null while it fires. */
  readonly resolvedAt: number | null;
  readonly note: string;
  /** Null for none. */
  readonly incidentId: number | null;
};

/** What a row holds: an alert, or why it has come, which is found later. */
export const PART_ALERT = 0;
export const PART_WHY = 1;

/** A row of the table: of those of an alert and part the one with the highest version counts. */
export type AlertRow = Omit<Alert, 'resolvedAt' | 'incidentId'> & {
  readonly part: number;
  /** 0 for null. */
  readonly resolvedAt: number;
  readonly incidentId: number;
  /** The later of two has the higher one: by the offset on `alert-commands.v1` of what has changed it. */
  readonly version: number;
};

/** The longest strings, characters; a longer one is cut. */
const MOST = { stream: 4096, service: 2048, title: 300, description: 2000, note: 4096 } as const;
const MOST_EVIDENCE = 65_536;
/** Bytes for the names of members that were left out. */
const OMITTED_BYTES = 1024;

/** Cuts between characters. */
const cut = (text: string, most: number): string => (text.length <= most ? text : Buffer.from(text.slice(0, most)).toString());

/** Evidence of at most 64 KiB: of a larger one the largest members are left out, and named in `omitted`. */
export function boundedEvidence(evidence: string): string {
  if (evidence.length <= MOST_EVIDENCE) return evidence;
  const sized = Object.entries(objectOf(evidence)).map(([name, value]) => ({
    name,
    value,
    size: JSON.stringify({ [name]: value }).length,
  }));
  const omitted = new Set<string>();
  let size = evidence.length;
  for (const largest of [...sized].sort((a, b) => b.size - a.size)) {
    if (size <= MOST_EVIDENCE - OMITTED_BYTES) break;
    size -= largest.size;
    omitted.add(largest.name);
  }
  const kept = sized.filter(({ name }) => !omitted.has(name)).map(({ name, value }) => [name, value] as const);
  const bounded = JSON.stringify({ ...Object.fromEntries(kept), omitted: [...omitted] });
  return bounded.length <= MOST_EVIDENCE ? bounded : '{}';
}

/** The row of an alert. Its evidence has at most 64 KiB: a fold that throws here would be halted for all tenants. */
export function alertRow({ resolvedAt, incidentId, ...alert }: Alert, version: number): AlertRow {
  const evidence = boundedEvidence(alert.evidence);
  const texts = Object.fromEntries(
    (Object.keys(MOST) as (keyof typeof MOST)[]).map((name) => [name, cut(alert[name], MOST[name])]),
  ) as Record<keyof typeof MOST, string>;
  return { ...alert, ...texts, evidence, part: PART_ALERT, resolvedAt: resolvedAt ?? 0, incidentId: incidentId ?? 0, version };
}

/** The row of why an alert has come: evidence that is added to that of its alert, and what is added to its title and description. */
export function whyRow(of: AlertRow, evidence: Readonly<Record<string, unknown>>, title: string, description: string): AlertRow {
  const text = JSON.stringify(evidence);
  if (text.length > MOST_EVIDENCE) throw new Error(`BUG: the evidence of alert ${String(of.id)} has ${String(text.length)} characters.`);
  return {
    ...{ ...of, part: PART_WHY, evidence: text, note: '' },
    ...{ title: cut(title, MOST.title), description: cut(description, MOST.description) },
  };
}

/** A positive integer below 2^53 that is the same wherever it is made of the same parts. */
export function idOf(...parts: readonly (string | number)[]): number {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  const id = hash.readUIntBE(0, 6) * 32 + ((hash[6] as number) & 31);
  return id === 0 ? 1 : id;
}

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
const alertSize = ({ stream, service, title, description, evidence, note }: AlertRow): number =>
  100 + 3 * (stream.length + service.length + title.length + description.length + evidence.length + note.length);

/** What detectors have found: records of rows of many tenants on `alerts.v1`. */
export const alertsSignal: Signal = rowsSignal(alertLayout, ({ firedAt }, row) => firedAt(row));

/** The records of these rows, for a partition of `alerts.v1`. */
export const alertRecords = (partition: number, rows: readonly AlertRow[]): AbsoluteRecord[] =>
  rowsRecords(alertLayout, rows, alertSize, { partition });
