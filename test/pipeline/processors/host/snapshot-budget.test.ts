import { expect } from 'chai';
import { SnapshotBudget } from '../../../../pipeline/processors/host/snapshot-budget.ts';

describe('room for snapshots', () => {
  it('is taken until it is full, and given back once', () => {
    const room = new SnapshotBudget(100);
    const give = room.take(60);
    const other = room.take(40);
    expect(room.take(1)).to.equal(null);
    other?.();
    other?.();
    expect(room.take(41)).to.equal(null);
    give?.();
    expect(room.take(100)).to.be.a('function');
  });

  it('is given to one that is larger than all of it, alone', () => {
    const room = new SnapshotBudget(100);
    const give = room.take(1000);
    expect(give).to.be.a('function');
    expect(room.take(0)).to.equal(null);
    give?.();
    expect(room.take(0)).to.be.a('function');
    expect(room.take(1000)).to.equal(null);
  });
});
