import { expect } from 'chai';
import fc from 'fast-check';
import { findPlan, type Plan } from '../../../api/tenants/plans.ts';
import { CallCounts } from '../../../api/limits/shared-calls.ts';
import { queryRate } from '../../../api/limits/query-rate.ts';
import { MAX_RATE } from '../../../api/limits/token-bucket.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { fakePrincipal } from '../../fakes/key-store.ts';

const SECOND = 1_000_000;
const plan = (queriesPerMinute: number): Plan => ({ ...(findPlan('trial') as Plan), queriesPerMinute });

class Keys {
  now = 0;
  readonly shared = new CallCounts(() => this.now / 1000);
  readonly count = queryRate({ now: () => this.now, keep: 3, shared: this.shared });
  /** The seconds to wait, null where the query is taken. */
  ask(queriesPerMinute: number, keyId = 'k', tenantId = 1): number | null {
    try {
      this.count(fakePrincipal({ keyId, tenantId, plan: plan(queriesPerMinute) }));
      return null;
    } catch (error) {
      expect(error).to.be.instanceOf(HttpError).and.to.include({ status: 429 });
      return (error as HttpError).options.retryAfter ?? NaN;
    }
  }
  taken(times: number, queriesPerMinute: number, keyId = 'k', tenantId = 1): number {
    return Array.from({ length: times }, () => this.ask(queriesPerMinute, keyId, tenantId)).filter((wait) => wait === null).length;
  }
}

describe('the rate of queries', () => {
  it('tells how much of it is used, of that key alone, and less as time goes on', () => {
    const keys = new Keys();
    const used = (rate: number, keyId = 'k'): number | null => keys.count.usedBy(fakePrincipal({ keyId, plan: plan(rate) }));
    expect(used(60)).to.equal(0);
    keys.taken(10, 60);
    expect([used(60), used(60, 'other'), used(Infinity), used(0)]).to.deep.equal([10, 0, null, 0]);
    keys.now += 4 * SECOND;
    expect(used(60)).to.equal(6);
    expect(keys.taken(100, 60)).to.be.within(53, 54);
    expect(used(60)).to.be.within(59, 60);
    keys.now += 60 * SECOND;
    expect(used(60)).to.equal(0);
  });

  it('is one for all nodes, whichever a key asks, and whenever another node comes', () => {
    const [one, two, late] = [new Keys(), new Keys(), new Keys()];
    const told = (from: Keys, ...to: readonly Keys[]): void => {
      const calls = from.shared.take();
      for (const node of to) node.shared.fold(calls);
    };
    expect(one.taken(40, 60)).to.equal(40);
    expect(two.taken(10, 60)).to.equal(10);
    told(one, two, late);
    told(two, one, late);
    const used = (node: Keys): number | null => node.count.usedBy(fakePrincipal({ keyId: 'k', plan: plan(60) }));
    expect([one, two, late].map(used)).to.deep.equal([50, 50, 50]);
    expect(two.taken(100, 60)).to.equal(10);
    told(two, one, late);
    expect([one.taken(100, 60), late.taken(100, 60)]).to.deep.equal([0, 0]);
    for (const node of [one, two, late]) node.now += 60 * SECOND;
    expect([one, two, late].map(used)).to.deep.equal([0, 0, 0]);
    // another key has its own
    expect(two.taken(100, 60, 'other')).to.equal(60);
    told(two, one, late);
    expect([one.taken(100, 60, 'other'), one.taken(100, 60)]).to.deep.equal([0, 60]);
  });

  for (const rate of [1, 7, 300, 1200, 3000])
    it(`${rate} a minute: a burst of as many, then as many in each minute, each after the wait that was told`, () => {
      const keys = new Keys();
      expect(keys.taken(rate + 10, rate)).to.equal(rate);
      const wait = keys.ask(rate) ?? 0;
      expect(wait).to.equal(Math.ceil(60 / rate));
      keys.now += wait * SECOND;
      expect(keys.ask(rate)).to.equal(null);
      keys.now += 60 * SECOND;
      expect(keys.taken(2 * rate, rate)).to.be.within(rate, rate + Math.ceil((wait * rate) / 60));
    });

  it('is of each key of each tenant', () => {
    const keys = new Keys();
    expect(keys.taken(10, 5, 'a')).to.equal(5);
    expect(keys.taken(10, 5, 'b')).to.equal(5);
    expect(keys.taken(10, 5, 'a', 2)).to.equal(5);
  });

  it('is none where the plan has none, and no query at all where it is zero', () => {
    const keys = new Keys();
    expect(keys.taken(5000, Infinity)).to.equal(5000);
    expect(keys.taken(5000, MAX_RATE + 1)).to.equal(5000);
    expect(keys.ask(0)).to.equal(60);
  });

  it('follows a plan that changes', () => {
    const keys = new Keys();
    expect(keys.taken(10, 3)).to.equal(3);
    expect(keys.ask(600)).to.equal(1);
    keys.now += SECOND;
    expect(keys.taken(100, 600)).to.be.within(9, 11);
  });

  it('forgets keys only when their buckets are full again', () => {
    const keys = new Keys();
    for (const key of ['a', 'b', 'c', 'd']) expect(keys.taken(10, 5, key)).to.equal(5);
    for (const key of ['a', 'b', 'c', 'd']) expect(keys.ask(5, key)).to.not.equal(null);
    keys.now += 200 * SECOND;
    expect(keys.taken(10, 5, 'e')).to.equal(5);
    for (const key of ['a', 'b', 'c', 'd']) expect(keys.taken(10, 5, key)).to.equal(5);
  });

  it('never takes more than the burst and what time gives', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.integer({ min: 0, max: 5 * SECOND }), { maxLength: 200 }),
        (rate, gaps) => {
          const keys = new Keys();
          let taken = 0;
          for (const gap of gaps) {
            keys.now += gap;
            taken += keys.taken(3, rate);
            expect(taken).to.be.at.most(rate + (keys.now / (60 * SECOND)) * rate + 1e-6);
          }
        },
      ),
    );
  });
});
