import { expect } from 'chai';
import { FIGURES, valueOf } from '../../bench/simulation/figures.ts';
import { insertsOf, partsOfInsert } from '../../bench/simulation/inserts.ts';
import { machinesOf, microsAt } from '../../bench/simulation/machines.ts';
import { loadsOf, movedShare } from '../../bench/simulation/partitions.ts';
import { sectionsOf } from '../../bench/simulation/report.ts';
import { MOST_PARTITIONS, partitionsFor, SCENARIOS, simulate } from '../../bench/simulation/simulate.ts';
import { tenantsOf } from '../../bench/simulation/tenants.ts';
import { SHARD_ENTRIES_PER_SECOND } from '../../api/control/shard-growth.ts';
import { SINK_PACE } from '../../main/roles/sink-pace.ts';

const small = { name: 'small', bytes: 5e12, tenants: 500 };
const total = (values: Iterable<number>): number => [...values].reduce((sum, value) => sum + value, 0);

describe('the simulation', () => {
  const partitions = 64;
  const tenants = tenantsOf({ ...small, seed: 3, partitions });

  it('gives the same for the same seed, and other tenants for another', () => {
    expect(simulate(small, 3)).to.deep.equal(simulate(small, 3));
    expect(simulate(small, 4)).to.not.deep.equal(simulate(small, 3));
  });

  it('has tenants that add up to the volume, on plans that take them', () => {
    const bytes = (total(tenants.map(({ peakRate }) => peakRate)) / valueOf('peak')) * valueOf('entryBytes') * 86_400;
    expect(bytes).to.be.closeTo(small.bytes, small.bytes / 1e9);
    for (const { peakRate, plan } of tenants)
      expect((peakRate / valueOf('peak')) * valueOf('entryBytes') * 86_400).to.be.at.most(plan.dailyBytes);
    expect(new Set(tenants.map(({ id }) => id)).size).to.equal(small.tenants);
  });

  it('gives no tenant fewer shards than its rate wants, or its plan has', () => {
    for (const { shards, plan, peakRate } of tenants) {
      expect(shards).to.be.at.least(plan.shards);
      expect(shards === partitions || peakRate <= shards * SHARD_ENTRIES_PER_SECOND).to.equal(true);
    }
  });

  it('spreads each entry over one partition', () => {
    const { loads, skew, p99, hot } = loadsOf(tenants, partitions, 3);
    expect(total(loads)).to.be.closeTo(total(tenants.map(({ peakRate }) => peakRate)), 1);
    expect(skew).to.be.at.least(p99);
    expect(hot).to.be.at.most(Math.max(...loads));
  });

  it('has a cooler hottest partition where tenants have more shards', () => {
    const { earlyHottest, skew, peakRate, partitions: count } = simulate(small, 3);
    expect(earlyHottest).to.be.below((skew * peakRate) / count);
  });

  it('moves half of the tenants where partitions double, and none where they stay', () => {
    expect(movedShare(tenants, 64, 128)).to.be.closeTo(0.5, 0.1);
    expect(movedShare(tenants, 64, 64)).to.equal(0);
  });

  it('has partitions for each peak, as many as a topic can be given', () => {
    for (const rate of [1, 60_000, 60_001, 1e6]) expect(partitionsFor(rate) * SHARD_ENTRIES_PER_SECOND).to.be.at.least(rate);
    expect(partitionsFor(1e12)).to.equal(MOST_PARTITIONS);
  });

  it('inserts at the pace of the sink', () => {
    for (const rate of [10, 1000, 5000, 20_000, 100_000, 1e6]) {
      const { perSecond, rows } = insertsOf(rate, SINK_PACE);
      expect(perSecond * rows).to.be.closeTo(rate, rate / 1e9);
      expect(rows).to.be.at.most(SINK_PACE.rows);
    }
    expect(insertsOf(0, SINK_PACE).perSecond).to.equal(0);
    expect(insertsOf(100, SINK_PACE).rows).to.equal(60);
    expect(insertsOf(1e6, SINK_PACE).rows).to.equal(300_000);
    expect(partsOfInsert(tenants)).to.be.above(1);
  });

  it('has the CPU that was measured where it was measured, and less for each entry the more come', () => {
    expect(microsAt(valueOf('slowRate'))).to.equal(valueOf('slowMicros'));
    expect(microsAt(valueOf('mediumRate'))).to.be.closeTo(valueOf('mediumMicros'), 1e-9);
    const rates = [1, 1000, 3000, 20_000, 50_000, 1e5, 1e6, 1e9].map(microsAt);
    expect(rates).to.deep.equal([...rates].sort((a, b) => b - a));
  });

  it('needs more of each machine for more', () => {
    const [less, more] = [1e5, 1e7].map((peakRate) => machinesOf({ peakRate, meanRate: peakRate / 2 }));
    expect(more?.nodes).to.be.above(less?.nodes ?? 0);
    expect(more?.replicas).to.equal(3);
    for (const role of ['ingest', 'app', 'sink', 'processors'] as const)
      expect(more?.processes[role]).to.be.at.least(less?.processes[role] ?? 0);
  });

  it('has rows as long as their heads in each table, and a source for each constant', () => {
    const outcomes = [simulate(small)];
    for (const { head, rows } of sectionsOf(outcomes)) for (const row of rows) expect(row).to.have.length(head.length);
    for (const { source, what } of Object.values(FIGURES)) expect(source, what).to.not.equal('');
    expect(SCENARIOS.map(({ name }) => name)).to.deep.equal(['10 GB', '1 TB', '100 TB', '1 PB']);
  });
});
