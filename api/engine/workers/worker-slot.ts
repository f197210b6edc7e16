import type { QueryJob } from '../../query/engine.ts';
import type { PoolJob } from './pool-job.ts';
import type { WorkerProcess } from '../../workers/worker-process.ts';

/** How long a worker may be silent before its other jobs move to another one. Milliseconds. */
export const SILENT_MS = 250;
/** How many queries run in a worker at once, in addition to exports; more where a tenant's plan allows it more. */
const MAX_RUNNING = 4;
/** How many exports, which may go on for hours, run in a worker in addition, and how many of one tenant. */
const MAX_EXPORTS = 4;
const MAX_OWN_EXPORTS = 2;
/** A tenant that had a job in a worker within this time is expected to have the next one there. Milliseconds. */
const COMPANY_MS = 2000;
/**
 * A tenant whose query has ended a worker has this place for so long as one of its places, which others may use meanwhile: else it would go from one
 * worker to the next, end them all, and others would wait until new ones have begun. Milliseconds.
 */
const ENDED_MS = 10_000;

/** No export. */
export const isQuery = (job: QueryJob): boolean => job.isExport !== true;

/** A worker and what it has to do. */
export class WorkerSlot {
  /** Its processes have a lower priority: for tenants whose queries are most of all work. */
  readonly isPatient: boolean;
  worker: WorkerProcess | null = null;
  /** Of the statements of the worker. */
  mark = '';
  isReady = false;
  readonly jobs = new Map<number, PoolJob>();
  /** Jobs that are aborted, or have their answer, or whose worker has exited, of which something may still run in ClickHouse. */
  readonly leaving = new Map<number, QueryJob>();
  /** When each tenant had a job here last; those of long ago are forgotten. */
  readonly #tenants = new Map<number, number>();
  /** The job that it works on, as it has reported. */
  noted = 0;
  silentMs = 0;
  /** What it took of memory when it began, and what it took when that was looked at last. */
  firstBytes = 0;
  #bytes = 0;
  /** How much it grew while it worked for each tenant. Bytes. */
  readonly #grown = new Map<number, number>();
  /** Why it is being ended. */
  why: 'time' | 'memory' | 'idle' | null = null;
  /** The tenant whose query has ended its worker, and when: for some time the place is one of those that the tenant has. */
  #endedBy: { readonly tenantId: number; readonly at: number } | null = null;

  constructor(isPatient = false) {
    this.isPatient = isPatient;
  }

  /** True while it may have one more query; exports are counted by themselves. What a tenant has left in ClickHouse takes places of its own alone. */
  mayTake({ isExport, tenantId, atOnce }: QueryJob): boolean {
    if (!this.isReady || this.silentMs >= SILENT_MS || this.why !== null) return false;
    const jobs = [...this.#running, ...[...this.leaving.values()].filter((job) => job.tenantId === tenantId)];
    if (isExport !== true) return jobs.filter(isQuery).length < Math.max(MAX_RUNNING, atOnce);
    const exports = jobs.filter((job) => job.isExport === true);
    return exports.length < MAX_EXPORTS && exports.filter((job) => job.tenantId === tenantId).length < MAX_OWN_EXPORTS;
  }

  /** What takes a place in ClickHouse for it. */
  get all(): QueryJob[] {
    return [...this.#running, ...this.leaving.values()];
  }

  get #running(): QueryJob[] {
    return [...this.jobs.values()].map(({ job }) => job);
  }

  /** Its process takes so many bytes now: what is more than before is for the tenant whose job it works on. What it gives back, it does for all. */
  measured(bytes: number): void {
    const [job, more] = [this.jobs.get(this.noted)?.job, bytes - this.#bytes];
    const left = Math.max(0, bytes - this.firstBytes) / Math.max(1, this.#bytes - this.firstBytes);
    this.#bytes = bytes;
    if (more < 0) for (const [tenantId, own] of this.#grown) this.#grown.set(tenantId, own * Math.min(1, left));
    if (job !== undefined && more > 0) this.#grown.set(job.tenantId, (this.#grown.get(job.tenantId) ?? 0) + more);
  }

  /** It has nothing to do. */
  get isIdle(): boolean {
    return this.jobs.size === 0;
  }

  /** What it takes beyond what it took when it began, as it was measured last. Bytes. */
  get grown(): number {
    return Math.max(0, this.#bytes - this.firstBytes);
  }

  /** The tenant for whose queries it grew most, at least by so many bytes. */
  grownFor(bytes: number): number | null {
    const [most] = [...this.#grown].sort(([, a], [, b]) => b - a);
    return most !== undefined && most[1] >= bytes ? most[0] : null;
  }

  /**
   * The job that has ended its worker, as far as that is known: the one that it worked on; where it took too much memory, one of the tenant for whose
   * queries it grew.
   */
  get culprit(): PoolJob | undefined {
    const [noted, tenantId] = [this.jobs.get(this.noted), this.why === 'memory' ? this.grownFor(1) : null];
    if (tenantId === null || noted?.job.tenantId === tenantId) return noted;
    return [...this.jobs.values()].findLast(({ job, isNoted }) => isNoted && job.tenantId === tenantId) ?? noted;
  }

  /** The worker has exited, by a query of the tenant `culprit` if by one: what it ran counts for its tenants until `ended`. Returns what it had to do. */
  lost(ended: Promise<void>, culprit: number | null, now: number): PoolJob[] {
    const jobs = [...this.jobs.values()];
    this.#endedBy = culprit === null ? null : { tenantId: culprit, at: now };
    for (const { number, job } of jobs) this.leaving.set(number, job);
    const left = [...this.leaving.keys()];
    this.jobs.clear();
    this.#grown.clear();
    this.#bytes = 0;
    this.worker = null;
    void ended.then(() => {
      for (const number of left) this.leaving.delete(number);
    });
    return jobs;
  }

  /** Whether it is one of the places that the tenant has. */
  isOf(tenantId: number, now: number): boolean {
    const isEnded = this.#endedBy?.tenantId === tenantId && now - this.#endedBy.at < ENDED_MS;
    return isEnded || this.all.some((job) => job.tenantId === tenantId);
  }

  /** A tenant's job begins here. */
  placed(tenantId: number, now: number): void {
    this.#tenants.delete(tenantId);
    this.#tenants.set(tenantId, now);
    for (const [id, at] of this.#tenants) {
      if (now - at < COMPANY_MS) break;
      this.#tenants.delete(id);
    }
  }

  /** The others that have, or had lately, jobs here. */
  company(tenantId: number, now: number): number[] {
    const lately = [...this.#tenants].filter(([, at]) => now - at < COMPANY_MS).map(([id]) => id);
    return [...new Set([...lately, ...this.all.map((job) => job.tenantId)])].filter((id) => id !== tenantId);
  }
}
