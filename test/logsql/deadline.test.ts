import { expect } from 'chai';
import { LogsqlLimitError } from '../../logsql/base/errors.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { extent } from '../extent.ts';
import { entryOf, memoryFor } from './support.ts';
import { LARGE, MANY, WORST_CASES, wayThrough, worstPipes, type Input } from './worst.ts';

/** The clock is read once in so many steps (`QueryMemory`). */
const STEPS = 64;
const ROWS = extent(1000, 3000);
const FEW: Input = { ...MANY, rows: ROWS };
const ROW = LARGE.row(0);
const ONE: Input = { ...LARGE, rows: 1, row: () => ROW };
const LIST: Input = { name: 'a long list', rows: 1, row: () => entryOf({ j: `[${'1,'.repeat(50_000)}1]` }) };
const OVER = /^LogsqlLimitError: The query ran too long/;

/** What holds much and need not look at it again, or not all at once; all others look at the clock as they order it. */
const NOTHING_TO_ORDER: Readonly<Record<string, string>> = {
  'first 1 by (k) partition by (k)': 'each group is ordered when its rows go on',
  'sort by (k) partition by (k) limit 1': 'each group is ordered when its rows go on',
  'join by (nosuch) (* | fields k, m)': 'what is held was held before the first row',
  'join by (k) (* | fields k, m) prefix "p"': 'what is held was held before the first row',
  'stats count_uniq(k, m) s': 'it gives the number of what it holds',
  'stats count_uniq_hash(k, m) s': 'it gives the number of what it holds',
  'stats values(k, m) s': 'one text of what it holds, in the order in which it came',
  'stats json_values(k, m) s': 'one text of what it holds, in the order in which it came',
};
/** What makes many parts or rows of one value. */
const MANY_OF_ONE: readonly (readonly [query: string, input: Input])[] = [
  ['replace ("x", "0123") at m', ONE],
  ['replace_regexp ("x", "0123") at m', ONE],
  ['unroll by (j)', LIST],
  ['join by (nosuch) (* | fields k)', ONE],
];

/** The deadline is 0; the clock says whatever a test wants, and counts how often it is read. */
class Clock {
  reads = 0;
  /** So many reads from now on are before the deadline. */
  left = Infinity;
  readonly read = (): number => {
    this.reads += 1;
    this.left -= 1;
    return this.left >= 0 ? -1 : 1;
  };
}

async function way(query: string, input: Input, sink: (row: LogEntry) => void = () => undefined) {
  const clock = new Clock();
  const memory = memoryFor({ maxRows: 1e9, maxBytes: 1e9 }, clock.read);
  memory.until = 0;
  const before = memory.left.maxBytes;
  const through = wayThrough(await worstPipes(query, input), input, memory, sink);
  return { through, clock, memory, held: () => before - memory.left.maxBytes };
}

async function errorOf(run: () => Promise<void> | void): Promise<string> {
  try {
    await run();
    return 'none';
  } catch (error) {
    return error instanceof LogsqlLimitError ? error.toString() : `another: ${String(error)}`;
  }
}

const NAMES = [...new Set(WORST_CASES.map(([query]) => query))];

describe('the deadline of a query', function () {
  this.timeout(300_000);

  for (const query of NAMES.filter((name) => !name.startsWith('stream_context')))
    it(`ends it as rows come in: ${query.slice(0, 60)}`, async () => {
      for (const [input, most] of [
        [FEW, STEPS],
        [ONE, 1],
      ] as const) {
        const { through, clock } = await way(query, input);
        clock.left = 0;
        let taken = 0;
        const error = await errorOf(() => {
          for (; taken < most + 1 && !through.done; taken += 1) through.push(input.row(taken));
        });
        expect(error, input.name).to.match(OVER);
        expect(taken, input.name).to.be.below(most);
      }
    });

  for (const query of NAMES)
    it(`ends it as it orders what it holds: ${query.slice(0, 60)}`, async () => {
      const readsBefore: number[] = [];
      const { through, clock, held } = await way(query, FEW, () => {
        if (readsBefore.length === 0) readsBefore.push(clock.reads);
      });
      for (let index = 0; index < ROWS && !through.done; index += 1) through.push(FEW.row(index));
      const isMuch = held() > ROWS * 20;
      clock.reads = 0;
      readsBefore.length = 0;
      await through.flush();
      if (!isMuch || Object.hasOwn(NOTHING_TO_ORDER, query)) return;
      expect(readsBefore[0] ?? clock.reads).to.be.above(Math.floor((ROWS - 1) / STEPS) - 1);
    });

  it('has no exception for what is not tested', () => {
    for (const query of Object.keys(NOTHING_TO_ORDER)) expect(NAMES).to.include(query);
  });

  for (const [query, input] of MANY_OF_ONE)
    it(`ends it inside one row: ${query}`, async () => {
      let made = 0;
      const { through, clock } = await way(query, input, () => (made += 1));
      // the row itself begins before the deadline
      clock.left = 1;
      const error = await errorOf(async () => {
        through.push(input.row(0));
        await through.flush();
      });
      expect(error).to.match(OVER);
      expect(made).to.be.below(STEPS * 2);
    });
});
