import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { minutesOf } from '../../cli/backtest/history.ts';
import { svgOf, type Picture } from '../../cli/backtest/picture.ts';
import { pngOf } from '../../cli/backtest/png.ts';
import { replayOf } from '../../cli/backtest/replay.ts';
import { alertsOf } from '../../pipeline/detectors/replayed.ts';
import type { Point } from '../../pipeline/detectors/custom.ts';

const START = 29_000_160;
const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/detectors/three-times.ts');
/** Eight hours of a steady series with a burst, and two hours later (the way back is no news) silence. */
const points: Point[] = Array.from({ length: 480 }, (_none, index) => {
  const entries = index >= 450 ? 0 : index >= 300 && index < 310 ? 200 : 20 + ((index * 7) % 5);
  return { minute: START + index, value: entries, entries, errors: index >= 300 && index < 310 ? 150 : 0 };
});
const outcome = (name: string): Promise<string> =>
  replayOf(name).then(({ name: found }) => found, (error: unknown) => (error as Error).message); // prettier-ignore

describe('logweir backtest', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-backtest-'));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [name, side, from] of [
    ['log_rate', 'up', 300],
    ['error_rate', 'up', 300],
    ['silence', 'down', 450],
    ['value', 'up', 300],
    [EXAMPLE, 'up', 301],
  ] as const)
    it(`finds what ${path.basename(name)} finds`, async () => {
      const alerts = alertsOf((await replayOf(name)).run(points));
      const [alert] = alerts.filter((one) => one.side === side);
      expect(alert?.firedAt).to.be.within(START + from, START + from + 10);
      if (side === 'up') expect([alert?.value, (alert?.expected.high ?? 0) < 150]).to.deep.equal([name === 'error_rate' ? 150 : 200, true]);
    });

  it('says what is no detector', async () => {
    const file = path.join(folder, 'none.mjs');
    writeFileSync(file, 'export default { name: "x" };');
    expect(await outcome('rate')).to.match(/no detector "rate": give a file, or one of error_rate, .*, value\W/);
    expect(await outcome(file)).to.match(/none\.mjs cannot be used: It must have a description/);
    expect(await outcome(path.join(folder, 'missing.ts'))).to.match(/missing\.ts cannot be loaded/);
  });

  it('replays a month at most', () => {
    expect(minutesOf(0, 60_001)).to.deep.equal({ from: 0, to: 2 });
    for (const [from, to] of [[60_000, 60_000], [0, 32 * 86_400_000]] as const) expect(() => minutesOf(from, to)).to.throw(/before|31 days/); // prettier-ignore
  });

  it('draws a series with its alerts, as SVG and as PNG', async () => {
    const alerts = alertsOf((await replayOf('log_rate')).run(points));
    const picture: Picture = {
      title: 'log_rate: <a> & "b"',
      subtitle: '* ',
      unit: 'entries a minute',
      points,
      valueOf: ({ value }) => value,
      alerts,
    };
    const svg = svgOf(picture);
    expect(svg).to.contain('log_rate: &lt;a&gt; &amp; "b"').and.to.contain('▲1').and.to.contain('1 alert');
    expect(svg).not.to.contain('NaN');
    const png = await pngOf(svg);
    expect(png.subarray(1, 4).toString()).to.equal('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).to.deep.equal([1800, 630]);
  });

  const shapes: [string, readonly Point[]][] = [
    ['nothing', []],
    ['one minute', points.slice(0, 1)],
    ['zeros', points.map((point) => ({ ...point, value: 0 }))],
    ['gaps', points.map((point, index) => ({ ...point, value: index % 2 === 0 ? null : 5 }))],
    ['below zero', points.map((point, index) => ({ ...point, value: -index }))],
    ['the largest numbers', points.map((point, index) => ({ ...point, value: index * 1e300 }))],
  ];
  for (const [what, own] of shapes)
    it(`draws ${what}`, () => {
      const svg = svgOf({ title: 't', subtitle: 's', unit: 'u', points: own, valueOf: ({ value }) => value, alerts: [] });
      expect(svg).not.to.match(/NaN|Infinity|undefined/);
      expect(svg.length).to.be.below(60_000);
    });

  it('has an example that docs/extending/detectors.md shows as it is, of forty lines at most', () => {
    const code = readFileSync(EXAMPLE, 'utf8');
    const docs = readFileSync(path.resolve(import.meta.dirname, '../../docs/extending/detectors.md'), 'utf8');
    expect(docs).to.contain(`\`\`\`ts\n${code.trim()}\n\`\`\``);
    expect(code.split('\n').length).to.be.at.most(41);
  });
});
