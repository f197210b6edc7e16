import { expect } from 'chai';
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
});
