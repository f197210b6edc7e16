import { formatTime } from '../../core/time.ts';
import type { Alert } from './alert.ts';
import { objectOf } from '../../core/read-json.ts';

/** An alert as clients see it, of the API and of webhooks. Times are ISO 8601. */
export type ShownAlert = {
  readonly id: number;
  readonly detector_type: string;
  readonly stream: string;
  readonly severity: string;
  readonly title: string;
  readonly description: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly fired_at: string;
  readonly fire_count: number;
  readonly resolved_at: string | null;
  readonly last_updated_at: string;
  readonly resolution_note: string | null;
  readonly incident_id: number | null;
};

/** Why an alert has come: a JSON object as a string, what its title goes on with, and sentences. */
export type Why = { readonly evidence: string; readonly title: string; readonly description: string };

const SECOND = 1_000_000_000n;

/** Seconds since 1970, as ISO 8601. */
export const timeText = (seconds: number | string | undefined): string => formatTime(BigInt(seconds ?? 0) * SECOND);

/** What is shown of an alert; `resolvedAt` and `incidentId` may be 0 for none. */
export function shownAlert(alert: Omit<Alert, 'tenantId' | 'retentionDays' | 'service'>, why: Why | null): ShownAlert {
  return {
    id: alert.id,
    detector_type: alert.detector,
    stream: alert.stream,
    severity: alert.severity,
    title: joined(alert.title, '; ', why?.title ?? ''),
    description: joined(alert.description, ' ', why?.description ?? ''),
    evidence: { ...objectOf(alert.evidence), ...objectOf(why?.evidence) },
    state: alert.state,
    fired_at: timeText(alert.firedAt),
    fire_count: alert.fireCount,
    resolved_at: alert.state === 'firing' ? null : timeText(alert.resolvedAt ?? 0),
    last_updated_at: timeText(alert.updatedAt),
    resolution_note: alert.note === '' ? null : alert.note,
    incident_id: alert.incidentId === 0 ? null : alert.incidentId,
  };
}

/** Both, as one string. An alert that was resolved as it was shown has what is added already. */
const joined = (text: string, between: string, added: string): string =>
  added === '' || text.endsWith(added) ? text : `${text}${between}${added}`;
