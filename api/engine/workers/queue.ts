import { rateLimited } from '../../../pipeline/core/errors.ts';
import type { PoolJob } from './pool-job.ts';

/** How many of a tenant may wait; further ones are refused. */
const MAX_WAITING = 32;
const RETRY_AFTER_SECONDS = 5;

/** What of a tenant runs already. */
export type Running = {
  /** Everything, with exports. */
  readonly jobs: number;
  /** Queries alone, whose number at once a plan limits. */
  readonly queries: number;
};

/** Queries that wait to be run, of each tenant in the order in which they came. */
export class Queue {
  readonly #jobs = new Set<PoolJob>();

  get size(): number {
    return this.#jobs.size;
  }
  [Symbol.iterator](): Iterator<PoolJob> {
    return this.#jobs.values();
  }

  /** Throws HttpError 429 where the tenant has too many waiting. */
  add(job: PoolJob): void {
    let own = 0;
    for (const { job: other } of this.#jobs) if (other.tenantId === job.job.tenantId) own += 1;
    if (own >= MAX_WAITING)
      throw rateLimited(
        `The tenant has ${String(MAX_WAITING)} queries waiting in addition to those that run; retry later.`,
        RETRY_AFTER_SECONDS,
      );
    this.#jobs.add(job);
  }

  /** Puts back what was begun already. */
  again(job: PoolJob): void {
    this.#jobs.add(job);
  }

  delete(job: PoolJob): void {
    this.#jobs.delete(job);
  }

  /** Who may begin now: of each tenant the first query, where its plan allows one more, and the first export; those first of whom least runs. */
  next(runningOf: (tenantId: number) => Running): PoolJob[] {
    const firsts = new Map<string, PoolJob>();
    for (const job of this.#jobs) {
      const line = `${String(job.job.tenantId)}/${String(job.job.isExport === true)}`;
      if (!firsts.has(line)) firsts.set(line, job);
    }
    const running = new Map([...firsts.values()].map(({ job }) => [job.tenantId, runningOf(job.tenantId)]));
    const isAllowed = ({ job }: PoolJob): boolean => job.isExport === true || (running.get(job.tenantId)?.queries ?? 0) < job.atOnce;
    const jobsOf = ({ job }: PoolJob): number => running.get(job.tenantId)?.jobs ?? 0;
    return [...firsts.values()].filter(isAllowed).sort((a, b) => jobsOf(a) - jobsOf(b));
  }
}
