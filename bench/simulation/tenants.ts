import { grownShards } from '../../api/control/shard-growth.ts';
import { findPlan, type Plan } from '../../api/tenants/plans.ts';
import { valueOf } from './figures.ts';
import { randomOf } from './random.ts';

/** A tenant of the simulation, on the smallest plan that takes its volume. */
export type Tenant = {
  readonly id: number;
  readonly plan: Plan;
  /** Entries of the busiest second, and streams that they are of. */
  readonly peakRate: number;
  readonly streams: number;
  /** To how many partitions its entries go once they have grown. */
  readonly shards: number;
};

const DAY_SECONDS = 86_400;
/** More are not looked at, and no plan has more a day but `unlimited`. */
const MOST_STREAMS = 50_000;
/** Plans that are paid for, from the smallest on. */
const PAID = ['team', 'growth', 'custom'].map((name) => findPlan(name)).filter((plan) => plan !== undefined);

/** Tenants whose volumes follow Zipf's law and add up to `bytes` a day; ids are those that a service gives, in an order that has nothing to do with size. */
export function tenantsOf({
  bytes,
  tenants,
  seed,
  partitions,
}: {
  readonly bytes: number;
  readonly tenants: number;
  readonly seed: number;
  readonly partitions: number;
}): Tenant[] {
  const weights = Array.from({ length: tenants }, (_, rank) => (rank + 1) ** -valueOf('zipf'));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const random = randomOf(seed);
  const ids = Array.from({ length: tenants }, (_, at) => at + 1);
  for (let at = tenants - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [ids[at], ids[other]] = [ids[other] as number, ids[at] as number];
  }
  return weights.map((weight, rank) => tenantOf(ids[rank] as number, (bytes * weight) / total, partitions));
}

function tenantOf(id: number, bytes: number, partitions: number): Tenant {
  const plan = PAID.find(({ dailyBytes }) => bytes <= dailyBytes);
  if (plan === undefined) throw new Error('BUG: no plan takes any volume.');
  const rate = bytes / valueOf('entryBytes') / DAY_SECONDS;
  const peakRate = rate * valueOf('peak');
  const streams = Math.min(MOST_STREAMS, plan.streamsPerDay, Math.max(1, Math.round(rate / valueOf('streamRate'))));
  let shards = Math.min(plan.shards, partitions);
  for (let grown = grownShards(peakRate, shards, partitions); grown !== shards; grown = grownShards(peakRate, shards, partitions))
    shards = grown;
  return { id, plan, peakRate, streams, shards };
}
