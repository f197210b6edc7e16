import { expect } from 'chai';
import { OF_TWO_SETS, OFTEN, samples } from './sample.ts';
import { scenarios } from './scenarios/index.ts';

describe('samples of faults', () => {
  const namesOf = (isWhole: boolean): string[] => {
    const { shared, ofBrokers, alone } = samples(isWhole);
    return [shared, ofBrokers, ...alone].flatMap((sample) => sample.scenarios.map(({ name }) => name));
  };

  it('have every scenario once, and one of those with two sets', () => {
    const named = scenarios.members.filter(({ shards }) => shards === undefined).map(({ name }) => name);
    expect(namesOf(true)).to.have.members([...named, OF_TWO_SETS]);
  });

  it('have those of `npm test` often', () => {
    expect(namesOf(false)).to.have.members(OFTEN);
  });
});
