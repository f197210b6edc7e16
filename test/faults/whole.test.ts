import { expect } from 'chai';
import { scenarios } from './scenarios/index.ts';
import { WHOLE } from './whole.ts';

describe('the whole trial', () => {
  it('has every scenario once', () => {
    const names = scenarios.members.map(({ name }) => name);
    expect(WHOLE.map(({ scenario }) => scenario)).to.have.members(names);
  });

  it('lets nothing run beside a scenario that measures times', () => {
    const quiet = WHOLE.filter((run) => run.quiet === true).map(({ scenario }) => scenario);
    expect(quiet).to.include.members(['overload', 'noisy-neighbour', 'clickhouse-outage']);
  });
});
