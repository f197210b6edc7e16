import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Stage } from './parts.ts';
import { runStages } from './run.ts';

/** A clone with test files of its own. */
class Clone {
  readonly root = mkdtempSync(path.join(os.tmpdir(), 'logweir-runner-'));

  constructor(files: Readonly<Record<string, string>>) {
    mkdirSync(path.join(this.root, 'test'));
    writeFileSync(path.join(this.root, 'package.json'), '{ "type": "module" }');
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(this.root, 'test', `${name}.test.ts`), text);
  }

  /** Runs stages of these files, each of one part, and gives what it printed. */
  async run(
    stages: Readonly<Record<string, readonly string[]>>,
    isWhole = false,
  ): Promise<{ readonly isGreen: boolean; readonly text: string }> {
    const lines: string[] = [];
    const list = Object.entries(stages).map(([name, files]): Stage => ({
      name,
      parts: [{ name, files: files.map((file) => `test/${file}.test.ts`), spread: 1 }],
    }));
    const isGreen = await runStages({ root: this.root, stages: list, isWhole, log: (line) => lines.push(line) });
    return { isGreen, text: lines.join('\n') };
  }

  dispose(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const GOOD = `describe('good', () => { it('is', () => undefined); it.skip('is left out', () => undefined); });`;
const BAD = `describe('bad', () => { it('is', () => { throw new Error('as ever'); }); });`;
/** So many tests of it fail in the first process that runs it. */
const once = (count: number): string => `
import { existsSync, writeFileSync } from 'node:fs';
const marker = import.meta.filename + '.ran';
const isFirst = !existsSync(marker);
writeFileSync(marker, '');
describe('once', () => { for (let n = 0; n < ${String(count)}; n++) it('fails ' + n, () => { if (isFirst) throw new Error('the first time'); }); });`;

describe('the runner of the tests', () => {
  const clones: Clone[] = [];
  const clone = (files: Readonly<Record<string, string>>): Clone => {
    const made = new Clone(files);
    clones.push(made);
    return made;
  };
  after(() => {
    for (const one of clones) one.dispose();
  });

  it('counts what passed, failed and was skipped, and names what failed', async () => {
    const { isGreen, text } = await clone({ good: GOOD, bad: BAD }).run({ all: ['good', 'bad'] });
    expect(isGreen).to.equal(false);
    expect(text).to.match(/^1 passed, 1 failed, 1 skipped$/m);
    expect(text).to.match(/What failed:\n✖ test\/bad\.test\.ts: bad is\n {4}Error: as ever/);
  });

  it('is green where what failed passes alone, and says in what the two runs differed', async () => {
    const { isGreen, text } = await clone({ good: GOOD, once: once(1) }).run({ all: ['good', 'once'] });
    expect(isGreen, text).to.equal(true);
    expect(text).to.match(/^2 passed, 0 failed, 1 skipped$/m);
    expect(text).to.match(/^flaky: test\/once\.test\.ts: once fails 0 \(failed after [\d.]+ s at load [\d.]+, passed alone after [\d.]+ s at load [\d.]+; Error: the first time\)$/m); // prettier-ignore
  });

  it('is red where more than three tests pass only alone', async () => {
    expect((await clone({ once: once(3) }).run({ all: ['once'] })).isGreen).to.equal(true);
    const { isGreen, text } = await clone({ a: once(2), b: once(2) }).run({ first: ['a'], second: ['b'] });
    expect(isGreen).to.equal(false);
    expect(text).to.include('More than 3 tests passed only alone');
    expect(text).to.match(/^0 passed, 4 failed$/m);
  });

  it('ends after a stage that fails, unless all is wanted', async () => {
    const stages = { first: ['bad'], second: ['good'] };
    const { text } = await clone({ good: GOOD, bad: BAD }).run(stages);
    expect(text)
      .to.include('first failed, so these did not run: second')
      .and.to.match(/^0 passed, 1 failed$/m);
    expect((await clone({ good: GOOD, bad: BAD }).run(stages, true)).text).to.match(/^1 passed, 1 failed, 1 skipped$/m);
  });

  it('goes on behind a file whose process ends, which is a failure', async () => {
    const ends = `describe('ends', () => { it('itself', () => process.exit(0)); });`;
    const { isGreen, text } = await clone({ a: GOOD, b: ends, c: GOOD.replaceAll('good', 'later') }).run({ all: ['a', 'b', 'c'] });
    expect(isGreen).to.equal(false);
    expect(text).to.match(/^2 passed, 1 failed, 2 skipped$/m);
    expect(text).to.include('✖ test/b.test.ts: the process that runs it');
  });

  it('is red where a file cannot be loaded, and where nothing ran', async () => {
    const { isGreen, text } = await clone({ a: 'import "./nothing.ts";' }).run({ all: ['a'] });
    expect(isGreen).to.equal(false);
    expect(text).to.include('ERR_MODULE_NOT_FOUND');
    expect((await clone({}).run({ all: ['none'] })).isGreen).to.equal(false);
  });

  it('fails a hook that fails, once more too', async () => {
    const hook = `describe('hook', () => { before(() => { throw new Error('no'); }); it('is', () => undefined); });`;
    const { isGreen, text } = await clone({ hook }).run({ all: ['hook'] });
    expect(isGreen).to.equal(false);
    expect(text).to.include('"before all" hook');
  });

  it('keeps how long files took', async () => {
    const own = clone({ good: GOOD });
    await own.run({ all: ['good'] });
    expect(existsSync(path.join(own.root, '.cache/logweir/test-times.json'))).to.equal(true);
  });
});
