import { expect } from 'chai';
import { effectivePlan } from '../../../api/control/flags.ts';
import type { Refund } from '../../../api/limits/ingest-limit.ts';
import { platformBucket } from '../../../api/limits/platform-bucket.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { fakePrincipal } from '../../fakes/key-store.ts';
import { FakeSharedCounts } from '../../fakes/shared-counts.ts';
import { extent } from '../../extent.ts';

const SECOND = 1e6;

class Node {
  now = 0;
  readonly counts = new FakeSharedCounts();
  readonly limit = platformBucket({ counts: this.counts, unit: 'entries', rate: 50_000, now: () => this.now });
  charge(entries: number, tenantId = 1, plan = 'unlimited'): Refund {
    const principal = fakePrincipal({ tenantId, plan: effectivePlan({ plan, flags: {} }) });
    return (this.limit.charge as NonNullable<typeof this.limit.charge>)(principal, entries, 100);
  }
  wait(entries: number, tenantId = 1, plan = 'unlimited'): number | null {
    return waitOf(() => this.charge(entries, tenantId, plan));
  }
}

function waitOf(action: () => unknown): number | null {
  try {
    action();
    return null;
  } catch (error) {
    expect(error).to.be.instanceOf(HttpError).and.to.include({ status: 429, slug: 'rate_limited' });
    expect((error as HttpError).message)
      .to.match(/platform.*50000 entries\/s/)
      .and.not.to.match(/daily|quota/);
    return (error as HttpError).options.retryAfter ?? NaN;
  }
}

describe('the bucket of the platform', () => {
  it('is one for all tenants, and refuses small requests too', () => {
    const node = new Node();
    expect(node.wait(300_000, 1)).to.equal(null);
    expect(node.wait(1, 1)).to.equal(1);
    expect(node.wait(130_000, 2)).to.equal(null);
    for (const tenant of [1, 2]) expect(node.wait(1, tenant)).to.equal(4);
    node.now += 4 * SECOND + 1;
    for (const tenant of [1, 2, 3]) expect(node.wait(1, tenant)).to.equal(null);
  });
  it('has a floor: a huge request is worth 5 s of debt at most', () => {
    const node = new Node();
    node.charge(10_000_000);
    expect(node.wait(1)).to.equal(5);
    node.now += 5 * SECOND;
    expect(node.wait(1)).to.equal(1);
    node.now += 20;
    expect(node.wait(1)).to.equal(null);
  });
  it('takes requests without entries', () => {
    const node = new Node();
    node.charge(10_000_000);
    expect(node.wait(0)).to.equal(null);
  });
  it('is drained by the other nodes, from when this one began', () => {
    const node = new Node();
    expect(node.wait(1)).to.equal(null);
    node.counts.total = 250_000;
    node.counts.others.set(1, 250_000);
    expect(node.wait(1)).to.equal(1);
    node.counts.total = 0;
    node.counts.others.clear();
    node.now += 1000;
    expect(node.wait(1)).to.equal(null);
  });
  it('refuses those beyond their share first, however much they have taken', () => {
    const node = new Node();
    node.charge(10_000_000, 1);
    expect(node.wait(1, 1)).to.equal(5);
    expect(node.wait(100_000, 2)).to.equal(null);
    expect(node.wait(10_000, 2)).to.equal(null);
    expect(node.wait(1, 1)).to.equal(5);
  });
  it('refuses all, as soon as those within their shares owe half of the burst', () => {
    const node = new Node();
    node.charge(250_000, 1);
    expect(node.wait(110_000, 2)).to.equal(null);
    expect(node.wait(15_000, 3)).to.equal(null);
    for (const tenant of [1, 2, 3, 4]) expect(node.wait(1, tenant)).to.equal(3);
  });
  it('is shared by the rates of the plans', () => {
    const node = new Node();
    node.charge(1, 2, 'growth');
    node.charge(260_000, 1);
    // 10,000 of 60,000 parts of 50,000 entries/s, of which a burst is five seconds' worth
    expect(node.wait(41_665, 2, 'growth')).to.equal(null);
    expect(node.wait(1, 2, 'growth')).to.be.a('number');
  });
  it('leaves each of many its share under a flood, and no more than its rate to all', () => {
    const node = new Node();
    const taken = new Map<number, number>();
    const send = (entries: number, tenant: number): void => {
      if (node.wait(entries, tenant) === null) taken.set(tenant, (taken.get(tenant) ?? 0) + entries);
    };
    const SECONDS = extent(20, 60);
    for (let tick = 0; tick < SECONDS * 100; tick++) {
      node.now += SECOND / 100;
      for (let times = 0; times < 4; times++) send(2000, 1);
      for (let tenant = 2; tenant < 12; tenant++) send(10, tenant);
    }
    for (let tenant = 2; tenant < 12; tenant++) expect(taken.get(tenant)).to.equal(SECONDS * 1000);
    const all = [...taken.values()].reduce((sum, entries) => sum + entries, 0);
    expect(all).to.be.within(SECONDS * 50_000, SECONDS * 50_000 + 500_000);
  });
  it('gets back what a request took and no more', () => {
    const node = new Node();
    node.charge(10_000_000)();
    expect(node.wait(250_000)).to.equal(null);
    expect(node.wait(1)).to.equal(1);
  });
});
