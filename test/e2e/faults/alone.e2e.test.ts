import { expect } from 'chai';
import { runScenarios, type RunReport } from '../../faults/run-scenarios.ts';
import { OFTEN, samples } from '../../faults/sample.ts';
import { isWhole } from '../../extent.ts';

const SEED = 20_261_123;

describe('faults, each on a cluster of its own', function () {
  this.timeout(1_800_000);

  for (const sample of samples(true).alone)
    for (const { name, cannotRun } of sample.scenarios)
      (isWhole || OFTEN.includes(name) ? it : it.skip)(name, async function () {
        const why = cannotRun?.() ?? null;
        if (why !== null) {
          process.stderr.write(`${name} IS NOT RUN: ${why}\n`);
          this.skip();
        }
        const lines: string[] = [];
        let report: RunReport;
        try {
          report = await runScenarios({ ...sample, seed: SEED, log: (line) => lines.push(line) });
        } catch (error) {
          throw new Error(`The run failed:\n${lines.join('\n')}`, { cause: error });
        }
        expect(report.violations, `seed ${String(SEED)}`).to.deep.equal([]);
        expect(report.figures['acked']).to.be.above(1000);
      });
});
