import { expect } from 'chai';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { compareExactly, exactValue } from '../../logsql/values/exact.ts';
import { numericValue } from '../../logsql/values/numbers.ts';
import { compareSorted, compareValues } from '../../logsql/values/order.ts';
import { ASCENDING, ENTRIES, FILTERS, PIPES } from './exact.ts';
import { EVERYTHING, parse, sqlOf } from './support.ts';

describe('numbers of which several are one float', () => {
  it('cost nothing where a bound is below them: floats are compared alone', () => {
    for (const bound of ['9007199254740991', '-9007199254740991', '1.5', '1795255200000', '1KB', 'inf'])
      expect(sqlOf(`n:>=${bound}`).text, bound).not.to.include('Decimal');
    for (const bound of ['9007199254740992', '-9007199254740993', '9007199254740990.5', '10PB'.replace('PB', '000TB')])
      expect(sqlOf(`n:<${bound}`).text, bound).to.include('Decimal');
    expect(sqlOf('n:>9007199254740992').values).to.include('9007199254740992.00000000000000000000');
  });

  it('are compared by their digits, whichever comparison it is', () => {
    for (const [i, a] of ASCENDING.entries()) {
      for (const [j, b] of ASCENDING.entries()) {
        const sign = Math.sign(i - j);
        expect(Math.sign(compareExactly(a, numericValue(a), b, numericValue(b))), `${a} ${b}`).to.equal(sign);
        expect(Math.sign(compareValues(a, b)), `${a} ${b}`).to.equal(sign);
        expect(Math.sign(compareSorted(a, b)), `${a} ${b}`).to.equal(sign);
      }
    }
  });

  it('are matched exactly', async () => {
    for (const { query, rows } of FILTERS) {
      const found = (await evaluate(parse(query), ENTRIES, EVERYTHING)).map((row) => textOf(row.get('n')));
      expect(found.sort(), query).to.deep.equal([...rows].sort());
    }
  });

  it('are sorted and chosen from exactly', async () => {
    for (const { query, rows } of PIPES) {
      const found = await evaluate(parse(query), ENTRIES, EVERYTHING);
      expect(
        found.map((row) => Object.fromEntries([...row].map(([name, value]) => [name, textOf(value)]))),
        query,
      ).to.deep.equal(rows);
    }
  });

  const ONE = 10n ** 20n;
  for (const [text, expected] of [
    ['9007199254740993', 9_007_199_254_740_993n * ONE],
    ['-0.5', -ONE / 2n],
    ['1_000', 1000n * ONE],
    ['9.007199254740993e15', 9_007_199_254_740_993n * ONE],
    ['1e-30', 0n],
    ['2KB', 2000n * ONE],
    ['1970-01-01T00:00:00.000000001Z', ONE],
    ['1e39', null],
    ['inf', null],
  ] as const)
    it(`exactValue(${text})`, () => expect(exactValue(text, numericValue(text))).to.equal(expected));
});
