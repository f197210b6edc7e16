import { expect } from 'chai';
import { OFTEN, samples } from './sample.ts';
import { scenarios } from './scenarios/index.ts';

describe('samples of faults', () => {
  const namesOf = (isWhole: boolean): string[] => {
    const { shared, ofBrokers, alone } = samples(isWhole);
    return [shared, ofBrokers, ...alone].flatMap((sample) => sample.scenarios.map(({ name }) => name));
  };

  it('have every scenario once', () => {
    expect(namesOf(true)).to.have.members(scenarios.members.map(({ name }) => name));
  });

  it('have those of `npm test` often', () => {
    expect(namesOf(false)).to.have.members(OFTEN);
  });
});
