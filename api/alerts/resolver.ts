import { setTimeout as sleep } from 'node:timers/promises';
import type { Alert } from '../../pipeline/alerting/book/alert.ts';
import type { Resolved } from '../../pipeline/alerting/book/command.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { serviceOf } from '../../pipeline/core/labels.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import type { ShownAlert } from '../../pipeline/alerting/book/shown-alert.ts';

export type AlertResolverOptions = {
  /** Puts a resolution among the commands for the book of alerts; resolves when Kafka has it. */
  readonly write: (resolution: Pick<Resolved, 'alert' | 'note'>) => Promise<void>;
  /** How long a resolution may take until the table has it, and how often that is looked for. Milliseconds. */
  readonly mostMs?: number;
  readonly lookMs?: number;
};

/** Who resolves what. */
export type Resolve = {
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly note: string;
  /** The alert as the table has it now. Throws HttpError 404. */
  readonly read: () => Promise<ShownAlert>;
};

/**
 * Resolves alerts by hand. A resolution is a record in the input of the book of alerts, so folding it again gives the same alerts.
 * A request is answered when the table has the resolution, so that every node shows it from then on.
 */
export class AlertResolver {
  readonly #options: AlertResolverOptions;

  constructor(options: AlertResolverOptions) {
    this.#options = options;
  }

  /** The alert as it is then. Throws HttpError 404, or 503 where the resolution was taken and is not seen in time. */
  async resolve({ tenantId, retentionDays, note, read }: Resolve): Promise<ShownAlert> {
    const { write, mostMs = 10_000, lookMs = 100 } = this.#options;
    const isDone = (alert: ShownAlert): boolean => alert.state === 'resolved' && (note === '' || alert.resolution_note !== null);
    const now = await read();
    if (isDone(now)) return now;
    await write({ note, alert: alertOf(now, tenantId, retentionDays) });
    const until = performance.now() + mostMs;
    for (;;) {
      const alert = await read();
      if (isDone(alert)) return alert;
      if (performance.now() > until)
        throw new HttpError(503, 'unavailable', 'The resolution was accepted and is not stored yet: alerts have a backlog. Retry later.', {
          retryAfter: 5,
        });
      await sleep(lookMs);
    }
  }
}

const secondsOf = (time: string | null): number => Number((time === null ? null : parseTime(time)) ?? 0n) / 1e9;

const alertOf = (alert: ShownAlert, tenantId: number, retentionDays: number): Alert => ({
  ...{ tenantId, retentionDays, id: alert.id, detector: alert.detector_type, stream: alert.stream, service: serviceOf(alert.stream) },
  ...{ severity: alert.severity as Alert['severity'], title: alert.title, description: alert.description },
  evidence: JSON.stringify(alert.evidence),
  ...{ state: alert.state as Alert['state'], firedAt: secondsOf(alert.fired_at), fireCount: alert.fire_count },
  ...{ updatedAt: secondsOf(alert.last_updated_at), resolvedAt: alert.resolved_at === null ? null : secondsOf(alert.resolved_at) },
  ...{ note: alert.resolution_note ?? '', incidentId: alert.incident_id },
});
