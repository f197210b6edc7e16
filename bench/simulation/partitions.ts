import { placeOf, shardOf, tenantSeed } from '../../pipeline/intake/shard.ts';
import { valueOf } from './figures.ts';
import { randomOf } from './random.ts';
import type { Tenant } from './tenants.ts';

/** What partitions get of the peak, entries/s. */
export type PartitionLoads = {
  readonly loads: Float64Array;
  /** The busiest one, in means of all; and that which one of a hundred exceeds. */
  readonly skew: number;
  readonly p99: number;
  /** The busiest partition that has entries of the largest tenant. */
  readonly hot: number;
};

/** So few say it to within two percent. */
const SAMPLE = 2000;

/** Spreads tenants over partitions by the service's own hash: of the tenant, and of each stream where a tenant has several partitions. */
export function loadsOf(tenants: readonly Tenant[], partitions: number, seed: number): PartitionLoads {
  const loads = new Float64Array(partitions);
  const random = randomOf(seed ^ 0x5f3759df);
  for (const { id, peakRate, shards, streams } of tenants) {
    const shard = shardOf(id, shards, partitions);
    if (shard.length === 1) loads[shard[0] as number] = (loads[shard[0] as number] as number) + peakRate;
    else spread({ loads, shard, peakRate, streams, seed: tenantSeed(id) }, random);
  }
  const sorted = Float64Array.from(loads).sort();
  const mean = sorted.reduce((sum, load) => sum + load, 0) / partitions;
  const at = (share: number): number => sorted[Math.min(partitions - 1, Math.floor(share * partitions))] as number;
  const largest = tenants[0];
  const own = largest === undefined ? [] : shardOf(largest.id, largest.shards, partitions);
  return { loads, skew: at(1) / mean, p99: at(0.99) / mean, hot: Math.max(0, ...own.map((partition) => loads[partition] as number)) };
}

type Spread = {
  readonly loads: Float64Array;
  readonly shard: readonly number[];
  readonly peakRate: number;
  readonly streams: number;
  readonly seed: number;
};

/** Streams of unlike size, each in the place of its hash. */
function spread({ loads, shard, peakRate, streams, seed }: Spread, random: () => number): void {
  const exponent = -valueOf('streamZipf');
  let total = 0;
  for (let rank = 1; rank <= streams; rank++) total += rank ** exponent;
  for (let rank = 1; rank <= streams; rank++) {
    const partition = shard[placeOf(seed, Math.floor(random() * 4_294_967_296), shard.length)] as number;
    loads[partition] = (loads[partition] as number) + (peakRate * rank ** exponent) / total;
  }
}

/** The share of tenants whose first partition changes where a topic gets more of them. */
export function movedShare(tenants: readonly Tenant[], from: number, to: number): number {
  const sample = tenants.slice(0, SAMPLE);
  const moved = sample.filter(({ id }) => shardOf(id, 1, from)[0] !== shardOf(id, 1, to)[0]);
  return moved.length / sample.length;
}
