import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { isWhole } from '../../extent.ts';
import { sharedFolder } from '../shared.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../../..');

type Score = {
  readonly precision: number;
  readonly recall: number;
  readonly incidents: number;
  readonly detected: number;
  readonly false_per_stream_day: number;
  readonly ttd_median: number;
  readonly duplicates: number;
  readonly neutral_alerts: number;
  readonly neutral_windows: number;
  readonly resolve_lag_median: number;
};

describe('the detectors of counts, over ten generated days of 42 streams', function () {
  this.timeout(600_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-scores-'));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('find nearly all incidents, late entries and all, and little else (docs/detection.md has more seeds)', async () => {
    const rates = path.join(sharedFolder(), 'conformance/detection/rates');
    const file = (name: string): string => path.join(folder, name);
    await run('python3', [path.join(rates, 'gen.py'), '--seed', '1', '--late', '--out', folder]);
    await run(process.execPath, ['bench/score-rates.ts', '--late', file('rates_1.csv'), file('alerts.csv')], {
      cwd: ROOT,
    });
    await run('python3', [path.join(rates, 'score.py'), file('truth_1.csv'), file('alerts.csv'), '--json', file('score.json')]);
    const score = JSON.parse(readFileSync(file('score.json'), 'utf8')) as Score;
    expect(score.precision, 'precision').to.be.at.least(0.97);
    expect(score.recall, 'recall').to.be.at.least(0.95);
    expect(score.false_per_stream_day, 'false alerts a day').to.be.at.most(0.005);
    expect(score.ttd_median, 'minutes to detect').to.be.at.most(2);
    expect(score.duplicates / score.detected, 'duplicates').to.be.at.most(0.05);
    expect(score.neutral_alerts / score.neutral_windows, 'alerts in restarts').to.be.at.most(0.2);
    expect(score.resolve_lag_median, 'minutes to resolve').to.be.at.most(15);
  });

  (isWhole ? it : it.skip)('of values, over the Numenta Anomaly Benchmark with one setting', async () => {
    const nab = path.join(sharedFolder(), 'conformance/detection/nab');
    await run(process.execPath, ['bench/score-nab.ts', path.join(nab, 'data'), folder], { cwd: ROOT });
    const { stdout } = await run('python3', [path.join(nab, 'nab_score.py'), folder, '--threshold', '0.5']);
    expect(Number(/^standard\s+score\s+([\d.]+)/m.exec(stdout)?.[1]), stdout).to.be.at.least(60);
  });
});
