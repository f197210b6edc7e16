import { expect } from 'chai';
import { runScenarios, type RunReport } from '../../faults/run-scenarios.ts';
import { SAMPLE_OF_BROKERS } from '../../faults/sample.ts';

const SEED = 20_261_122;

describe('faults with three brokers', function () {
  this.timeout(900_000);

  let report: RunReport;

  before(async () => {
    const lines: string[] = [];
    try {
      report = await runScenarios({ ...SAMPLE_OF_BROKERS, seed: SEED, log: (line) => lines.push(line) });
    } catch (error) {
      throw new Error(`The run failed:\n${lines.join('\n')}`, { cause: error });
    }
  });

  it('has each acknowledged entry once, whichever broker was killed, stopped or cut off', () => {
    expect(report.violations, `seed ${String(SEED)}`).to.deep.equal([]);
    expect(report.figures['acked']).to.equal(report.totals.ackedEntries).and.to.be.above(10_000);
  });

  const done = ['kills of a broker', 'pauses of a broker', 'restarts of a broker', 'isolations of a broker', 'losses one way'];
  for (const what of done)
    it(`has done ${what}`, () => {
      expect(Object.keys(report.counters).filter((name) => name.startsWith(what))).to.not.deep.equal([]);
    });
});
