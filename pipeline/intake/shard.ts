import { RecentMap } from '../core/generations.ts';

/**
 * The partitions that a tenant's entries go to: the first `k` of a pseudo-random order of all partitions, which is the tenant's own and
 * the same in every process and release. So a larger k only adds, and tenants that share one partition hardly share the others. The
 * order is by weights of (tenant, partition), so that partitions added to the topic later come in between and move nothing else. All
 * partitions where there are fewer than k.
 */
export function shardOf(tenantId: number, k: number, partitions: number): readonly number[] {
  const seed = tenantSeed(tenantId);
  if (k <= 1) return [heaviest(seed, partitions)];
  const weights = Int32Array.from({ length: partitions }, (_, partition) => weight(seed, partition));
  const order = Array.from(weights, (_, partition) => partition);
  order.sort((a, b) => (weights[b] as number) - (weights[a] as number) || a - b);
  return order.slice(0, k);
}

/** The first of the order, which is all that most tenants have. */
function heaviest(seed: number, partitions: number): number {
  let first = 0;
  for (let partition = 1; partition < partitions; partition++) if (weight(seed, partition) > weight(seed, first)) first = partition;
  return first;
}

const weight = (seed: number, partition: number): number => mix(seed ^ Math.imul(partition + 1, 0x9e3779b1));

/** What the places of a tenant's streams are mixed with, so that streams that are busy for all tenants lie apart. */
export const tenantSeed = (tenantId: number): number => mix(tenantId);

/** The place in a shard of `k` partitions of a stream, by 32 bits of its hash. Of a doubled k, half of the streams keep their place. */
export const placeOf = (seed: number, hash: number, k: number): number => (k === 1 ? 0 : (mix(hash ^ seed) >>> 0) % k);

/** The finalizer of MurmurHash3: each bit of the number changes half of the bits of the result, a signed number of 32 bits. */
function mix(number: number): number {
  let hash = number | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Tenants whose partitions are remembered, in each of two generations. */
const MAX_KNOWN = 20_000;

/** The partitions of the tenants of a topic, remembered: a look-up makes nothing. */
export class Shards {
  readonly partitions: number;
  readonly #known = new RecentMap<number, readonly number[]>(MAX_KNOWN);

  /** `partitions`: how many the topic has. */
  constructor(partitions: number) {
    this.partitions = partitions;
  }

  of(tenantId: number, k: number): readonly number[] {
    const known = this.#known.get(tenantId);
    if (known !== undefined && known.length === Math.min(Math.max(1, k), this.partitions)) return known;
    const shard = shardOf(tenantId, k, this.partitions);
    this.#known.set(tenantId, shard);
    return shard;
  }
}
