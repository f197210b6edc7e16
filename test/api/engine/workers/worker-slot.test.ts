import { expect } from 'chai';
import type { PoolJob } from '../../../../api/engine/workers/pool-job.ts';
import { WorkerSlot } from '../../../../api/engine/workers/worker-slot.ts';

describe('a place of a query worker', () => {
  const slot = (): WorkerSlot => {
    const made = new WorkerSlot();
    made.placed(7, 0);
    return made;
  };

  it('is one of those of the tenant whose query has ended its worker', () => {
    const ended = slot();
    ended.lost(Promise.resolve(), 7, 5);
    expect(ended.isOf(7, 6)).to.equal(true);
    expect(ended.isOf(7, 10_006)).to.equal(false);
  });

  it('is none of a tenant that was there last, where no query has ended its worker', () => {
    const ended = slot();
    ended.lost(Promise.resolve(), null, 5);
    expect(ended.isOf(7, 6)).to.equal(false);
  });

  it('knows for whose queries its process has grown, until there is another process', () => {
    const grown = new WorkerSlot();
    for (const tenantId of [7, 8]) grown.jobs.set(tenantId, { job: { tenantId } } as unknown as PoolJob);
    grown.measured(50);
    for (const [noted, bytes] of [
      [8, 60],
      [7, 90],
      [7, 70],
      [7, 100],
      [8, 115],
      [0, 900],
    ] as const) {
      grown.noted = noted;
      grown.measured(bytes);
    }
    expect([grown.grownFor(53), grown.grownFor(54)]).to.deep.equal([7, null]);
    grown.lost(Promise.resolve(), 7, 0);
    expect(grown.grownFor(0)).to.equal(null);
  });

  it('is ended for memory by a query of the tenant for whom it grew, whichever it works on then', () => {
    const slot = new WorkerSlot();
    const job = (number: number, tenantId: number): PoolJob => ({ number, job: { tenantId }, isNoted: true }) as unknown as PoolJob;
    for (const [number, tenantId] of [
      [1, 7],
      [2, 8],
    ] as const)
      slot.jobs.set(number, job(number, tenantId));
    slot.noted = 1;
    slot.measured(90_000_000);
    slot.noted = 2;
    slot.measured(90_000_100);
    expect(slot.culprit?.number).to.equal(2);
    slot.why = 'memory';
    expect(slot.culprit?.number).to.equal(1);
    slot.jobs.delete(1);
    expect(slot.culprit?.number).to.equal(2);
  });
});
