import { expect } from 'chai';
import { StreamCeilings } from '../../../pipeline/intake/day-streams.ts';
import { Random } from '../../fuzz/random.ts';

const random = new Random(5);
const half = (): number => random.below(2 ** 32) | 0;
const ids = Array.from({ length: 180_000 }, () => [half(), half()] as const);

describe('what is remembered of the streams of days', () => {
  it('is bounded over all tenants and days', () => {
    const ceilings = new StreamCeilings();
    const mine = ceilings.of(1, 20_000);
    mine.admit(1, 1, 10);
    expect(ceilings.of(1, 20_000)).to.equal(mine);
    for (let tenant = 2; tenant < 90; tenant++) for (const [high, low] of ids) ceilings.of(tenant, 20_000).admit(high, low, Infinity);
    expect(ceilings.bytes).to.be.below(64 * 1024 * 1024 + 1);
    expect(ceilings.of(1, 20_000)).to.not.equal(mine);
  }).timeout(60_000);
});
