import { expect } from 'chai';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';

const PROGRAM = path.join(import.meta.dirname, 'budget-cases.ts');
/** Room for the loader, the longest rows and what is made of them on the way; not for all the rows of a case. */
const HEAP_MB = 256;
/** Cases in which a stage keeps more than it may. */
const REFUSED: readonly (readonly [query: string, pipe: string])[] = [
  ['sort by (k)', 'sort'],
  ['uniq by (k)', 'uniq'],
  ['stats by (k) count() n', 'stats'],
  ['top 1000000000 by (k)', 'top'],
  ['field_names', 'field_names'],
  ['patterns', 'patterns'],
  ['facets 1000 max_values_per_field 1000000000 max_value_len 1000000000', 'facets'],
  ['stats by (k) values(k, m) s', 'stats'],
  ['stats by (k) row_any(k, m) s', 'stats'],
];

describe('what a query may hold', function () {
  this.timeout(300_000);
  let lines: readonly (readonly [query: string, input: string, error?: string | null])[] = [];
  let [code, complaint]: [number | null, string] = [null, ''];
  before(async () => {
    const child = spawn(process.execPath, [`--max-old-space-size=${String(HEAP_MB)}`, PROGRAM], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [printed, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
    [code, complaint] = [await ended, complained];
    lines = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as (typeof lines)[number]);
  });

  it('is held by every pipe and every function of stats', () => {
    expect(code, `after ${JSON.stringify(lines.at(-1))}: ${complaint.slice(0, 500)}`).to.equal(0);
    const ends = lines.filter(({ length }) => length === 3);
    expect(ends.length).to.be.above(100);
    for (const [query, input, error] of ends) if (error !== null) expect(error, `${query}: ${input}`).to.match(/^LogsqlLimitError: /);
  });

  for (const [query, pipe] of REFUSED)
    it(`is refused by its name where a stage keeps more: ${query.slice(0, 60)}`, () => {
      const error = lines.find(([own, input, end]) => own === query && input === 'many different rows' && end !== undefined)?.[2];
      expect(error).to.match(new RegExp(`^LogsqlLimitError: The ${pipe} pipe would take more memory`));
    });
});
