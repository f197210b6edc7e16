import { expect } from 'chai';
import fc from 'fast-check';
import { effectivePlan } from '../../../api/control/flags.ts';
import type { Plan } from '../../../api/tenants/plans.ts';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { ingestLimits } from '../../../api/limits/index.ts';
import { admitAll, chargeAll, type IngestLimit, type Refund } from '../../../api/limits/ingest-limit.ts';
import { pressure } from '../../../api/limits/pressure.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { FakeKeyStore, fakePrincipal } from '../../fakes/key-store.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { linesFormat } from '../../fakes/normalizers.ts';
import { FakeSharedCounts } from '../../fakes/shared-counts.ts';
import { startHost } from '../../fakes/test-host.ts';

const SECOND = 1e6;
const plan = (name: string): Plan => effectivePlan({ plan: name, flags: {} });

/** The limits of a node whose clocks, lag and counts the test sets. */
class Node {
  readonly counts = new FakeSharedCounts();
  now = 0;
  clock = Date.UTC(2026, 10, 21, 12);
  lag = 0;
  heavy: number | null = null;
  readonly limits: readonly IngestLimit[];
  constructor(platformPerSecond = 0) {
    this.limits = ingestLimits({
      counts: this.counts,
      unit: 'entries',
      platformPerSecond,
      lagMs: () => this.lag,
      isHeavy: (tenantId) => this.heavy === null || tenantId === this.heavy,
      now: () => this.now,
      clock: () => this.clock,
    });
  }
  admit(name = 'trial', tenantId = 1): HttpError | null {
    return refusal(() => admitAll(this.limits, fakePrincipal({ tenantId, plan: plan(name) })));
  }
  charge(entries: number, name = 'trial', tenantId = 1): Refund {
    return chargeAll(this.limits, fakePrincipal({ tenantId, plan: plan(name) }), entries, 100);
  }
}

function refusal(action: () => unknown): HttpError | null {
  try {
    action();
    return null;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

const shown = (error: HttpError | null): string => (error === null ? 'taken' : `${error.slug} ${error.options.retryAfter}`);

describe('the limits of the ingest plane', () => {
  it('are in the contract’s order', () =>
    expect(new Node(5).limits.map(({ name }) => name)).to.deep.equal(['daily volume', 'pressure', 'tenant bucket', 'platform bucket']));

  it('have no platform bucket where it is off', () => {
    for (const rate of [0, 1e12]) expect(new Node(rate).limits.map(({ name }) => name)).not.to.include('platform bucket');
  });

  describe('before the body', () => {
    it('quota, then the log, then the event loop', () => {
      const node = new Node();
      expect(shown(node.admit())).to.equal('taken');
      node.lag = 251;
      expect(shown(node.admit())).to.equal('backpressure 5');
      node.counts.full = 'its disk is nearly full';
      expect(shown(node.admit())).to.equal('wal_full 10');
      expect(node.admit()?.message).to.contain('its disk is nearly full');
      node.counts.bytes.set(`1 ${Math.floor(node.clock / 86_400_000)}`, 73e9);
      expect(shown(node.admit())).to.equal('rate_limited 60');
      expect(shown(node.admit('trial_expired'))).to.equal('rate_limited 60');
      expect(shown(node.admit('team'))).to.equal('wal_full 10');
    });
    it('a lag is that of those who use the event loop most', () => {
      const node = new Node();
      node.lag = 251;
      node.heavy = 2;
      expect(shown(node.admit('team', 1))).to.equal('taken');
      expect(shown(node.admit('team', 2))).to.equal('backpressure 5');
    });
    it('a lag of 250 ms is none yet', () => {
      const limit = pressure({ counts: new FakeSharedCounts(), unit: 'entries', lagMs: () => 250, isHeavy: () => true });
      expect(refusal(() => limit.admit?.(fakePrincipal()))).to.equal(null);
    });
    it('nothing on a node alone; and its own clocks run', () => {
      const limits = ingestLimits({
        counts: new FakeSharedCounts(),
        unit: 'entries',
        platformPerSecond: 0,
        lagMs: () => 0,
        isHeavy: () => true,
      });
      for (const name of ['trial', 'team', 'unlimited'])
        expect(refusal(() => admitAll(limits, fakePrincipal({ plan: plan(name) })))).to.equal(null);
      expect(refusal(() => chargeAll(limits, fakePrincipal({ plan: plan('trial') }), 5001, 1))).to.equal(null);
      expect(shown(refusal(() => chargeAll(limits, fakePrincipal({ plan: plan('trial') }), 2501, 1)))).to.equal('rate_limited 5');
    });
  });

  describe('after the body', () => {
    it('the tenant’s bucket is asked first', () => {
      const node = new Node(1500);
      node.charge(5000);
      expect(refusal(() => node.charge(2501))?.message).to.contain('The tenant sends');
      expect(refusal(() => node.charge(2500))).to.equal(null);
      expect(refusal(() => node.charge(1))?.message).to.contain('platform');
    });

    it('what the platform refuses costs the tenant nothing, however deep either is in debt', () => {
      const node = new Node(1000);
      node.charge(1_000_000, 'unlimited', 9);
      // its share of the platform's rate is its own, whatever another one has taken
      node.charge(2500);
      for (let request = 0; request < 100; request++) expect(shown(refusal(() => node.charge(2500)))).to.equal('rate_limited 5');
      expect(node.counts.calls.filter(([tenant]) => tenant === 1).reduce((sum, [, entries]) => sum + entries, 0)).to.equal(2500);
      node.now += 5 * SECOND + 1000;
      expect(refusal(() => node.charge(2500))).to.equal(null);
    });

    it('a request without entries is always taken', () => {
      const node = new Node(1000);
      node.charge(1_000_000);
      expect(shown(refusal(() => node.charge(2501)))).to.equal('rate_limited 5');
      expect(refusal(() => node.charge(2500, 'trial', 2))).to.equal(null);
      expect(shown(refusal(() => node.charge(1, 'trial', 2)))).to.equal('rate_limited 5');
      node.charge(0);
      node.charge(0, 'unlimited', 2);
    });

    it('any sequence of charges that are all given back leaves the limits as they were', () => {
      fc.assert(
        fc.property(
          fc.array(fc.record({ entries: fc.nat(20_000), tenant: fc.integer({ min: 1, max: 3 }) }), { maxLength: 30 }),
          fc.nat(12),
          (requests, seconds) => {
            const [used, fresh] = [new Node(5000), new Node(5000)];
            for (const node of [used, fresh]) node.charge(7000);
            for (const { entries, tenant } of requests) refusal(() => used.charge(entries, 'trial', tenant)());
            for (const node of [used, fresh]) node.now += seconds * SECOND;
            for (const entries of [1, 2500, 2501, 9000, 2501])
              expect(shown(refusal(() => used.charge(entries)))).to.equal(shown(refusal(() => fresh.charge(entries))));
          },
        ),
      );
    });
  });

  describe('over HTTP', () => {
    const node = new Node(4000);
    const publisher = new FakeLogPublisher();
    let host: Awaited<ReturnType<typeof startHost>>;
    before(async () => {
      const metrics = new Metrics('test');
      host = await startHost({
        endpoints: ingestEndpoints({ normalizers: [linesFormat], publisher, limits: node.limits, maxBodyBytes: 400_000, metrics }),
        keys: new FakeKeyStore({
          trial: { tenantId: 1, plan: plan('trial') },
          expired: { tenantId: 2, plan: plan('trial_expired') },
          unlimited: { tenantId: 3, plan: plan('unlimited') },
        }),
        metrics,
      });
    });
    after(() => host.stop());
    beforeEach(() => {
      node.now += 60 * SECOND;
      node.lag = 0;
      node.counts.full = null;
      publisher.full = false;
      publisher.failing = false;
    });

    async function post(key: string, body: string): Promise<string> {
      const response = await fetch(`${host.url}/lines`, { method: 'POST', body, headers: { authorization: `Bearer ${key}` } });
      const text = await response.text();
      if (response.status !== 429) return String(response.status);
      const json = JSON.parse(text) as Record<string, unknown>;
      expect(json).to.have.all.keys('error', 'detail', 'request_id', 'retry_after');
      expect(response.headers.get('retry-after')).to.equal(String(json['retry_after']));
      expect(response.headers.get('x-request-id')).to.equal(json['request_id']);
      return `${String(json['error'])} ${String(json['retry_after'])}`;
    }
    const lines = (count: number): string => 'x\n'.repeat(count - 1) + 'x';
    const huge = 'x'.repeat(500_000);

    it('trial and quota come before pressure, pressure before the body, the body before the buckets', async () => {
      publisher.full = true;
      node.lag = 1000;
      node.counts.full = 'full';
      expect(await post('expired', huge)).to.equal('rate_limited 60');
      expect(await post('trial', huge)).to.equal('wal_full 10');
      node.counts.full = null;
      expect(await post('trial', huge)).to.equal('backpressure 5');
      node.lag = 0;
      expect(await post('trial', huge)).to.equal('backpressure 5');
      publisher.full = false;
      node.charge(100_000);
      expect(await post('trial', huge)).to.equal('413');
      expect(await post('trial', lines(2501))).to.equal('rate_limited 5');
    });
    it('the tenant’s bucket in debt', async () => {
      expect(await post('trial', lines(6000))).to.equal('200');
      node.now += 1.5 * SECOND;
      expect(await post('trial', lines(2501))).to.equal('rate_limited 4');
      expect(await post('trial', lines(2500))).to.equal('200');
    });
    it('the platform’s bucket refuses a small batch of who is beyond its share', async () => {
      expect(await post('unlimited', lines(30_000))).to.equal('200');
      expect(await post('unlimited', lines(1))).to.equal('rate_limited 3');
      expect(await post('trial', lines(1))).to.equal('200');
      expect(await post('trial', 'bad')).to.equal('200');
    });
    it('what Kafka did not take is given back', async () => {
      publisher.failing = true;
      for (let request = 0; request < 5; request++) expect(await post('trial', lines(2500))).to.equal('backpressure 5');
      publisher.failing = false;
      expect(await post('trial', lines(2500))).to.equal('200');
      expect(await post('trial', lines(2501))).to.equal('rate_limited 1');
    });
  });

  it('a charge that throws gives back what came before it, in each limit once', () => {
    const calls: string[] = [];
    const limit = (name: string, refuses = false): IngestLimit => ({
      name,
      charge: (_principal, entries, bytes) => {
        if (refuses) throw new HttpError(429, 'x', 'x');
        calls.push(`${name} ${entries} ${bytes}`);
        return () => {
          calls.push(`${name} back`);
        };
      },
    });
    const gate: IngestLimit = { name: 'gate', admit: () => undefined };
    expect(() => chargeAll([limit('a'), gate, limit('b'), limit('c', true), limit('d')], fakePrincipal(), 3, 9)).to.throw(HttpError);
    expect(calls).to.deep.equal(['a 3 9', 'b 3 9', 'a back', 'b back']);
    calls.length = 0;
    chargeAll([limit('a'), limit('b')], fakePrincipal(), 3, 9)();
    expect(calls).to.deep.equal(['a 3 9', 'b 3 9', 'a back', 'b back']);
  });
});
