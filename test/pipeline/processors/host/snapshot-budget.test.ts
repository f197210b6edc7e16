import { expect } from 'chai';
import { SnapshotBudget } from '../../../../pipeline/processors/host/snapshot-budget.ts';

describe('room for snapshots', () => {
  it('is taken until it is full, and given back once', () => {
    const budget = new SnapshotBudget(100);
    const give = budget.take(60);
    const other = budget.take(40);
    expect(budget.take(1)).to.equal(null);
    other?.();
    other?.();
    expect(budget.take(41)).to.equal(null);
    give?.();
    expect(budget.take(100)).to.be.a('function');
  });

  it('is given to one that is larger than all of it, alone', () => {
    const budget = new SnapshotBudget(100);
    const give = budget.take(1000);
    expect(give).to.be.a('function');
    expect(budget.take(0)).to.equal(null);
    give?.();
    expect(budget.take(0)).to.be.a('function');
    expect(budget.take(1000)).to.equal(null);
  });
});
