import { expect } from 'chai';
import Joi from 'joi';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { checkedQuery, MAX_PAGE, listParameters, pageOf, readBy } from '../../../api/http/lists.ts';

const PARAMETERS = listParameters(['name', 'size'], { state: Joi.string().valid('all', 'open').default('all') });
const ITEMS = [
  { name: 'b', size: 10, note: 'Disk' },
  { name: 'a', size: 9 },
  { name: 'c', size: 100, note: null },
];
const names = (query: string): string[] => pageOf(ITEMS, PARAMETERS, new URLSearchParams(query)).items.map(({ name }) => name);

describe('a list', () => {
  it('has all in the order in which they were made, with what a page has', () => {
    expect(pageOf(ITEMS, PARAMETERS, new URLSearchParams())).to.deep.equal({
      items: ITEMS,
      total: 3,
      limit: 100,
      offset: 0,
      has_more: false,
    });
    expect(pageOf([], PARAMETERS, new URLSearchParams())).to.deep.equal({ items: [], total: 0, limit: 100, offset: 0, has_more: false });
  });

  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['limit=2', ['b', 'a']],
    ['limit=2&offset=2', ['c']],
    ['offset=9', []],
    ['sort=name', ['a', 'b', 'c']],
    ['sort=size', ['a', 'b', 'c']],
    ['sort=size&order=desc', ['c', 'b', 'a']],
    ['order=desc', ['c', 'a', 'b']],
    ['filter=DISK', ['b']],
    ['filter=', ['b', 'a', 'c']],
    ['filter=.*', []],
    ['unknown=1', ['b', 'a', 'c']],
  ];
  for (const [query, expected] of cases) it(`${query}: ${expected.join(' ')}`, () => expect(names(query)).to.deep.equal(expected));

  it('tells whether there is more', () => {
    const more = (query: string): boolean => pageOf(ITEMS, PARAMETERS, new URLSearchParams(query)).has_more;
    expect(['limit=2', 'limit=3', 'limit=1&offset=1', 'limit=1&offset=2', 'filter=disk&limit=1'].map(more)).to.deep.equal([
      ...[true, false, true, false, false],
    ]);
  });

  it('has no page that is too long: the next one goes on behind it', () => {
    const long = Array.from({ length: 9 }, (_none, n) => ({ name: `${String(n)}${'x'.repeat(MAX_PAGE / 3)}` }));
    const seen: string[] = [];
    for (let more = true; more;) {
      const page = pageOf(long, PARAMETERS, new URLSearchParams(`offset=${String(seen.length)}`));
      expect(page.items.length).to.be.within(1, 2);
      expect(page.total).to.equal(9);
      seen.push(...page.items.map(({ name }) => name.slice(0, 1)));
      more = page.has_more;
    }
    expect(seen.join('')).to.equal('012345678');
    const huge = pageOf([{ name: 'x'.repeat(2 * MAX_PAGE) }, { name: 'y' }], PARAMETERS, new URLSearchParams());
    expect([huge.items.length, huge.has_more]).to.deep.equal([1, true]);
  });

  it('answers what a function that reads a parameter throws, of the empty string too', () => {
    const read = (text: string): number => {
      if (!/^[0-9]$/.test(text)) throw new HttpError(400, 'invalid_parameter', `n is ${JSON.stringify(text)}, and must be a digit.`);
      return Number(text);
    };
    const schema = Joi.object<{ n: number }>({ n: readBy(read).default(5) });
    const numberOf = (query: string): number => checkedQuery(schema, new URLSearchParams(query)).n;
    expect(['', 'n=7', 'm=1'].map(numberOf)).to.deep.equal([5, 7, 5]);
    for (const text of ['', 'x', '77', '__proto__', '{#label}'])
      expect(() => numberOf(`n=${encodeURIComponent(text)}`), text).to.throw(
        HttpError,
        `n is ${JSON.stringify(text)}, and must be a digit.`,
      );
  });

  it('refuses with all that is wrong', () => {
    const refused = (query: string): string => {
      try {
        checkedQuery(PARAMETERS, new URLSearchParams(query));
        return '';
      } catch (error) {
        expect(error).to.be.instanceOf(HttpError).and.include({ status: 400 });
        return (error as Error).message;
      }
    };
    expect(refused('limit=0&offset=-1&sort=__proto__&order=up')).to.match(/"limit".*"offset".*"sort".*"order"/);
    expect(refused('limit=1001')).to.contain('1000');
    expect(refused('state=closed')).to.contain('"state" must be one of [all, open]');
    expect(refused(`filter=${'x'.repeat(201)}`)).to.contain('200');
    expect(refused('__proto__=1&constructor=2')).to.equal('');
  });
});
