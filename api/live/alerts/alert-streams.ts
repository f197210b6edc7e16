import type { Logger } from 'pino';
import { alertsSignal, PART_ALERT, type AlertRow } from '../../../pipeline/alerting/book/alert.ts';
import { publishAlerts } from '../../../pipeline/alerting/announcements/alert-feed.ts';
import { shownAlert, type ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import type { Kafka, KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import { LogTail } from '../../../pipeline/bus/reading/log-tail.ts';
import { isTick, readChecked } from '../../../pipeline/bus/records/record.ts';
import type { Service } from '../../../pipeline/core/service.ts';
import { eventOf } from '../../../pipeline/alerting/announcements/webhook.ts';
import { LogPlace } from '../place/log-place.ts';

/** A change of an alert, as it is published. */
export type AlertEvent = { readonly type: 'fired' | 'resolved' | 'updated'; readonly alert: ShownAlert };

/** Is given the changes of a tenant's alerts. */
export type AlertEventListener = (event: AlertEvent) => void;

export type AlertStreamsOptions = { readonly kafka: Kafka; readonly log: Logger };

/** The changes of alerts, as they arrive on the log: read once in a process for all listeners, from the first listener on. */
export class AlertStreams implements Service {
  readonly name = 'alert streams';
  readonly #options: AlertStreamsOptions;
  readonly #tenants = new Map<number, Set<AlertEventListener>>();
  #tail: LogTail | null = null;

  constructor(options: AlertStreamsOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#tail?.stop();
    this.#tail = null;
  }

  /** Listens; `begin` resolves with the place in the log from which on the listener gets every change. */
  listen(tenantId: number, listener: AlertEventListener): { readonly begin: Promise<LogPlace>; readonly leave: () => void } {
    const own = this.#tenants.get(tenantId) ?? new Set();
    this.#tenants.set(tenantId, own.add(listener));
    const tail = (this.#tail ??= this.#newTail());
    return {
      begin: tail.start().then(() => placeOf(tail)),
      leave: () => {
        own.delete(listener);
        if (own.size === 0 && this.#tenants.get(tenantId) === own) this.#tenants.delete(tenantId);
        if (this.#tenants.size === 0) void this.stop();
      },
    };
  }

  #newTail(): LogTail {
    const { kafka, log } = this.#options;
    return new LogTail({
      ...{ kafka, log, topic: alertsSignal.topic.name },
      take: (partition, messages) => {
        for (const message of messages) this.#take(partition, message);
      },
      onGap: (partition, from, to) => {
        log.warn({ partition, from, to }, 'Alerts are missing from the log.');
      },
    });
  }

  #take(partition: number, message: KafkaMessage): void {
    const record = readChecked(alertsSignal, partition, message);
    if (record.fault !== null || isTick(record)) return;
    void publishAlerts(record, [
      {
        name: this.name,
        take: (rows) => {
          for (const row of rows) this.#notify(row);
          return Promise.resolve();
        },
      },
    ]);
  }

  #notify(row: AlertRow): void {
    const listeners = this.#tenants.get(row.tenantId);
    if (listeners === undefined || row.part !== PART_ALERT) return;
    const event: AlertEvent = { type: eventOf(row) ?? 'updated', alert: shownAlert(row, null) };
    for (const listener of listeners) listener(event);
  }
}

function placeOf({ next }: LogTail): LogPlace {
  const count = Math.max(-1, ...next.keys()) + 1;
  return new LogPlace(Array.from({ length: count }, (_none, partition) => [next.get(partition) ?? 0, 0]));
}
