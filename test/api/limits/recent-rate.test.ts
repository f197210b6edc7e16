import { expect } from 'chai';
import fc from 'fast-check';
import { RecentRate } from '../../../api/limits/recent-rate.ts';

describe('the rate of the last ten seconds', () => {
  it('is the mean of what was added in them, whatever the order of tenants and times', () => {
    const step = fc.record({
      tenant: fc.integer({ min: 1, max: 3 }),
      count: fc.integer({ min: 0, max: 1000 }),
      wait: fc.integer({ min: 0, max: 4000 }),
    });
    fc.assert(
      fc.property(fc.array(step), fc.integer({ min: 0, max: 30_000 }), (steps, last) => {
        const rate = new RecentRate();
        const added: { readonly tenant: number; readonly count: number; readonly second: number }[] = [];
        let now = 0;
        for (const { tenant, count, wait } of steps) {
          now += wait;
          rate.add(tenant, count, now);
          added.push({ tenant, count, second: Math.floor(now / 1000) });
        }
        const end = Math.floor((now + last) / 1000);
        for (const tenant of [1, 2, 3, 4]) {
          const own = added.filter((one) => one.tenant === tenant && one.second > end - 10);
          expect(rate.perSecond(tenant, now + last)).to.equal(own.reduce((sum, { count }) => sum + count, 0) / 10);
        }
      }),
    );
  });

  it('is never below zero, and a clock that goes backwards adds to the same second', () => {
    const rate = new RecentRate();
    rate.add(1, 50, 5000);
    rate.add(1, 50, 1000);
    expect(rate.perSecond(1, 5000)).to.equal(10);
    rate.add(1, -200, 5500);
    expect(rate.perSecond(1, 5500)).to.equal(0);
  });

  it('is kept of ten thousand tenants: those that were counted longest ago are forgotten', () => {
    const rate = new RecentRate();
    for (let tenant = 0; tenant < 10_001; tenant += 1) rate.add(tenant, 10, 0);
    expect([rate.perSecond(0, 0), rate.perSecond(1, 0), rate.perSecond(10_000, 0)]).to.deep.equal([0, 1, 1]);
  });
});
