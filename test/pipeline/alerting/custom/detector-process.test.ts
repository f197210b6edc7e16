import { expect } from 'chai';
import path from 'node:path';
import { DetectorProcess } from '../../../../pipeline/alerting/custom/detector-process.ts';
import { ProcessRunner } from '../../../../pipeline/alerting/custom/detector-runner.ts';
import { loadDetectors } from '../../../../pipeline/alerting/custom/load-detectors.ts';

const FIXTURES = path.resolve(import.meta.dirname, '../../../fixtures/detectors');
const EXAMPLE = path.resolve(import.meta.dirname, '../../../../examples/detectors/three-times.ts');
const START = 29_000_160;

async function loaded(file: string): Promise<DetectorProcess> {
  const child = new DetectorProcess();
  await child.load({ specifier: path.isAbsolute(file) ? file : path.join(FIXTURES, file), folder: FIXTURES });
  return child;
}
const points = (values: readonly number[], from = 0): [number, number, number, number][] =>
  values.map((value, index) => [START + from + index, value, value, 0]);
const fault = (asked: Promise<unknown>): Promise<string> => asked.then(() => 'none', (error: unknown) => (error as Error).message); // prettier-ignore

describe('the process of a detector', function () {
  this.timeout(120_000);

  it('gives the same as the detector itself, series by series, from the states that it gave', async () => {
    const child = await loaded(EXAMPLE);
    const calm = Array<number>(80).fill(10);
    const [first, second] = await child.look('three_times', [{ state: null, points: points(calm) }, { state: null, points: points(calm.slice(0, 3)) }]); // prettier-ignore
    expect([first?.seen, second?.seen]).to.deep.equal([[], []]);
    expect(JSON.parse(second?.state ?? '')).to.include({ usual: 10, minutes: 3 });
    const [next] = await child.look('three_times', [{ state: first?.state ?? null, points: points([90, 90], 80) }]);
    expect(next?.seen.map(([index, { side, value, mean }]) => [index, side, value, mean])).to.deep.equal([[1, 'up', 90, 10]]);
    child.kill();
  });

  it('says that somebody else has killed it, though it is asked before that is known', async () => {
    const child = await loaded(EXAMPLE);
    child.kill();
    // the pipe is closed by then, mostly, and nothing was told of it
    for (const end = performance.now() + 30; performance.now() < end;);
    expect(await fault(child.look('three_times', [{ state: null, points: points([1]) }]))).to.equal(
      'Its process ended by itself (SIGKILL).',
    );
    expect(child.isKilled).to.equal(true);
  });

  const failing: [string, string, RegExp][] = [
    ['throws', 'throws.ts', /^Error: no third minute \(minute 20\d\d-\d\d-\d\dT\d\d:\d\dZ, entries 1, errors 0\)$/],
    ['loops', 'loops.ts', /^It did not come to an end within 2 s of CPU time\.$/],
    // how long it collects garbage before depends on the machine
    [
      'allocates in one step what it may not have',
      'grows.mjs',
      /^Its process ran out of memory|took more than 256 MB|^It did not come to an end/,
    ],
    ['fills buffers', 'leaks.mjs', /^It took more than 256 MB of memory\.$|^It did not come to an end|ended by itself/],
    ['ends its process', 'exits.mjs', /^Its process ended by itself \(exit code 0\)\.$/],
    ['says what it was not asked', 'lies.mjs', /^Its process sent an unexpected message\.$/],
  ];
  for (const [what, file, why] of failing)
    it(`tells of one that ${what}, and this process goes on`, async () => {
      const child = await loaded(file);
      const name = path.basename(file).split('.')[0] ?? '';
      expect(await fault(child.look(name, [{ state: null, points: points([1, 1, 1, 1]) }]))).to.match(why);
      child.kill();
    });

  it('loads nothing that is none, and says which file and why', async () => {
    const child = new DetectorProcess();
    expect(await fault(child.load({ specifier: '/nowhere/one.ts', folder: '/' }))).to.match(
      /^The detector \/nowhere\/one\.ts cannot be loaded: /,
    );
    child.kill();
  });

  it('has nothing of the environment', async () => {
    const child = new DetectorProcess();
    const [detector] = await child.load({ specifier: path.join(FIXTURES, 'tells.mjs'), folder: FIXTURES });
    expect(detector?.description).to.match(/^Environment: (?:NODE_CHANNEL_\w+,?)*\.$/);
    child.kill();
  });

  it('does not begin for a detector that is off already, which has not failed then', async () => {
    const detectors = await loadDetectors([path.join(FIXTURES, 'loops.ts')]);
    const failures: unknown[] = [];
    const asked: string[] = [];
    const runner = new ProcessRunner({
      detectors,
      onFailure: (failure) => failures.push(failure),
      isOff: ({ name }) => asked.push(name) > 0,
    });
    expect(await runner.look('loops', [{ state: null, points: [[0, 1, 1, 0]] }])).to.equal(null);
    runner.stop();
    expect([failures, asked]).to.deep.equal([[], ['loops']]);
  });
});
