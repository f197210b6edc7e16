import { expect } from 'chai';
import { checkCanaries } from '../equal/canary.ts';
import { checkEqual } from '../equal/equal.ts';

/** `npm run equal` does the same with more of them, and with other seeds. */
describe('LogsQL, random queries over random entries', function () {
  this.timeout(600_000);
  const progress = (): void => undefined;

  it('20,000: ClickHouse gives what memory gives', async () => {
    const { filters, queries, counterexamples } = await checkEqual({ pairs: 20_000, seed: 1, wholeOneIn: 16, progress });
    expect(counterexamples, counterexamples.join('\n')).to.deep.equal([]);
    expect(filters).to.be.above(15_000);
    expect(queries).to.be.above(1000);
  });

  it('2,500 hostile ones: no tenant sees a row of another', async () => {
    const { valid, answered, leaks } = await checkCanaries({ queries: 2500, seed: 1, progress });
    expect(leaks, leaks.join('\n')).to.deep.equal([]);
    // it is no test where most are refused, or nothing is found
    expect(valid).to.be.above(1500);
    expect(answered).to.be.above(600);
  });
});
