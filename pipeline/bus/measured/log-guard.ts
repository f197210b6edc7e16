import { randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { encodeGuard, guardKey, type GuardReport } from '../state/usage-records.ts';
import type { CompactedLog } from '../../core/compacted-log.ts';
import { repeat } from '../../core/repeat.ts';
import { ended, reasonOf } from '../../core/connection-reason.ts';
import type { Service } from '../../core/service.ts';

/** Returns why ingest must be paused, or null while it need not be; rejects where that is unknown. */
export type GuardCheck = () => Promise<string | null>;

/** A check, and the topic that it pauses; null: all that tenants send to. */
export type GuardedTopic = { readonly topic: string | null; readonly check: GuardCheck };

export type LogGuardOptions = {
  readonly checks: readonly GuardedTopic[];
  /** The topic `usage.v1`, to append to; the caller owns it. */
  readonly topic: Pick<CompactedLog, 'append'>;
  readonly logger: Logger;
  readonly everyMs?: number;
  /** While it returns true another process looks, and this one does nothing. */
  readonly isStandby?: (() => boolean) | undefined;
  /** Is given whether ingest is paused, or will be since nothing is known, at each look. */
  readonly onLook?: (isPaused: boolean) => void;
};

/** How long a stop waits for a look that has begun. Milliseconds. */
const LAST_LOOK_MS = 500;

/** One look that fails is followed by the next, and pauses nothing. */
const FEW_FAILURES = 1;

/**
 * Checks every 2 s whether ingest must be paused, and publishes that to every API node on `usage.v1`. Where it does not know it is silent,
 * and the nodes stop accepting entries after a while. Several may look and publish: one that reports a reason is enough.
 */
export class LogGuard implements Service {
  readonly name = 'log guard';
  readonly #options: LogGuardOptions;
  readonly #key = guardKey(randomUUID());
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #report: GuardReport = GOES_ON;
  #failures = 0;
  #failure = '';

  constructor(options: LogGuardOptions) {
    this.#options = options;
  }

  /** What an operator is to know: why ingest is paused, or why that is not known; null where all is well. */
  get warning(): string | null {
    if (this.#failures > FEW_FAILURES) return `Ingest pauses, since the log cannot be watched: ${ended(this.#failure)}`;
    const [first] = reasonsOf(this.#report);
    return first === undefined ? null : `Ingest is paused. ${first}`;
  }

  /** Does not wait for the first look, which may take long where Kafka does not answer. */
  start(): Promise<void> {
    this.#running = this.#look().then(() => repeat(this.#options.everyMs ?? 2000, this.#stop.signal, () => this.#look()));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.race([this.#running, sleep(LAST_LOOK_MS, undefined, { ref: false })]);
  }

  /** What was known is another's to say. */
  #standBy(): void {
    this.#report = GOES_ON;
    this.#failures = 0;
    this.#options.onLook?.(false);
  }

  async #look(): Promise<void> {
    const { checks, topic, logger, isStandby } = this.#options;
    if (this.#stop.signal.aborted) return;
    if (isStandby?.() === true) {
      this.#standBy();
      return;
    }
    try {
      const found = await Promise.all(checks.map(async ({ topic: paused, check }) => ({ topic: paused, reason: await check() })));
      const report = reportOf(found);
      await topic.append(this.#key, encodeGuard(report, new Date()));
      const [reasons, before] = [reasonsOf(report), reasonsOf(this.#report)];
      if (reasons.length > 0 && before.length === 0) logger.error({ reasons }, 'Ingest is paused.');
      if (reasons.length === 0 && before.length > 0) logger.info('Ingest has resumed.');
      this.#report = report;
      this.#failures = 0;
      this.#options.onLook?.(reasons.length > 0);
    } catch (error) {
      this.#failures += 1;
      this.#failure = reasonOf(error);
      if (this.#failures > FEW_FAILURES) this.#options.onLook?.(true);
      logger.warn({ err: error }, 'The checks of the log guard failed; retrying.');
    }
  }
}

const GOES_ON: GuardReport = { full: null, topics: {} };

/** What is wrong, by what it pauses; of several reasons the first one. */
function reportOf(found: readonly { readonly topic: string | null; readonly reason: string | null }[]): GuardReport {
  const wrong = found.flatMap(({ topic, reason }) => (reason === null ? [] : [{ topic, reason }]));
  const own = wrong.flatMap(({ topic, reason }) => (topic === null ? [] : [[topic, reason] as const]));
  return { full: wrong.find(({ topic }) => topic === null)?.reason ?? null, topics: Object.fromEntries(own.reverse()) };
}

const reasonsOf = ({ full, topics }: GuardReport): string[] => [...(full === null ? [] : [full]), ...Object.values(topics)];

/** Holds while at least this share of a folder's disk is free for us. */
export function diskCheck(folder: string, minFreePercent: number): GuardCheck {
  return async () => {
    const { bavail, blocks } = await statfs(folder);
    const free = (100 * bavail) / blocks;
    return free >= minFreePercent
      ? null
      : `The disk of Kafka's log has ${free.toFixed(1)} % free; at least ${String(minFreePercent)} % must be.`;
  };
}
