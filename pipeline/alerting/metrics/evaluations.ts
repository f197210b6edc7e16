import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { MAX_PARTIAL_BYTES } from '../../processors/base/partial.ts';
import { partialRecord } from '../../processors/merge/partials.ts';
import { evaluatedText, METRIC_EVALUATIONS, turnText } from './evaluated.ts';
import type { ReadMetricRule } from './metric-rule.ts';
import type { MetricWatch } from './metric-watch.ts';
import type { WatchedMetricRule } from './watched-metric-rule.ts';

/** A time is evaluated so long after it: what was scraped by then is stored. Milliseconds. */
const DELAY_MS = 10_000;
/** Of times that were missed, as after an outage, so many of the last ones are evaluated, of so long at most. Milliseconds. */
const MOST_MISSED = 60;
const MISSED_MS = 3_600_000;
/** A partition whose last record is older is behind: another owner may have evaluated what seems to be due. Milliseconds. */
const BEHIND_MS = 30_000;
/** Evaluations that run at once, of all tenants of a partition and of one. */
const AT_ONCE = 8;
const AT_ONCE_OF_TENANT = 2;
/** Before what could not be evaluated is tried again. Milliseconds. */
const RETRY_MS = 2000;
/** How often what takes too long is tried again, before it has succeeded. */
const MOST_SLOW = 2;

/**
 * What an evaluation gives: series as JSON (`seriesText`), or why there are none; null where it is to be tried again. `isSlow`: it took too long,
 * as it may where processes have just begun.
 */
export type Outcome = { readonly series: string } | { readonly error: string; readonly isSlow?: boolean } | null;

/** How a tenant stands: its retention, days; `off` where its plan has no metrics; null where that is not known, or it is disabled: nothing changes. */
export type Standing = { readonly retentionDays: number } | 'off' | null;

/** Who evaluates expressions: not the fold, and not its event loop. */
export interface MetricRunner {
  /** Milliseconds since 1970. */
  now(): number;
  standingOf(tenantId: number): Standing;
  /** Never rejects. */
  evaluate(tenantId: number, rule: ReadMetricRule, time: number, retentionDays: number): Promise<Outcome>;
}

/** Before it is published again that a tenant is off, or on. Milliseconds. */
const TURN_MS = 30_000;

type Sent = { readonly version: number; readonly time: number };

const keyOf = (tenantId: number, slot: number): string => `${String(tenantId)}:${String(slot)}`;

/**
 * The next time for which a rule is to be evaluated, a multiple of its interval; null while none is due. What was missed is made up for, as far
 * as it is not too long ago. Milliseconds.
 */
export function dueTime(evaluatedAt: number, intervalMs: number, now: number): number | null {
  const last = Math.floor((now - DELAY_MS) / intervalMs) * intervalMs;
  const next = Math.floor(evaluatedAt / intervalMs) * intervalMs + intervalMs;
  const earliest = last - Math.min(MOST_MISSED - 1, Math.floor(MISSED_MS / intervalMs)) * intervalMs;
  const time = Math.max(next, earliest);
  return time <= last ? time : null;
}

/** What runs, and what has come of it: not part of a state, since what was not written is evaluated again. */
export class Evaluations {
  readonly #runner: MetricRunner;
  readonly #running = new Map<string, number>();
  /** What was written and has not come back on the topic. */
  readonly #sent = new Map<string, Sent>();
  readonly #retryAt = new Map<string, number>();
  /** When it was published of a tenant that it is off, or on. */
  readonly #turned = new Map<number, number>();
  /** How often each has taken too long since it succeeded. */
  readonly #slow = new Map<string, number>();
  #finished: AbsoluteRecord[] = [];
  #turn = 0;

  constructor(runner: MetricRunner) {
    this.#runner = runner;
  }

  /** Begins what is due. `seenAt`: when the last record of the partition was appended, milliseconds. */
  begin(tenants: ReadonlyMap<number, MetricWatch>, seenAt: number): void {
    const now = this.#runner.now();
    if (tenants.size === 0 || now - seenAt > BEHIND_MS) return;
    const all = [...tenants];
    // each tenant comes first in its turn
    const first = this.#turn++ % all.length;
    for (const [tenantId, watch] of [...all.slice(first), ...all.slice(0, first)]) {
      if (this.#running.size >= AT_ONCE) return;
      if (watch.isHere && watch.rules.size > 0) this.#beginOf(tenantId, watch, now);
    }
  }

  /** The records of what was evaluated since the last call. */
  finished(): AbsoluteRecord[] {
    const finished = this.#finished;
    this.#finished = [];
    return finished;
  }

  #beginOf(tenantId: number, watch: MetricWatch, now: number): void {
    const standing = this.#runner.standingOf(tenantId);
    if (standing === null) return;
    const isOff = standing === 'off';
    if (isOff !== watch.isOff) {
      this.#publish(tenantId, watch.retentionDays, isOff, now);
      return;
    }
    this.#turned.delete(tenantId);
    if (isOff) return;
    const [{ rules }, { retentionDays }] = [watch, standing];
    let own = [...this.#running.values()].filter((running) => running === tenantId).length;
    // those that have waited longest come first
    const due = [...rules].flatMap(([slot, rule]) => {
      const time = this.#dueOf(keyOf(tenantId, slot), rule, now);
      return time === null ? [] : [{ slot, rule, time }];
    });
    for (const { slot, rule, time } of due.sort((a, b) => a.time - b.time)) {
      if (own >= AT_ONCE_OF_TENANT || this.#running.size >= AT_ONCE) return;
      own += 1;
      void this.#run({ tenantId, retentionDays, slot, time }, rule);
    }
  }

  /** Publishes once that the plan of a tenant has no metrics any more, or has them again: it holds from its place on the topic. */
  #publish(tenantId: number, retentionDays: number, isOff: boolean, now: number): void {
    if (now - (this.#turned.get(tenantId) ?? -Infinity) < TURN_MS) return;
    this.#turned.set(tenantId, now);
    this.#finished.push(partialRecord(METRIC_EVALUATIONS, null, { tenantId, retentionDays, value: turnText(isOff) }));
  }

  /** Whether it took too long, and may take less. */
  #isAgain(key: string, outcome: NonNullable<Outcome>): boolean {
    if (!('error' in outcome) || outcome.isSlow !== true) {
      this.#slow.delete(key);
      return false;
    }
    const slow = (this.#slow.get(key) ?? 0) + 1;
    this.#slow.set(key, slow);
    return slow <= MOST_SLOW;
  }

  #dueOf(key: string, { version, evaluatedAt, read }: WatchedMetricRule, now: number): number | null {
    const sent = this.#sent.get(key);
    const isOpen = sent?.version === version && sent.time > evaluatedAt;
    if (!isOpen) this.#sent.delete(key);
    if (read === null || this.#running.has(key) || now < (this.#retryAt.get(key) ?? 0)) return null;
    return dueTime(isOpen ? sent.time : evaluatedAt, read.intervalMs, now);
  }

  async #run(
    { tenantId, retentionDays, slot, time }: { tenantId: number; retentionDays: number; slot: number; time: number },
    { version, read }: WatchedMetricRule,
  ): Promise<void> {
    const key = keyOf(tenantId, slot);
    if (read === null) return;
    this.#running.set(key, tenantId);
    const began = this.#runner.now();
    const outcome = await this.#runner.evaluate(tenantId, read, time, retentionDays);
    this.#running.delete(key);
    if (outcome === null || this.#isAgain(key, outcome)) {
      this.#retryAt.set(key, this.#runner.now() + RETRY_MS);
      return;
    }
    this.#retryAt.delete(key);
    const about = { slot, version, time, tookMs: Math.max(0, Math.round(this.#runner.now() - began)) };
    const whole = 'error' in outcome ? evaluatedText({ ...about, error: outcome.error }, '[]') : evaluatedText({ ...about, error: null }, outcome.series); // prettier-ignore
    const value = whole.length <= MAX_PARTIAL_BYTES ? whole : evaluatedText({ ...about, error: 'the result is too large' }, '[]');
    this.#sent.set(key, { version, time });
    this.#finished.push(partialRecord(METRIC_EVALUATIONS, null, { tenantId, retentionDays, value }));
  }
}
