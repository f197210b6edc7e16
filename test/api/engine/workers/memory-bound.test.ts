import { expect } from 'chai';
import { beyondBound } from '../../../../api/engine/workers/memory-bound.ts';

const MB = 1024 * 1024;
const [idle, busy] = [(grown: number) => ({ isIdle: true, grown: grown * MB }), (grown: number) => ({ isIdle: false, grown: grown * MB })];

describe('the bound of memory of all query workers', () => {
  it('ends idle ones with garbage before the one that works, and only as many as must be', () => {
    const [one, other, work] = [idle(30), idle(35), busy(60)];
    expect(beyondBound([one, other, work], 125 * MB)).to.deep.equal([]);
    expect(beyondBound([one, other, work], 96 * MB)).to.deep.equal([other]);
    expect(beyondBound([one, other, work], 62 * MB)).to.deep.equal([other, one]);
    expect(beyondBound([one, other, work], 50 * MB)).to.deep.equal([other, one, work]);
  });

  it('ends the largest that works, and no idle one for the little that it would give back', () => {
    const [small, large] = [busy(40), busy(70)];
    expect(beyondBound([idle(5), small, large], 96 * MB)).to.deep.equal([large]);
  });

  it('ends an idle one that has grown by much in any case', () => {
    const much = idle(50);
    expect(beyondBound([much, busy(10)], 1000 * MB)).to.deep.equal([much]);
  });
});
