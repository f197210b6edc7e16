import type { RunningStatement } from '../../../pipeline/store/client.ts';
import type { TenantWork } from './tenant-work.ts';
import type { WorkerSlot } from './worker-slot.ts';

/** How often it is looked up what the statements in ClickHouse have used. Milliseconds. */
const LOOK_MS = 500;

/**
 * Counts the CPU time that queries use as work of their tenants. Not how long they run: whose query waits for others runs long, and a tenant that
 * has done little would come after those that it waits for.
 */
export class UsedCpu {
  readonly #work: TenantWork;
  readonly #statements: () => Promise<readonly RunningStatement[]>;
  /** What each process, and each statement that runs, had used when it was looked at last. Milliseconds. */
  readonly #ofSlots = new WeakMap<WorkerSlot, { readonly pid: number | undefined; readonly ms: number }>();
  #ofStatements: ReadonlyMap<string, number> = new Map();
  #lookedAt = -Infinity;
  #isLooking = false;

  /** `statements` gives those that run in ClickHouse. */
  constructor(work: TenantWork, statements: () => Promise<readonly RunningStatement[]>) {
    this.#work = work;
    this.#statements = statements;
  }

  /** Looks at a worker: what it has used since the last look counts for the job that it works on. */
  lookAt(slot: WorkerSlot, now: number): void {
    const [pid, ms] = [slot.worker?.pid, slot.worker?.cpuMs() ?? 0];
    const before = this.#ofSlots.get(slot);
    this.#ofSlots.set(slot, { pid, ms });
    const job = slot.jobs.get(slot.noted)?.job;
    if (job !== undefined && before !== undefined && before.pid === pid) this.#work.add(job.tenantId, Math.max(0, ms - before.ms), now);
  }

  /** Looks up, now and then, what statements have used in ClickHouse. Where it does not answer, nothing counts. */
  async ask(now: number): Promise<void> {
    if (this.#isLooking || now - this.#lookedAt < LOOK_MS) return;
    [this.#isLooking, this.#lookedAt] = [true, now];
    try {
      const seen = new Map<string, number>();
      for (const { id, tenantId, cpuMs } of await this.#statements()) {
        this.#work.add(tenantId, Math.max(0, cpuMs - (this.#ofStatements.get(id) ?? 0)), now);
        seen.set(id, cpuMs);
      }
      this.#ofStatements = seen;
    } catch {
      // it is looked up again
    } finally {
      this.#isLooking = false;
    }
  }
}
