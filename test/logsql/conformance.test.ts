import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { QueryMemory } from '../../logsql/base/memory.ts';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import { readTime } from '../../logsql/values/times.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { WINDOW, compareRows, isPresent, loadBase, loadCases, loadEntries, type Case } from './conformance.ts';
import { NOT_BUILT, ODDITIES } from './not-built.ts';
import { EVERYTHING } from './support.ts';

/** A case over the data set in memory: null when it is right, else what differs. */
async function run(test: Case, entries: ReturnType<typeof loadEntries>, base: ReturnType<typeof loadBase>): Promise<string | null> {
  const start = readTime(test.start ?? WINDOW.start, 0n);
  const end = readTime(test.end ?? WINDOW.end, 0n);
  if (start === null || end === null) throw new Error(`Unreadable window of ${test.id}`);
  try {
    const query = parseQuery(test.query, { now: end.start });
    if (test.expect.error === true) return 'accepted, but must be refused';
    const printed = query.toString();
    if (parseQuery(printed, { now: end.start }).toString() !== printed) return `printed as ${printed}, which prints otherwise again`;
    const rows = await evaluate(query, entries, {
      memory: new QueryMemory({ maxRows: 1_000_000, maxBytes: 500_000_000 }),
      start: start.start,
      end: end.end,
    });
    return compareRows(test, rows.slice(0, test.limit ?? rows.length), base);
  } catch (error) {
    if (!(error instanceof LogsqlSyntaxError)) throw error;
    return test.expect.error === true ? null : error.message;
  }
}

const fieldNames = async (query: string, entries: ReturnType<typeof loadEntries>, test: Case): Promise<string[]> => {
  const [start, end] = [readTime(test.start ?? WINDOW.start, 0n), readTime(test.end ?? WINDOW.end, 0n)];
  const context = { ...EVERYTHING, start: start?.start ?? 0n, end: end?.end ?? 0n };
  const rows = await evaluate(parseQuery(`${query} | field_names`, { now: end?.start ?? 0n }), entries, context);
  return rows.map((row) => textOf(row.get('name'))).sort();
};

/** What the rows of the table in docs/logsql.md count, where one has another answer: a kind, or searches by the first part of their feature. */
const groupOf = ({ kind, feature, expect: { error } }: Case): string =>
  error === true ? 'refused queries' : kind === 'search' ? (feature.split('.')[0] ?? '') : kind;

describe('LogsQL conformance, in memory', function () {
  this.timeout(240_000);
  if (!isPresent) {
    it('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED', () => expect.fail('no conformance/logsql beside the clone'));
    return;
  }
  const base = loadBase();
  const entries = loadEntries().reverse();
  const cases = loadCases().filter(({ kind, id }) => kind === 'search' && !ODDITIES.has(id));
  const features = [...new Set(cases.map((test) => (test.expect.error === true ? 'invalid' : test.feature)))].sort();
  it('differs from VictoriaLogs in the cases that docs/logsql.md names, and in as many', async () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../docs/logsql.md'), 'utf8');
    const different = new Set<string>();
    for (const test of loadCases()) {
      if (ODDITIES.has(test.id)) {
        expect(await run(test, entries, base), `${test.id} is as in VictoriaLogs: take it off the list`).to.not.equal(null);
        expect(page).to.include(`| ${test.id} |`);
        different.add(test.id);
      } else if (test.kind === 'field_names') {
        const [ours, theirs] = [await fieldNames(test.query, entries, test), [...(test.expect.values ?? [])].map(String).sort()];
        // those of the matching entries are among those of the blocks they lie in
        expect(theirs, test.id).to.include.members(ours);
        if (ours.length < theirs.length) different.add(test.id);
      }
    }
    const groups = new Map<string, { cases: number; different: number }>();
    for (const test of loadCases()) {
      const name = groupOf(test);
      const group = groups.get(name) ?? { cases: 0, different: 0 };
      groups.set(name, { cases: group.cases + 1, different: group.different + (different.has(test.id) ? 1 : 0) });
    }
    const row = (name: string, own: { cases: number; different: number }): string =>
      `| ${name} | ${String(own.cases)} | ${String(own.cases - own.different)} | ${String(own.different)} |`;
    const rows = [...groups]
      .filter(([, own]) => own.different > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, own]) => row(name, own));
    const all = row('all', { cases: loadCases().length, different: different.size });
    expect(page).to.include([...rows, all].join('\n'));
  });

  for (const feature of features) {
    const own = cases.filter((test) => (test.expect.error === true ? 'invalid' : test.feature) === feature);
    const isBuilt = !NOT_BUILT.has(feature);
    it(`${feature} (${String(own.length)} cases${isBuilt ? '' : ', not built yet'})`, async function () {
      const faults: string[] = [];
      for (const test of own) {
        const fault = await run(test, entries, base);
        if (fault !== null) faults.push(`${test.id} ${test.query}\n    ${fault}`);
      }
      if (isBuilt) expect(faults, faults.join('\n')).to.deep.equal([]);
      else if (faults.length === 0) expect.fail(`${feature} passes: take it off the list of what is not built`);
      else this.skip();
    });
  }
});
