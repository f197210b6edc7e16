import { expect } from 'chai';
import { LogsqlSyntaxError } from '../../logsql/errors.ts';
import { parseQuery } from '../../logsql/parser.ts';
import { QueryMemory } from '../../logsql/memory.ts';
import { evaluate } from '../../logsql/pipeline.ts';
import { readTime } from '../../logsql/times.ts';
import { WINDOW, compareRows, isPresent, loadBase, loadCases, loadEntries, type Case } from './conformance.ts';
import { NOT_BUILT, ODDITIES } from './not-built.ts';

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
