import { expect } from 'chai';
import fc from 'fast-check';
import { randomEntries } from '../equal/entries.ts';
import { randomFilter } from '../equal/filters.ts';
import { randomPipes } from '../equal/pipes.ts';
import { Random } from '../fuzz/random.ts';
import { LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import { filters } from '../../logsql/filters/index.ts';
import { pipes } from '../../logsql/pipes/index.ts';
import { stats } from '../../logsql/stats/index.ts';
import { isPresent, loadCases } from './conformance.ts';
import { parse } from './support.ts';
import { extent } from '../extent.ts';

/** What a query prints as, and what that prints as; null when it is refused. */
function twice(query: string): readonly [string, string] | null {
  let first: string;
  try {
    first = parse(query).toString();
  } catch (error) {
    if (error instanceof LogsqlSyntaxError) return null;
    throw error;
  }
  return [first, parse(first).toString()];
}

function checkTwice(query: string): void {
  const printed = twice(query);
  if (printed !== null) expect(printed[1], query).to.equal(printed[0]);
}

const examples = [...filters.members, ...pipes.members, ...stats.members].flatMap((member) => member.examples.map(({ query }) => query));
const PIECES = [
  'a',
  'error',
  '"b c"',
  '`\\d`',
  "'q'",
  'and',
  'or',
  'not',
  '!',
  '-',
  '(',
  ')',
  ':',
  '*',
  '=',
  '!=',
  '~',
  '>',
  '<=',
  ',',
  '|',
  '{a="b"}',
  '_time:5m',
  'in(',
  'i(',
  'limit',
  'stats',
  'count()',
  'by (a)',
  'sort',
  '5',
  '1KB',
  'é',
  '#',
  '[',
  ']',
  '.',
  'f:',
  '"',
  '\\',
  '\n',
];

describe('printing LogsQL', () => {
  it('reads back as the same: examples of all members', () => examples.forEach(checkTwice));

  it('reads back as the same: any words and phrases', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (word, field) => {
        const query = `${JSON.stringify(field.toWellFormed())}:${JSON.stringify(word.toWellFormed())} or ~${JSON.stringify(word.toWellFormed())}*`;
        checkTwice(query);
      }),
      { numRuns: 200 },
    );
  });

  it('reads back as the same, or is refused: any sequence of tokens', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }), fc.constantFrom('', ' '), (parts, glue) =>
        checkTwice(parts.join(glue)),
      ),
      { numRuns: extent(700, 2000) },
    );
  });

  it('reads back as the same: queries of all filters and pipes as the comparison of both back ends makes them', () => {
    const random = new Random(5);
    const source = { random, entries: randomEntries(random, 50), isWhole: true };
    for (let left = 2000; left > 0; left -= 1) {
      const filter = randomFilter(source, random.below(3));
      checkTwice(random.below(2) === 0 ? filter : `${filter} ${randomPipes(source).text}`);
    }
  });

  it('reads back as the same: all conformance queries', function () {
    if (!isPresent) this.skip();
    for (const { query } of loadCases()) checkTwice(query);
  });
});
