import { expect } from 'chai';
import { SAFETY_PARTS } from '../../bench/safety-parts.ts';
import { SAFETY_PARTS as PARTS_OF_PRODUCT } from '../../pipeline/core/fault-points.ts';
import { MUTATIONS } from '../faults/mutations.ts';

describe('the parts that safety is made of', () => {
  it('have different names, and each something that takes it out', () => {
    expect(new Set(SAFETY_PARTS.map(({ name }) => name)).size).to.equal(SAFETY_PARTS.length);
    for (const { name, off } of SAFETY_PARTS) expect(off, name).not.to.have.length(0);
  });

  it('include all that the fault tests switch off, but for the rules of what is counted of entries', () => {
    const ofEntries = MUTATIONS.map(({ name }) => name).filter((name) => !name.startsWith('state-'));
    expect(SAFETY_PARTS.map(({ name }) => name)).to.include.members(ofEntries);
  });

  it('and the fault tests together switch off each part that the product lists', () => {
    const off = [...SAFETY_PARTS, ...MUTATIONS].flatMap((part) => part.off);
    expect([...new Set(off)]).to.have.members(Object.keys(PARTS_OF_PRODUCT));
  });
});
