import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Service } from '../../pipeline/core/service.ts';
import { changeTenant } from './accounts.ts';
import type { ControlStore } from './control-store.ts';
import { deletionOf } from './deletions.ts';
import type { TenantRecord } from './records.ts';

/** How long a trial lasts, and how often it is looked for those that have ended. Milliseconds. */
const TRIAL_MS = 14 * 86_400_000;
const SWEEP_MS = 3_600_000;

/** Whether a tenant's trial has ended by `now` (milliseconds since the epoch): 14 days after the signup, without a payment. */
export function trialHasEnded({ plan, payment, signupAt }: TenantRecord, now: number): boolean {
  return plan === 'trial' && !payment && Date.parse(signupAt) + TRIAL_MS <= now;
}

/** Thrown inside a write when the tenant has been moved by now, or has paid. */
class Settled extends Error {}

/**
 * Moves every trial that has ended to the plan `trial_expired`, and resolves with those that it moved. Safe from several nodes at once:
 * each tenant is moved by one of them. Throws HttpError 503 when Kafka does not take a record; what was moved before stays so.
 */
export async function sweepTrials(control: ControlStore, now: number, signal?: AbortSignal): Promise<TenantRecord[]> {
  const moved: TenantRecord[] = [];
  for (const { id } of control.tenants().filter((tenant) => trialHasEnded(tenant, now) && deletionOf(control, tenant.id) === undefined)) {
    if (signal?.aborted === true) break;
    try {
      const expire = (tenant: TenantRecord): Partial<TenantRecord> => {
        if (!trialHasEnded(tenant, now)) throw new Settled();
        return { plan: 'trial_expired' };
      };
      moved.push(await changeTenant(control, id, expire));
    } catch (error) {
      if (!(error instanceof Settled)) throw error;
    }
  }
  return moved;
}

export type TrialSweepOptions = {
  readonly control: ControlStore;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Resolves after `ms` milliseconds; may reject once the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

/** Sweeps once the control topic was read, and every hour from then on. What fails is tried again by the next sweep. */
export class TrialSweep implements Service {
  readonly name = 'trial sweep';
  readonly #options: TrialSweepOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: TrialSweepOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    this.#running ??= this.#run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { control, wait = waitFor } = this.#options;
    const { signal } = this.#stop;
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([control.whenReady(), stopped]);
    while (!signal.aborted) {
      await this.#sweep();
      await wait(SWEEP_MS, signal).catch(() => undefined);
    }
  }

  async #sweep(): Promise<void> {
    const { control, log, clock = Date.now } = this.#options;
    try {
      const moved = await sweepTrials(control, clock(), this.#stop.signal);
      if (moved.length > 0) log.info({ tenants: moved.map(({ id }) => id) }, 'Trials have ended.');
    } catch (error) {
      log.warn({ err: error }, 'The sweep of trials failed; the next one retries.');
    }
  }
}

const waitFor = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal });
