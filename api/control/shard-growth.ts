import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Service } from '../../pipeline/core/service.ts';
import { raiseShards } from './accounts.ts';
import type { ControlStore } from './control-store.ts';
import { effectivePlan } from './flags.ts';

/**
 * Entries per second that a tenant sends to each of its partitions before it gets more of them: half of what one takes (docs/performance.md
 * has 121,000 of two), which one producer writes with one send on its way and one insert at a time stores. The rest is for its neighbours.
 */
export const SHARD_ENTRIES_PER_SECOND = 30_000;
const WINDOW_MS = 60_000;

/** What was accepted from a tenant since the window began, here and, by a count that only grows, on the other nodes. */
type Accepted = { entries: number; readonly othersBefore: number };

/**
 * How many shards a tenant should have that sends at this rate and has `shards`: twice as many where each of them gets more than
 * SHARD_ENTRIES_PER_SECOND, at most all partitions. Doubled, since then half of the streams stay where they are.
 */
export function grownShards(entriesPerSecond: number, shards: number, partitions: number): number {
  if (shards >= partitions || entriesPerSecond <= SHARD_ENTRIES_PER_SECOND * shards) return shards;
  return Math.min(shards * 2, partitions);
}

/** The rates of the tenants that send to this node, over all nodes, in one window after the other. Times are milliseconds. */
export class TenantRates {
  readonly #othersEntries: (tenantId: number) => number;
  #accepted = new Map<number, Accepted>();
  #since: number;

  /** `othersEntries`: what the other nodes have taken from a tenant so far. */
  constructor(othersEntries: (tenantId: number) => number, now: number) {
    this.#othersEntries = othersEntries;
    this.#since = now;
  }

  add(tenantId: number, entries: number): void {
    const accepted = this.#accepted.get(tenantId);
    if (accepted !== undefined) accepted.entries += entries;
    else this.#accepted.set(tenantId, { entries, othersBefore: this.#othersEntries(tenantId) });
  }

  /** Ends the window: the entries per second of each tenant that has sent anything. */
  take(now: number): Map<number, number> {
    const seconds = Math.max(1, now - this.#since) / 1000;
    const rates = new Map<number, number>();
    for (const [tenantId, { entries, othersBefore }] of this.#accepted) {
      const others = Math.max(0, this.#othersEntries(tenantId) - othersBefore);
      rates.set(tenantId, (entries + others) / seconds);
    }
    this.#accepted = new Map();
    this.#since = now;
    return rates;
  }
}

export type ShardGrowthOptions = {
  readonly control: ControlStore;
  /** Entries that the other nodes have taken from a tenant so far. */
  readonly othersEntries: (tenantId: number) => number;
  /** How many partitions the log has; 0 as long as that is not known. */
  readonly partitions: () => number;
  readonly log: Logger;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  /** Resolves after `ms` milliseconds; may reject once the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

/**
 * Gives a tenant more shards when it sends more over a minute than those that it has should get, at most once a minute. Several nodes
 * may find that at once: the number is written as a version of the tenant's record, and one of them is first. What fails is tried again
 * after the next minute.
 */
export class ShardGrowth implements Service {
  readonly name = 'shard growth';
  readonly #options: Required<ShardGrowthOptions>;
  readonly #rates: TenantRates;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: ShardGrowthOptions) {
    this.#options = { now: () => performance.now(), wait: (ms, signal) => sleep(ms, undefined, { signal }), ...options };
    this.#rates = new TenantRates(options.othersEntries, this.#options.now());
  }

  /** Notes entries that were accepted from a tenant. */
  accepted(tenantId: number, entries: number): void {
    this.#rates.add(tenantId, entries);
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
    const { now, wait } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      await wait(WINDOW_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      for (const [tenantId, rate] of this.#rates.take(now())) await this.#grow(tenantId, rate);
    }
  }

  async #grow(tenantId: number, rate: number): Promise<void> {
    const { control, partitions, log } = this.#options;
    const tenant = control.tenant(tenantId);
    if (tenant === undefined) return;
    const { shards } = effectivePlan(tenant);
    const wanted = grownShards(rate, shards, partitions());
    if (wanted === shards) return;
    try {
      const raised = await raiseShards(control, tenantId, wanted);
      if (raised !== null) log.info({ tenantId, shards: wanted, entriesPerSecond: Math.round(rate) }, 'A tenant got more shards.');
    } catch (error) {
      log.warn({ err: error, tenantId }, 'Adding shards to a tenant failed; retrying in a minute.');
    }
  }
}
