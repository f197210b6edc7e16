import { expect } from 'chai';
import type { Refund } from '../../../api/limits/ingest-limit.ts';
import { platformBucket } from '../../../api/limits/platform-bucket.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { fakePrincipal } from '../../fakes/key-store.ts';
import { FakeSharedCounts } from '../../fakes/shared-counts.ts';

const SECOND = 1e6;

class Node {
  now = 0;
  readonly counts = new FakeSharedCounts();
  readonly limit = platformBucket({ counts: this.counts, rate: 50_000, now: () => this.now });
  charge(entries: number, tenantId = 1): Refund {
    return (this.limit.charge as NonNullable<typeof this.limit.charge>)(fakePrincipal({ tenantId }), entries, 100);
  }
  wait(entries: number, tenantId = 1): number | null {
    try {
      this.charge(entries, tenantId);
      return null;
    } catch (error) {
      expect(error).to.be.instanceOf(HttpError).and.to.include({ status: 429, slug: 'rate_limited' });
      expect((error as HttpError).message)
        .to.match(/platform.*50000 entries\/s/)
        .and.not.to.match(/daily|quota/);
      return (error as HttpError).options.retryAfter ?? NaN;
    }
  }
}

describe('the bucket of the platform', () => {
  it('is one for all tenants, and refuses small requests too', () => {
    const node = new Node();
    expect(node.wait(200_000, 1)).to.equal(null);
    expect(node.wait(100_000, 2)).to.equal(null);
    expect(node.wait(1, 3)).to.equal(1);
    node.now += SECOND + 1;
    expect(node.wait(1, 3)).to.equal(null);
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
    node.counts.total = 250_000;
    expect(node.wait(1)).to.equal(1);
    node.counts.total = 0;
    node.now += 1000;
    expect(node.wait(1)).to.equal(null);
  });
  it('gets back what a request took and no more', () => {
    const node = new Node();
    node.charge(10_000_000)();
    expect(node.wait(250_000)).to.equal(null);
    expect(node.wait(1)).to.equal(1);
  });
});
