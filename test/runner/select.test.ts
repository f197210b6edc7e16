import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { filesOf, STAGES } from './parts.ts';
import { selected } from './select.ts';
import { shares } from './shares.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const filesFor = (...names: string[]): readonly string[] =>
  selected(names, ROOT).flatMap(({ parts }) => parts.flatMap((part) => filesOf(part, ROOT)));

describe('what `npm test -- NAME` runs', () => {
  it('is all but what is long without a name, all with `--all`, and a stage or part by its name', () => {
    expect(selected([], ROOT).map(({ name }) => name)).to.deep.equal(['checks', 'unit', 'engines']);
    expect(selected([], ROOT, true)).to.deep.equal(STAGES);
    expect(selected(['long'], ROOT)).to.deep.equal(STAGES.filter(({ name }) => name === 'long'));
    expect(selected(['lint'], ROOT)).to.deep.equal([{ name: 'checks', parts: STAGES[0]?.parts.filter(({ name }) => name === 'lint') }]);
    expect(selected(['checks'], ROOT)).to.deep.equal([STAGES[0]]);
  });

  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['a test file', 'test/runner/select.test.ts', ['test/runner/select.test.ts']],
    ['a source file: its test', 'pipeline/core/time.ts', ['test/pipeline/core/time.test.ts']],
    ['a room: all tests of it', 'pipeline/compression/', filesOf({ name: '', files: ['test/pipeline/compression/**/*.test.ts'] }, ROOT)],
    ['a piece of a path', 'runner/sel', ['test/runner/select.test.ts']],
    ['words of a promise', 'same seed makes the same shop', ['test/cli/demo-shop.test.ts']],
  ];
  for (const [what, name, files] of cases) it(what, () => expect(filesFor(name)).to.deep.equal(files));

  it('of a source file without a test: the tests of its folder', () => {
    expect(filesFor('pipeline/core/fields-that-no-test-names.ts'.replace('fields-that-no-test-names', 'package-root'))).to.include(
      'test/pipeline/core/time.test.ts',
    );
  });

  it('is an error where nothing belongs to the name', () => {
    expect(() => selected(['no-such-thing'], ROOT)).to.throw('No test belongs to "no-such-thing"');
  });

  it('has every test file in one part', () => {
    const files = STAGES.flatMap(({ parts }) => parts.flatMap((part) => filesOf(part, ROOT)));
    expect(files).to.deep.equal([...new Set(files)]);
    expect([...files].sort()).to.deep.equal(filesOf({ name: '', files: ['test/**/*.test.ts'] }, ROOT));
  });

  it('has what says how the shared instance is in parts whose processes load all their files first', () => {
    for (const part of STAGES.flatMap(({ parts }) => parts))
      for (const file of filesOf(part, ROOT)) {
        const isSaid = /\bshareWith\(/.test(readFileSync(path.join(ROOT, file), 'utf8')) && file !== 'test/runner/select.test.ts';
        if (isSaid) expect(part.isShared, file).to.equal(true);
      }
  });

  it('spreads files so that each process has about as much', () => {
    const ms: Readonly<Record<string, number>> = { a: 5, b: 4, c: 3, d: 3, e: 1 };
    expect(shares(Object.keys(ms), 2, (file) => ms[file] ?? 0)).to.deep.equal([['a', 'd'], ['b', 'c', 'e']]); // prettier-ignore
    expect(shares(['a'], 3, () => 1)).to.deep.equal([['a']]);
    expect(shares([], 2, () => 1)).to.deep.equal([[]]);
  });
});
