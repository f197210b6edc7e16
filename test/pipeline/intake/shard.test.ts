import { expect } from 'chai';
import { placeOf, shardOf, Shards, tenantSeed } from '../../../pipeline/intake/shard.ts';

const PINNED = { of1in2: [0], of1in12: [3, 4, 8, 0, 7, 1, 2, 6, 5, 9, 10, 11], of2in12: [11, 7, 10, 0], lastIn48: [43, 14, 18] };
const TENANTS = 10_000;

describe('the shard of a tenant', () => {
  it('is the same in every process and release', () => {
    expect(shardOf(1, 1, 2)).to.deep.equal(PINNED.of1in2);
    expect(shardOf(1, 12, 12)).to.deep.equal(PINNED.of1in12);
    expect(shardOf(2, 4, 12)).to.deep.equal(PINNED.of2in12);
    expect(shardOf(4_294_967_295, 3, 48)).to.deep.equal(PINNED.lastIn48);
  });

  it('only grows with k: the old partitions stay the first of the new ones, each is there once', () => {
    for (const partitions of [1, 2, 3, 12, 48, 200]) {
      for (let tenant = 1; tenant <= 20; tenant++) {
        const all = shardOf(tenant, partitions, partitions);
        expect([...all].sort((a, b) => a - b)).to.deep.equal(Array.from({ length: partitions }, (_, partition) => partition));
        for (let k = 1; k < partitions; k += 1 + (k >> 3)) expect(shardOf(tenant, k, partitions)).to.deep.equal(all.slice(0, k));
      }
    }
  });

  it('is all partitions where there are fewer, and never none', () => {
    expect(shardOf(7, 9, 2)).to.have.lengthOf(2);
    expect(shardOf(7, Infinity, 2)).to.have.lengthOf(2);
    expect(shardOf(7, 0, 2)).to.deep.equal(shardOf(7, 1, 2));
    expect(shardOf(7, 3, 1)).to.deep.equal([0]);
  });

  it('stays where it was when the topic gets more partitions, but for what moves to the new ones', () => {
    for (let tenant = 1; tenant <= 1000; tenant++) {
      const kept = shardOf(tenant, 48, 48).filter((partition) => partition < 12);
      expect(kept).to.deep.equal(shardOf(tenant, 12, 12));
    }
  });

  for (const partitions of [2, 12, 48]) {
    for (const k of [1, 2]) {
      it(`spreads ${TENANTS} tenants of ${k} over ${partitions} partitions evenly`, () => {
        const tenantsOf = new Array<number>(partitions).fill(0);
        for (let tenant = 1; tenant <= TENANTS; tenant++)
          for (const partition of shardOf(tenant, k, partitions)) tenantsOf[partition] = (tenantsOf[partition] ?? 0) + 1;
        const mean = (TENANTS * k) / partitions;
        for (const count of tenantsOf) expect(count).to.be.within(mean * 0.8, mean * 1.2);
      });
    }
  }

  it('is shuffled: tenants that share their first partition hardly share the second', () => {
    const seconds = new Map<number, number>();
    for (let tenant = 1; tenant <= TENANTS; tenant++) {
      const [first, second = -1] = shardOf(tenant, 2, 12);
      if (first === 0) seconds.set(second, (seconds.get(second) ?? 0) + 1);
    }
    expect(seconds.size).to.equal(11);
    for (const count of seconds.values()) expect(count).to.be.within(40, 120);
  });
});

describe('the place of a stream in a shard', () => {
  const hashes = Array.from({ length: 20_000 }, (_, index) => Math.imul(index + 1, 0x9e3779b1));

  it('is the first where there is one, and one of k where there are more, evenly', () => {
    const seed = tenantSeed(5);
    expect(hashes.every((hash) => placeOf(seed, hash, 1) === 0)).to.equal(true);
    for (const k of [2, 3, 12]) {
      const counts = new Array<number>(k).fill(0);
      for (const hash of hashes) counts[placeOf(seed, hash, k)] = (counts[placeOf(seed, hash, k)] ?? NaN) + 1;
      for (const count of counts) expect(count).to.be.within((hashes.length / k) * 0.93, (hashes.length / k) * 1.07);
    }
  });

  it('stays for half of the streams when k is doubled', () => {
    const seed = tenantSeed(5);
    const stayed = hashes.filter((hash) => placeOf(seed, hash, 2) === placeOf(seed, hash, 4)).length;
    expect(stayed / hashes.length).to.be.within(0.48, 0.52);
  });

  it('is chosen for each tenant anew: what two streams share with one tenant they do not share with all', () => {
    const [a = 0, b = 0] = hashes;
    let together = 0;
    for (let tenant = 1; tenant <= 1000; tenant++) {
      const seed = tenantSeed(tenant);
      if (placeOf(seed, a, 2) === placeOf(seed, b, 2)) together += 1;
    }
    expect(together).to.be.within(430, 570);
  });
});

describe('shards that are remembered', () => {
  it('gives the same list again, and a longer one when k has grown', () => {
    const shards = new Shards(12);
    const two = shards.of(3, 2);
    expect(two).to.deep.equal(shardOf(3, 2, 12));
    expect(shards.of(3, 2)).to.equal(two);
    expect(shards.of(3, 4)).to.deep.equal(shardOf(3, 4, 12));
    expect(shards.of(3, 100)).to.equal(shards.of(3, 12));
    expect(shards.of(4, 0)).to.equal(shards.of(4, 1));
  });
});
