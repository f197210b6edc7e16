import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { scenarios } from '../faults/scenarios/index.ts';
import { anchors } from './anchors.ts';
import { PROMISES } from './promises.ts';
import { titlesOf } from './titles.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Whether a source names a scenario of the fault tests, which they run. */
const namesScenario = (source: string, name: string): boolean =>
  scenarios.members.some((scenario) => scenario.name === name) && source.includes(`'${name}'`);

/** What is wrong with a row: its page, its anchor, its test or the title. */
function faultOf({ page, test, title }: (typeof PROMISES)[number]): string | null {
  const [file = '', anchor] = page.split('#');
  if (!existsSync(path.join(root, file))) return `there is no page ${file}`;
  if (anchor !== undefined && !anchors(read(file)).includes(anchor)) return `${file} has no section #${anchor}`;
  const isScenario = /^test\/faults\/scenarios\/.*\.ts$/.test(test);
  if ((!isScenario && !/^test\/.*\.test\.ts$/.test(test)) || !existsSync(path.join(root, test))) return `there is no test file ${test}`;
  const holds = isScenario ? namesScenario(read(test), title) : titlesOf(read(test)).some((own) => own.includes(title));
  return title !== '' && holds ? null : `${test} has no test "${title}"`;
}

describe('what the documentation promises', () => {
  for (const row of PROMISES) it(`is held by a test: ${row.page}: ${row.promise}`, () => expect(faultOf(row)).to.equal(null));

  it('is listed of every page, and each promise once', () => {
    const pages = readdirSync(path.join(root, 'docs')).filter((file) => file.endsWith('.md'));
    const listed = new Set(PROMISES.map(({ page }) => page.split('#')[0]));
    expect(pages.filter((file) => !listed.has(`docs/${file}`))).to.deep.equal([]);
    const promises = PROMISES.map(({ page, promise }) => `${page} ${promise}`);
    expect(promises.filter((promise, place) => promises.indexOf(promise) !== place)).to.deep.equal([]);
  });

  const BAD: readonly (readonly [string, Partial<(typeof PROMISES)[number]>])[] = [
    ['there is no page docs/nowhere.md', { page: 'docs/nowhere.md' }],
    ['docs/cli.md has no section #nowhere', { page: 'docs/cli.md#nowhere' }],
    ['there is no test file test/nowhere.test.ts', { test: 'test/nowhere.test.ts' }],
    ['there is no test file test/docs/promises.ts', { test: 'test/docs/promises.ts' }],
    ['test/docs/rooms.test.ts has no test "of nothing"', { title: 'of nothing' }],
    ['test/docs/rooms.test.ts has no test ""', { title: '' }],
    ['test/faults/scenarios/kills.ts has no test "kafka-outage"', { test: 'test/faults/scenarios/kills.ts', title: 'kafka-outage' }],
    ['test/faults/scenarios/kills.ts has no test "kill-none"', { test: 'test/faults/scenarios/kills.ts', title: 'kill-none' }],
  ];
  const good = { page: 'docs/cli.md#admin', promise: '', test: 'test/docs/rooms.test.ts', title: 'so there is no circle' };
  for (const [fault, part] of BAD)
    it(`is found out where ${fault}`, () => {
      expect([faultOf(good), faultOf({ ...good, ...part })]).to.deep.equal([null, fault]);
    });

  it('is not held by a test that is skipped or only named', () => {
    const source = `it('runs', f); it.skip('is left out', f); describe("a \\"group\\"", f); const it2 = exit('no test'); // it is 'said'`;
    expect(titlesOf(source)).to.deep.equal(['runs', 'a "group"']);
  });
});
