import { expect } from 'chai';
import { runScenarios, type RunReport } from '../../faults/run-scenarios.ts';
import { samples } from '../../faults/sample.ts';
import { extent, isWhole } from '../../extent.ts';

const SEED = 20_261_122;

describe('faults with three brokers', function () {
  this.timeout(1_800_000);

  let report: RunReport;

  before(async () => {
    const lines: string[] = [];
    try {
      report = await runScenarios({ ...samples(isWhole).ofBrokers, seed: SEED, log: (line) => lines.push(line) });
    } catch (error) {
      throw new Error(`The run failed:\n${lines.join('\n')}`, { cause: error });
    }
  });

  it('has each acknowledged entry once, whichever broker was killed, stopped or cut off', () => {
    expect(report.violations, `seed ${String(SEED)}`).to.deep.equal([]);
    expect(report.figures['acked']).to.equal(report.totals.ackedEntries).and.to.be.above(extent(3000, 10_000));
  });

  const often = ['kills of a broker', 'isolations of a broker'];
  const done = isWhole ? [...often, 'pauses of a broker', 'restarts of a broker', 'losses one way'] : often;
  for (const what of done)
    it(`has done ${what}`, () => {
      expect(Object.keys(report.counters).filter((name) => name.startsWith(what))).to.not.deep.equal([]);
    });
});
