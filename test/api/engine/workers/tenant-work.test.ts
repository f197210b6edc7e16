import { expect } from 'chai';
import { TenantWork } from '../../../../api/engine/workers/tenant-work.ts';

describe('the work of tenants', () => {
  it('counts half after five seconds', () => {
    const work = new TenantWork();
    work.add(1, 1000, 0);
    work.add(1, 500, 5000);
    work.add(2, 10, 5000);
    expect(work.of(1, 5000)).to.equal(1000);
    expect(work.of(1, 15_000)).to.equal(250);
    expect(work.of(3, 5000)).to.equal(0);
    expect(work.ofAll([1, 2, 3], 5000)).to.equal(1010);
  });

  it('is heavy where it is much, and at least half of all', () => {
    const work = new TenantWork();
    work.add(1, 2001, 0);
    expect(work.isHeavy(1, 0)).to.equal(true);
    expect(work.isHeavy(1, 100)).to.equal(false);
    work.add(1, 10_000, 100);
    work.add(2, 11_000, 100);
    expect([1, 2].map((tenantId) => work.isHeavy(tenantId, 100))).to.deep.equal([true, false]);
    work.add(2, 2000, 100);
    expect([1, 2].map((tenantId) => work.isHeavy(tenantId, 100))).to.deep.equal([false, true]);
  });

  it('forgets those who have done nothing for long, of many', () => {
    const work = new TenantWork();
    for (let id = 1; id <= 5000; id++) work.add(id, 10, id * 100);
    expect(work.size).to.be.at.most(1001);
    expect(work.of(5000, 500_000)).to.equal(10);
  });
});
