import { expect } from 'chai';
import { SAFETY_PARTS } from '../../bench/safety-parts.ts';
import { MUTATIONS } from '../faults/mutations.ts';

describe('the parts that safety is made of', () => {
  it('have different names, and each something that takes it out', () => {
    expect(new Set(SAFETY_PARTS.map(({ name }) => name)).size).to.equal(SAFETY_PARTS.length);
    for (const { name, patches } of SAFETY_PARTS) expect(patches, name).not.to.have.length(0);
  });

  it('include all that the fault tests switch off, but for the rules of what is counted of entries', () => {
    const ofEntries = MUTATIONS.map(({ name }) => name).filter((name) => !name.startsWith('state-'));
    expect(SAFETY_PARTS.map(({ name }) => name)).to.include.members(ofEntries);
  });
});
