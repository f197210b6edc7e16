import { expect } from 'chai';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { TenantUses } from '../../../pipeline/core/tenant-use.ts';

describe('use of tenants', () => {
  it('is added up, the largest first, by id where they are equal', () => {
    const uses = new TenantUses<'entries' | 'bytes'>('bytes');
    uses.add(1, { entries: 1, bytes: 10 });
    uses.add(2, { entries: 1, bytes: 30 });
    uses.add(1, { entries: 2, bytes: 10 });
    uses.add(4, { entries: 0, bytes: 5 });
    uses.add(3, { entries: 0, bytes: 5 });
    expect(uses.top(3)).to.deep.equal([
      { tenantId: 2, entries: 1, bytes: 30 },
      { tenantId: 1, entries: 3, bytes: 20 },
      { tenantId: 3, entries: 0, bytes: 5 },
    ]);
  });

  it('is kept of so many tenants: those with the least are forgotten', () => {
    const uses = new TenantUses<'entries' | 'bytes'>('bytes', 4);
    for (let id = 1; id <= 5; id++) uses.add(id, { entries: 1, bytes: id });
    expect(uses.top(9).map(({ tenantId }) => tenantId)).to.deep.equal([5, 4]);
  });

  it('has series for 50 tenants at most, with all that was counted of them', async () => {
    const metrics = new Metrics('test');
    for (let id = 1; id <= 60; id++) metrics.tenants.add(id, { entries: 2, bytes: 1000 + id });
    const series = async (name: string): Promise<Map<unknown, number>> => {
      const found = await metrics.registry.getSingleMetric(name)?.get();
      return new Map(found?.values.map(({ labels, value }) => [(labels as { tenant?: string }).tenant, value]));
    };
    const before = await series('logweir_tenant_bytes_total');
    expect([before.size, before.get('60'), before.get('10')]).to.deep.equal([50, 1060, undefined]);
    metrics.tenants.add(10, { entries: 1, bytes: 1000 });
    const after = await series('logweir_tenant_bytes_total');
    expect([after.size, after.get('10'), after.get('11')]).to.deep.equal([50, 2010, undefined]);
    expect((await series('logweir_tenant_entries_total')).get('10')).to.equal(3);
    metrics.queries.add(7, { queries: 2, seconds: 1.5 });
    expect((await series('logweir_tenant_queries_total')).get('7')).to.equal(2);
    expect((await series('logweir_tenant_query_seconds_total')).get('7')).to.equal(1.5);
  });
});
