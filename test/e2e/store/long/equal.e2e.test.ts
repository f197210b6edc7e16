import { expect } from 'chai';
import { checkBudgets, LEAST_ANSWERED } from '../../../equal/budgets.ts';
import { checkCanaries } from '../../../equal/canary.ts';
import { checkEqual } from '../../../equal/equal.ts';
import { extent } from '../../../extent.ts';
import { builtWorker } from '../../built-worker.ts';

const PAIRS = extent(300, 20_000);
const SPANS = extent(100, 5000);
const HOSTILE = extent(80, 2500);
const CRAMPED = extent(100, 10_000);

/** `npm run equal` does the same with more of them, and with other seeds. */
describe('LogsQL, random queries over random entries', function () {
  this.timeout(1_800_000);
  const progress = (): void => undefined;

  it(`${PAIRS.toLocaleString('en')}: ClickHouse gives what memory gives`, async () => {
    const { filters, queries, counterexamples } = await checkEqual({ pairs: PAIRS, seed: 1, wholeOneIn: 16, progress });
    expect(counterexamples, counterexamples.join('\n')).to.deep.equal([]);
    expect(filters).to.be.above(0.75 * PAIRS);
    expect(queries).to.be.above(0.05 * PAIRS);
  });

  it(`${SPANS.toLocaleString('en')} over spans: ClickHouse gives what memory gives`, async () => {
    const { filters, queries, counterexamples } = await checkEqual({ pairs: SPANS, seed: 1, wholeOneIn: 8, kind: 'spans', progress });
    expect(counterexamples, counterexamples.join('\n')).to.deep.equal([]);
    expect(filters).to.be.above(0.75 * SPANS);
    expect(queries).to.be.above(0.05 * SPANS);
  });

  it(`${CRAMPED.toLocaleString('en')} with little memory and time: each ends, and gives what it would alone`, async () => {
    const { answered, refused, lostWorkers, counterexamples } = await checkBudgets({
      queries: CRAMPED,
      seed: 1,
      progress,
      isTimed: false,
      program: builtWorker,
    });
    expect(counterexamples, counterexamples.join('\n')).to.deep.equal([]);
    expect(lostWorkers).to.equal(0);
    expect(answered).to.be.above(LEAST_ANSWERED * CRAMPED);
    expect(refused).to.be.above(0);
  });

  for (const [what, ofProjects] of [
    ['tenant', false],
    ['project', true],
  ] as const)
    it(`${HOSTILE.toLocaleString('en')} hostile ones: no ${what} sees a row of another`, async () => {
      const { valid, answered, leaks } = await checkCanaries({ queries: HOSTILE, seed: 1, progress, ofProjects });
      expect(leaks, leaks.join('\n')).to.deep.equal([]);
      // it is no test where most are refused, or nothing is found
      expect(valid).to.be.above(0.6 * HOSTILE);
      expect(answered).to.be.above(0.24 * HOSTILE);
    });
});
