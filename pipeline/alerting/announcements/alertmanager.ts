import type { Logger } from 'pino';
import type { AlertListener } from './alert-feed.ts';
import { PART_ALERT, PART_WHY, type AlertRow } from '../book/alert.ts';
import { repeat } from '../../core/repeat.ts';
import type { Service } from '../../core/service.ts';

/** Sends a body; gives the status of the answer. Rejects where there is none in time. */
export type Post = (url: URL, body: string) => Promise<number>;

export type AlertmanagerOptions = {
  /** Where Alertmanagers are, as members of a cluster do: each gets every alert. */
  readonly urls: readonly URL[];
  readonly post: Post;
  readonly log: Logger;
  /** The last word on each alert of these partitions of `alerts.v1` that fires. */
  readonly firing: (partitions: readonly number[]) => Promise<readonly (readonly [number, AlertRow])[]>;
  /** The partitions that this process has: it sends only their alerts. */
  readonly partitions: () => readonly number[];
  readonly onOutcome?: (outcome: 'sent' | 'failed', alerts: number) => void;
  /** How often firing alerts are sent again. Milliseconds. */
  readonly everyMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** An alert in the form of Alertmanager's API v2 (`POST /api/v2/alerts`). */
type PostedAlert = {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
};

type Known = { readonly partition: number; readonly row: AlertRow; why: string };

const EVERY_MS = 60_000;
/** An Alertmanager forgets an alert that it did not get for this number of intervals. */
const FORGETS = 4;
/** How long a resolved alert is sent, as Prometheus does. Milliseconds. */
const RESOLVED_MS = 900_000;
/** The most alerts that are sent, the newest: of all tenants, and of one. */
const MOST = 10_000;
const MOST_OF_TENANT = 1000;
const BATCH = 500;

/**
 * Sends firing and resolved alerts to Alertmanagers: changes at once, and all of them each minute, since an Alertmanager forgets what it
 * does not get again. Labels identify an alert; they stay when it fires again. What could not be sent is sent with the next minute.
 */
export class Alertmanager implements AlertListener, Service {
  readonly name = 'alertmanager';
  readonly #options: AlertmanagerOptions;
  readonly #now: () => number;
  readonly #stop = new AbortController();
  readonly #known = new Map<number, Known>();
  /** The partitions whose firing alerts were read. */
  #read = new Set<number>();
  /** Those that fail, by URL. */
  readonly #failing = new Set<string>();
  #notification: Promise<void> | null = null;

  constructor(options: AlertmanagerOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  start(): Promise<void> {
    this.#notification = repeat(this.#options.everyMs ?? EVERY_MS, this.#stop.signal, () => this.publishAll());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#notification;
  }

  /** Never waits for an Alertmanager. */
  take(rows: readonly AlertRow[], partition: number): Promise<void> {
    const news = new Set<number>();
    for (const row of rows) {
      const known = this.#known.get(row.id);
      if (row.part === PART_WHY && known !== undefined) {
        if (known.why !== row.description) news.add(row.id);
        known.why = row.description;
      }
      if (row.part !== PART_ALERT) continue;
      this.#known.delete(row.id);
      this.#known.set(row.id, { partition, row, why: known?.why ?? '' });
      // each window is sent with the next round of all alerts
      if (known?.row.state !== row.state) news.add(row.id);
    }
    this.#forget();
    void this.#send([...news].flatMap((id) => this.#known.get(id) ?? []));
    return Promise.resolve();
  }

  /** Sends all that fires, and what was resolved lately. */
  async publishAll(): Promise<void> {
    await this.#readNew();
    this.#forget();
    await this.#send([...this.#known.values()]);
  }

  /** What fires of the partitions that are new here: it was published before this process had them. */
  async #readNew(): Promise<void> {
    const { partitions, firing, log } = this.#options;
    const own = new Set(partitions());
    const fresh = [...own].filter((partition) => !this.#read.has(partition));
    this.#read = new Set([...this.#read].filter((partition) => own.has(partition)));
    if (fresh.length === 0) return;
    try {
      for (const [partition, row] of await firing(fresh))
        if (!this.#known.has(row.id)) this.#known.set(row.id, { partition, row, why: '' });
      for (const partition of fresh) this.#read.add(partition);
    } catch (error) {
      log.warn({ err: error }, 'Reading the firing alerts failed; retrying.');
    }
  }

  #forget(): void {
    const own = new Set(this.#options.partitions());
    const since = (this.#now() - RESOLVED_MS) / 1000;
    const counts = new Map<number, number>();
    // the newest first
    for (const [id, { partition, row }] of [...this.#known].reverse()) {
      const count = (counts.get(row.tenantId) ?? 0) + 1;
      const isOld = row.state === 'resolved' && row.resolvedAt < since;
      if (isOld || !own.has(partition) || count > MOST_OF_TENANT) this.#known.delete(id);
      else counts.set(row.tenantId, count);
    }
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MOST) break;
      this.#known.delete(id);
    }
  }

  async #send(alerts: readonly Known[]): Promise<void> {
    for (let from = 0; from < alerts.length; from += BATCH) {
      const batch = alerts.slice(from, from + BATCH).map((one) => this.#alertOf(one));
      await Promise.all(this.#options.urls.map((url) => this.#post(url, batch)));
    }
  }

  async #post(url: URL, batch: readonly PostedAlert[]): Promise<void> {
    const { post, log, onOutcome = (): void => undefined } = this.#options;
    // without a password that the URL may carry
    const shown = url.origin;
    try {
      const status = await post(new URL(`${url.href.replace(/\/+$/, '')}/api/v2/alerts`), JSON.stringify(batch));
      if (status < 200 || status > 299) throw new Error(`The Alertmanager answered with status ${String(status)}.`);
      onOutcome('sent', batch.length);
      if (this.#failing.delete(shown)) log.info({ alertmanager: shown }, 'The Alertmanager accepts alerts again.');
    } catch (error) {
      onOutcome('failed', batch.length);
      if (this.#failing.has(shown)) return;
      this.#failing.add(shown);
      log.error({ err: error, alertmanager: shown }, 'The Alertmanager rejects alerts; retrying each minute.');
    }
  }

  #alertOf({ row, why }: Known): PostedAlert {
    const { tenantId, detector, severity, service, stream, state, title, description, firedAt, resolvedAt, fireCount, id } = row;
    const now = this.#now();
    const endsAt = state === 'firing' ? now + FORGETS * (this.#options.everyMs ?? EVERY_MS) : resolvedAt * 1000;
    return {
      labels: { alertname: detector, tenant: String(tenantId), detector, severity, service, stream },
      annotations: {
        ...{ summary: title, description: [description, why].filter((text) => text !== '').join(' ') },
        ...{ alert_id: String(id), fire_count: String(fireCount) },
      },
      ...{ startsAt: new Date(firedAt * 1000).toISOString(), endsAt: new Date(endsAt).toISOString() },
    };
  }
}
