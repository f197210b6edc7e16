import { expect } from 'chai';
import type { Plan } from '../../../api/tenants/plans.ts';
import { findPlan } from '../../../api/tenants/plans.ts';
import type { Refund } from '../../../api/limits/ingest-limit.ts';
import { tenantBucket } from '../../../api/limits/tenant-bucket.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { fakePrincipal } from '../../fakes/key-store.ts';
import { FakeSharedCounts } from '../../fakes/shared-counts.ts';

const SECOND = 1e6;
const plan = (name: string, change: Partial<Plan> = {}): Plan => ({ ...(findPlan(name) as Plan), ...change });

/** A node's tenant bucket over a clock and counts that the test sets. */
class Node {
  now = 50 * SECOND;
  readonly counts = new FakeSharedCounts();
  readonly limit;
  constructor(keep?: number) {
    this.limit = tenantBucket({ counts: this.counts, unit: 'entries', now: () => this.now, ...(keep === undefined ? {} : { keep }) });
  }
  charge(entries: number, of: Plan = plan('trial'), tenantId = 1): Refund {
    return (this.limit.charge as NonNullable<typeof this.limit.charge>)(fakePrincipal({ tenantId, plan: of }), entries, 100);
  }
  /** Null where it is taken, else the seconds to wait. */
  wait(entries: number, of: Plan = plan('trial'), tenantId = 1): number | null {
    try {
      this.charge(entries, of, tenantId);
      return null;
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      expect(error).to.include({ status: 429, slug: 'rate_limited' });
      return error.options.retryAfter ?? NaN;
    }
  }
}

describe('the bucket of a tenant', () => {
  it('lets the burst through, then debt, then refuses what is larger than the burst until the debt is paid', () => {
    const node = new Node();
    expect(node.wait(2500)).to.equal(null);
    expect(node.wait(2501)).to.equal(1);
    expect(node.wait(2500)).to.equal(null);
    expect(node.wait(2501)).to.equal(5);
    node.now += 2.5 * SECOND;
    expect(node.wait(2501)).to.equal(3);
    node.now += 2.5 * SECOND + 1;
    expect(node.wait(2501)).to.equal(null);
  });

  it('never refuses a request that fits inside the burst, however deep the debt', () => {
    const node = new Node();
    node.charge(1_000_000);
    for (let request = 0; request < 100; request++) expect(node.wait(2500)).to.equal(null);
  });

  it('says what the limit is, and does not speak of a day', () => {
    const node = new Node();
    node.charge(5000);
    expect(() => node.charge(3000)).to.throw(HttpError, /500 entries\/s.*3000 entries must wait 5 s.*at most 2500 entries/);
    expect(() => node.charge(3000))
      .to.throw(HttpError)
      .with.property('message')
      .that.does.not.match(/daily|quota/);
  });

  it('of one tenant is none of the others business', () => {
    const node = new Node();
    node.charge(100_000, plan('trial'), 1);
    expect(node.wait(2501, plan('trial'), 2)).to.equal(null);
    expect(node.wait(2501, plan('trial'), 1)).to.equal(5);
  });

  it('follows the plan', () => {
    const node = new Node();
    node.charge(5000);
    expect(node.wait(2501)).to.equal(5);
    expect(node.wait(2501, plan('growth'))).to.equal(null);
    expect(node.wait(10_001, plan('growth'))).to.equal(3);
    node.now += SECOND;
    expect(node.wait(2501, plan('team'))).to.equal(5);
  });

  it('is none on a plan without a rate', () => {
    const node = new Node();
    for (let request = 0; request < 50; request++) node.charge(1e9, plan('unlimited'));
    for (let request = 0; request < 50; request++) node.charge(1e9, plan('custom', { entriesPerSecond: 999_999_999_999_999 }));
    expect(node.counts.calls).to.have.lengthOf(100);
  });

  it('takes nothing on a plan whose rate is zero, but a request without entries', () => {
    const node = new Node();
    const blocked = plan('custom', { entriesPerSecond: 0 });
    expect(node.wait(0, blocked)).to.equal(null);
    expect(node.wait(1, blocked)).to.equal(60);
  });

  it('takes every request without entries, and says nothing of it', () => {
    const node = new Node();
    node.charge(100_000);
    node.counts.calls.length = 0;
    expect(node.wait(0)).to.equal(null);
    expect(node.counts.calls).to.deep.equal([]);
  });

  it('gives back what a request took and no more, also when the plan has changed since', () => {
    const node = new Node();
    node.charge(100_000)();
    expect(node.wait(2500)).to.equal(null);
    expect(node.wait(2501)).to.equal(1);
    const refund = node.charge(2500);
    node.charge(2500);
    refund();
    // at the floor the second took nothing, so the refund leaves the bucket at zero
    expect(node.wait(2501)).to.equal(1);
    node.now += 1;
    expect(node.wait(2501)).to.equal(null);
    const large = node.charge(1000, plan('growth'));
    node.wait(0, plan('trial'));
    large();
    expect(node.wait(2501, plan('trial'))).to.be.within(1, 5);
  });

  it('tells the other nodes what it charged and what it gave back', () => {
    const node = new Node();
    node.charge(300, plan('trial'), 7)();
    node.charge(5, plan('unlimited'), 8);
    node.charge(5000, plan('trial'), 7);
    expect(node.wait(3000, plan('trial'), 7)).to.equal(5);
    expect(node.counts.calls).to.deep.equal([
      [7, 300],
      [7, -300],
      [8, 5],
      [7, 5000],
    ]);
  });

  describe('is drained by the other nodes', () => {
    it('from when this node first saw the tenant', () => {
      const node = new Node();
      node.counts.others.set(1, 1_000_000);
      expect(node.wait(1)).to.equal(null);
      expect(node.wait(2501)).to.equal(null);
      node.counts.others.set(1, 1_000_001);
      expect(node.wait(2501)).to.equal(1);
    });
    it('down to the floor, never refusing what fits inside the burst', () => {
      const node = new Node();
      node.charge(1);
      node.counts.others.set(1, 1_000_000);
      expect(node.wait(2501)).to.equal(5);
      expect(node.wait(2500)).to.equal(null);
      node.now += 5 * SECOND + 1;
      expect(node.wait(2501)).to.equal(null);
    });
    it('not by a tenant that kept to its rate while this node did not see it', () => {
      const node = new Node();
      node.charge(1);
      node.now += 3600 * SECOND;
      node.counts.others.set(1, 3600 * 500);
      expect(node.wait(2498)).to.equal(null);
      expect(node.wait(2501)).to.equal(null);
    });
    it('and not lifted when their count falls', () => {
      const node = new Node();
      node.counts.others.set(1, 100);
      node.charge(5000);
      node.counts.others.set(1, 0);
      expect(node.wait(2501)).to.equal(5);
      node.counts.others.set(1, 100);
      expect(node.wait(2501)).to.equal(5);
    });
  });

  describe('is forgotten', () => {
    it('beyond the bound when it is full, so that nothing changes', () => {
      const node = new Node(100);
      for (let tenant = 1; tenant <= 100; tenant++) node.charge(100_000, plan('trial'), tenant);
      node.now += 10 * SECOND - 1;
      node.charge(1, plan('trial'), 1000);
      node.charge(5000, plan('trial'), 1);
      node.now += 1;
      node.charge(1, plan('trial'), 1001);
      expect(node.wait(2501, plan('trial'), 1)).to.equal(5);
      expect(node.wait(5000, plan('trial'), 2)).to.equal(null);
    });
    it('never while it is in debt, however many tenants come', () => {
      const node = new Node(10);
      for (let tenant = 1; tenant <= 5000; tenant++) node.charge(100_000, plan('trial'), tenant);
      for (let tenant = 1; tenant <= 5000; tenant++) expect(node.wait(2501, plan('trial'), tenant)).to.equal(5);
    });
    it('so that idle tenants take no memory', () => {
      const node = new Node(10);
      for (let tenant = 1; tenant <= 1000; tenant++) {
        node.charge(1, plan('trial'), tenant);
        node.now += 11 * SECOND;
      }
      // the others' charges drain the buckets that are known, and those alone
      let known = 0;
      for (let tenant = 1000; tenant >= 1; tenant--) {
        node.counts.others.set(tenant, 1e6);
        known += node.wait(2501, plan('trial'), tenant) === null ? 0 : 1;
      }
      expect(known).to.be.within(1, 10);
    });
  });
});
