import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { detectorCommand } from '../../cli/detector/detector.ts';
import { holdDetectorFile } from '../../main/detector-test.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

async function detector(...argv: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', ''];
  const output = { out: (text: string) => void (out += text), err: (text: string) => void (err += text), isTerminal: false };
  const code = await detectorCommand(argv, holdDetectorFile, output);
  return { code, out, err };
}

describe('logweir detector new', function () {
  this.timeout(120_000);
  let dir: string;
  before(() => {
    // within the project, so that its packages are found, and where no other tool looks
    mkdirSync(path.join(root, 'dist'), { recursive: true });
    dir = mkdtempSync(path.join(root, 'dist', 'detector-new-'));
  });
  after(() => rmSync(dir, { recursive: true }));

  it('writes a detector that holds its contract, and its test, which passes', async () => {
    const { code, out } = await detector('new', 'slow_pay', '--dir', dir);
    expect([code, readdirSync(dir).sort()]).to.deep.equal([0, ['slow-pay.test.ts', 'slow-pay.ts']]);
    const file = path.join(dir, 'slow-pay.ts');
    expect(out).to.contain(`logweir detector test ${file}`);
    const { stdout } = await run(process.execPath, ['--test', path.join(dir, 'slow-pay.test.ts')], { cwd: root });
    expect(stdout).to.match(/pass 2\n/);
    const flags = ['--ignoreConfig', '--noEmit', '--strict', '--noUncheckedIndexedAccess', '--module', 'nodenext', '--target', 'es2023', '--allowImportingTsExtensions', '--types', 'node', '--skipLibCheck']; // prettier-ignore
    await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), ...flags, path.join(dir, 'slow-pay.test.ts')], { cwd: root }); // prettier-ignore
    const held = await detector('test', file);
    expect(held, held.out).to.deep.include({ code: 0, err: '' });
    expect(held.out).to.match(
      /^slow_pay\n( {2}holds: .+\n){4} {2}Its largest state has \d+ of 4096 characters; a minute takes [\d.]+ µs of CPU\.\nThe contract holds\.\n$/,
    );
  });

  it('writes over nothing, and takes no name that no detector may have', async () => {
    expect(await detector('new', 'slow_pay', '--dir', dir)).to.deep.equal({
      ...{ code: 1, out: '' },
      err: `There is ${path.join(dir, 'slow-pay.ts')} already: nothing was written.\n`,
    });
    for (const name of ['Slow', 'a-b', '../up', 'x'.repeat(64)]) {
      const { code, err } = await detector('new', name, '--dir', dir);
      expect([code, err.slice(0, 18)], name).to.deep.equal([2, 'Its name must be o']);
    }
    expect(readdirSync(dir)).to.have.length(2);
  });
});

describe('logweir detector new, outside of the repository', function () {
  this.timeout(120_000);
  const LAUNCHER = path.join(root, 'cli/logweir.mjs');
  for (const [what, folder, manifest, file] of [
    ['an empty folder', 'plain', null, 'detectors/slow-pay.ts'],
    ['a package of modules', 'modules', { type: 'module' }, 'detectors/slow-pay.ts'],
    // as `npm init` makes them
    ['a CommonJS package, with a space in its path', 'common js', { type: 'commonjs' }, 'detectors/slow-pay.mts'],
  ] as const)
    it(`writes into ${what} what the commands that it prints can test there, without packages`, async () => {
      const cwd = path.join(mkdtempSync(path.join(os.tmpdir(), 'logweir-new-')), folder);
      mkdirSync(cwd);
      if (manifest !== null) writeFileSync(path.join(cwd, 'package.json'), JSON.stringify(manifest));
      const env = { ...process.env, PATH: '/usr/bin:/bin' };
      const { stdout } = await run(process.execPath, [LAUNCHER, 'detector', 'new', 'slow_pay'], { cwd, env });
      expect(stdout).to.contain(`Written: ${file} and its test.`);
      const [test = '', contract = ''] = stdout.split('\n').filter((line) => line.startsWith('  '));
      expect((await run('sh', ['-c', test], { cwd, env })).stdout).to.match(/pass 2\n/);
      expect((await run('sh', ['-c', contract], { cwd, env })).stdout).to.match(/The contract holds\.\n$/);
      rmSync(path.dirname(cwd), { recursive: true });
    });

  it('prints npx where it finds the commands', async () => {
    const cwd = mkdtempSync(path.join(os.tmpdir(), 'logweir-new-'));
    mkdirSync(path.join(cwd, 'node_modules/.bin'), { recursive: true });
    for (const name of ['logweir', 'node']) writeFileSync(path.join(cwd, 'node_modules/.bin', name), '');
    const { stdout } = await run(process.execPath, [LAUNCHER, 'detector', 'new', 'a', '--dir', 'x/y'], { cwd });
    expect(stdout).to.contain('  npx --no-install node --test x/y/a.test.ts\n  npx --no-install logweir detector test x/y/a.ts\n');
    rmSync(cwd, { recursive: true });
  });
});

describe('logweir detector test', function () {
  this.timeout(300_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-detector-'));
  after(() => rmSync(folder, { recursive: true }));

  /** A file with a detector that has these methods. */
  function file(name: string, look: string, before = ''): string {
    const at = path.join(folder, `${name}.mjs`);
    writeFileSync(at, `${before}\nexport default { name: '${name}', description: 'Never.', init: () => ({ n: 0 }), look: ${look} };`);
    return at;
  }
  const ANY = 'takes any series, and what it gives is what it may give';
  const ELSEWHERE = 'gives the same in another process, at another time, whatever random numbers it gets';
  const CUT = 'gives the same however its minutes are cut, from its state as text';
  const APART = 'knows nothing of one series when it looks at another';
  const up = "{ side: 'up', z: 1, mean: 1, low: 0, high: 1 }";

  const broken: readonly (readonly [name: string, look: string, promises: readonly string[], fault: RegExp, before?: string])[] = [
    [
      'clock',
      '() => ({ state: { n: Math.floor(Date.now() / 1e9) } })',
      [ELSEWHERE],
      /its state was \{"n":\d+\} first, and then \{"n":\d+\}/,
    ],
    [
      'chance',
      `(state) => ({ state, found: Math.random() > 0.9 ? ${up} : null })`,
      [ELSEWHERE, CUT, APART],
      /it found .* first, and then /,
    ],
    ['shared', '() => ({ state: { n: ++seen } })', [ELSEWHERE, CUT, APART], /its state was/, 'let seen = 0;'],
    ['grows', "(state) => ({ state: { n: state.n + 'xx' } })", [ANY], /A stream with a day and a night: Error: The state of grows must be JSON of at most 4096 characters/], // prettier-ignore
    ['hides', '({ m = new Map() }) => { const n = (m.get?.(1) ?? 0) + 1; return { state: { n, m: new Map([[1, n]]) } }; }', [CUT], /its state was/], // prettier-ignore
    ['divides', `(state, { value }) => ({ state, found: { ...${up}, z: 1 / value } })`, [ANY], /A finding of divides has numbers that are not finite\. \(minute /], // prettier-ignore
    [
      'throws',
      '(state, { value }) => ({ state: { n: value.toFixed(1) } })',
      [ANY],
      /A value that is there at times: TypeError: .* \(minute 2026-/,
    ],
  ];
  for (const [name, look, promises, fault, before] of broken)
    it(`says what is broken where a detector ${name}`, async () => {
      const { code, out } = await detector('test', file(name, look, before));
      expect(code, out).to.equal(1);
      expect(out).to.match(fault);
      expect([...out.matchAll(/FAILS: (.*)/g)].map(([, promise]) => promise)).to.deep.equal(promises);
      expect(out).to.match(promises.length === 1 ? /\n1 of its promises is broken\.\n$/ : /\n3 of its promises are broken\.\n$/);
    });

  it('holds each detector of a file, and says why a file cannot be used', async () => {
    const two = path.join(folder, 'two.mjs');
    const one = (name: string): string => `{ name: '${name}', description: 'Never.', init: () => 0, look: (state) => ({ state }) }`;
    writeFileSync(two, `export default [${one('first')}, ${one('second')}];`);
    const { code, out } = await detector('test', two);
    expect([code, out.match(/^\w+$/gm)]).to.deep.equal([0, ['first', 'second']]);
    const empty = path.join(folder, 'empty.mjs');
    writeFileSync(empty, 'export const nothing = 1;');
    expect(await detector('test', empty))
      .to.deep.include({ code: 1, out: '' })
      .and.to.have.property('err')
      .that.contains('empty.mjs');
  });

  it('takes no other command line', async () => {
    for (const argv of [[], ['test'], ['run', 'a'], ['test', '/dev/null', 'b'], ['new', 'a', '--what']]) {
      const { code, err } = await detector(...argv);
      expect([code, err.includes('Usage: logweir detector new NAME')], argv.join(' ')).to.deep.equal([2, true]);
    }
    expect(await detector('test', 'nowhere.ts')).to.deep.equal({ code: 2, out: '', err: 'There is no file nowhere.ts.\n' });
    expect((await detector('--help')).out).to.match(/^Usage: logweir detector new NAME/);
  });
});
