import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { folder, scoreOf, testFiles } from './promqltest/scores.ts';
import { REACHED } from './promqltest/reached.ts';

describe("Prometheus' own tests of PromQL", function () {
  if (!existsSync(folder)) {
    it('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED', () => expect.fail('no conformance/promql beside the clone'));
    return;
  }

  it('are in docs/promql.md as they are here', () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../docs/promql.md'), 'utf8');
    const rows = [...page.matchAll(/^\| ([\w-]+) \| (\d+) \| (\d+) \| (.*)\|$/gm)].map(([, name, passed, all, why = '']) => [
      name,
      { passed: Number(passed), all: Number(all), hasReason: why.trim() !== '' },
    ]);
    const reached = Object.entries(REACHED).map(([name, { passed, all, why }]) => [name, { passed, all, hasReason: why !== undefined }]);
    expect(rows).to.deep.equal(reached);
  });

  it('are all known', () => {
    expect(Object.keys(REACHED).sort()).to.deep.equal(testFiles());
  });

  for (const [name, { passed, all }] of Object.entries(REACHED))
    it(`${name}: ${String(passed)} of ${String(all)}`, async () => {
      const score = await scoreOf(name);
      expect(score.all).to.equal(all);
      const shown = score.faults.map(({ line, query, reason }) => `${String(line)}: ${query}\n    ${reason}`).join('\n');
      expect(score.passed, shown).to.be.at.least(passed);
      expect(score.passed, 'more than before: raise the number').to.be.at.most(passed);
    });
});
