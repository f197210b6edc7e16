import { expect } from 'chai';
import type { PoolJob } from '../../../../api/engine/workers/pool-job.ts';
import { TenantWork } from '../../../../api/engine/workers/tenant-work.ts';
import { UsedCpu } from '../../../../api/engine/workers/used-cpu.ts';
import { WorkerSlot } from '../../../../api/engine/workers/worker-slot.ts';
import type { WorkerProcess } from '../../../../api/workers/worker-process.ts';
import type { RunningStatement } from '../../../../pipeline/store/client.ts';

const none = (): Promise<readonly RunningStatement[]> => Promise.resolve([]);

describe('the CPU time that queries use', () => {
  /** A worker with a query of each of two tenants, of which it works on that of the first. */
  const slotWith = (process: { pid: number; ms: number }): WorkerSlot => {
    const slot = new WorkerSlot();
    slot.worker = {
      get pid() {
        return process.pid;
      },
      cpuMs: () => process.ms,
    } as unknown as WorkerProcess;
    for (const tenantId of [1, 2]) slot.jobs.set(tenantId, { job: { tenantId } } as unknown as PoolJob);
    slot.noted = 1;
    return slot;
  };

  it('of a worker is that of the query it works on; one that waits uses none, however long', () => {
    const work = new TenantWork();
    const used = new UsedCpu(work, none);
    const process = { pid: 5, ms: 700 };
    const slot = slotWith(process);
    used.lookAt(slot, 0);
    process.ms = 750;
    used.lookAt(slot, 0);
    used.lookAt(slot, 0);
    expect([work.of(1, 0), work.of(2, 0)]).to.deep.equal([50, 0]);
    // another process in its place begins again
    Object.assign(process, { pid: 6, ms: 2000 });
    used.lookAt(slot, 0);
    expect(work.of(1, 0)).to.equal(50);
    slot.noted = 0;
    process.ms = 3000;
    used.lookAt(slot, 0);
    expect(work.of(1, 0)).to.equal(50);
  });

  it('of statements is what they have used since ClickHouse was asked last, twice a second at most', async () => {
    const work = new TenantWork();
    let asked = 0;
    const answers: readonly (readonly RunningStatement[])[] = [
      [
        { id: 'a', tenantId: 1, cpuMs: 300 },
        { id: 'b', tenantId: 2, cpuMs: 0 },
      ],
      [
        { id: 'a', tenantId: 1, cpuMs: 800 },
        { id: 'c', tenantId: 1, cpuMs: 10 },
      ],
    ];
    const used = new UsedCpu(work, () => Promise.resolve(answers[asked++] ?? []));
    for (const now of [0, 100, 500, 900]) await used.ask(now);
    expect(asked).to.equal(2);
    expect(work.of(1, 500)).to.equal(300 * 2 ** -0.1 + 510);
    expect(work.of(2, 500)).to.equal(0);
  });

  it('is not known while ClickHouse does not answer, and is asked for again', async () => {
    const work = new TenantWork();
    let asked = 0;
    const used = new UsedCpu(work, () => {
      asked += 1;
      return asked === 1 ? Promise.reject(new Error('gone')) : Promise.resolve([{ id: 'a', tenantId: 1, cpuMs: 5 }]);
    });
    await used.ask(0);
    await used.ask(500);
    expect([asked, work.of(1, 500)]).to.deep.equal([2, 5]);
  });
});
