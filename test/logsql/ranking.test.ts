import { expect } from 'chai';
import { parseNumber } from '../../logsql/values/numbers.ts';
import { compareValues } from '../../logsql/values/order.ts';
import { Winner, inOrder, valueAt } from '../../logsql/stats/ranking.ts';
import { ExactSum, fromSteps } from '../../logsql/stats/exact-sum.ts';
import { NUMBERS } from '../equal/entries.ts';
import { Random } from '../fuzz/random.ts';
import { memoryFor } from './support.ts';

const shuffled = <Item>(items: readonly Item[], random: Random): Item[] =>
  items
    .map((item) => ({ item, at: random.below(1 << 30) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);

function winner(which: 'min' | 'max', texts: readonly string[]): string | undefined {
  const found = new Winner(which);
  for (const text of texts) found.offer(text, null);
  return found.best?.text;
}

describe('the smallest, the largest and the value at a place', () => {
  const random = new Random(7);

  it('do not depend on the order of values, also where these come in a ring', () => {
    for (let round = 0; round < 300; round += 1) {
      const texts = Array.from({ length: 1 + random.below(12) }, () => random.pick([...NUMBERS, '', '5m', '1e16', '1took']));
      const other = shuffled(texts, random);
      for (const which of ['min', 'max'] as const) expect(winner(which, other), texts.join()).to.equal(winner(which, texts));
      const counts = (list: readonly string[]): ReadonlyMap<string, number> =>
        list.reduce((map, text) => map.set(text, (map.get(text) ?? 0) + 1), new Map<string, number>());
      expect(valueAt(0.5, counts(other), memoryFor())).to.equal(valueAt(0.5, counts(texts), memoryFor()));
    }
  });

  it('are those of compareValues where one is before all others', () => {
    let told = 0;
    for (let round = 0; round < 500; round += 1) {
      const texts = [...new Set(Array.from({ length: 2 + random.below(4) }, () => random.pick(NUMBERS)))];
      const first = texts.find((text) => texts.every((other) => other === text || compareValues(text, other) < 0));
      const last = texts.find((text) => texts.every((other) => other === text || compareValues(text, other) > 0));
      if (first !== undefined) expect(winner('min', texts), texts.join()).to.equal(first);
      if (last !== undefined) expect(winner('max', texts), texts.join()).to.equal(last);
      told += first === undefined ? 0 : 1;
    }
    expect(told).to.be.above(250);
  });

  it('tell large whole numbers apart, and equal numbers by their bytes', () => {
    expect(winner('max', ['9007199254740993', '9007199254740992'])).to.equal('9007199254740993');
    expect(winner('min', ['1.50', '1.5'])).to.equal('1.5');
    expect(winner('max', ['1.5', '1.50'])).to.equal('1.50');
    expect(winner('min', ['1s', '', '2'])).to.equal('');
    expect(winner('min', [])).to.equal(undefined);
    expect(inOrder(['2s', '1500ms', '1.5s', '10'], memoryFor())).to.deep.equal(['10', '1.5s', '1500ms', '2s']);
    expect(valueAt(1, new Map([['a', 3]]), memoryFor())).to.equal('a');
    expect(valueAt(0.5, new Map(), memoryFor())).to.equal('');
  });
});

describe('exact sums', () => {
  const sum = (values: readonly number[]): number => {
    const total = new ExactSum();
    for (const value of values) total.add(value);
    return total.value;
  };
  const steps = (value: number): bigint => BigInt(value * 2 ** 60) * 2n ** 40n;

  it('are rounded once', () => {
    expect(sum([0.1, 0.2, 0.3])).to.equal(0.6);
    expect(sum(Array.from({ length: 10 }, () => 0.1))).to.equal(1);
    expect(sum([1e100, 1, -1e100])).to.equal(1);
    expect(sum([2 ** 53, 1, 2 ** -60])).to.equal(2 ** 53 + 2);
    expect(sum([2 ** 53, 1])).to.equal(2 ** 53);
    expect(sum([Infinity, 1])).to.equal(Infinity);
    expect(sum([Infinity, -Infinity])).to.be.NaN;
    expect(sum([])).to.equal(0);
  });

  it('are the same as those in steps of 2^-100, whatever the order', () => {
    const random = new Random(3);
    for (let round = 0; round < 300; round += 1) {
      const values = Array.from({ length: 1 + random.below(50) }, () =>
        random.below(2) === 0
          ? Number(random.pick(NUMBERS.filter((text) => Math.abs(parseNumber(text) ?? 1e99) < 1e20))) || 0
          : random.below(1e9) / 1024 - 1e5,
      ).filter((value) => value === 0 || Math.abs(value) >= 2 ** -7);
      const exact = fromSteps(values.reduce((total, value) => total + steps(value), 0n));
      expect(sum(values)).to.equal(exact);
      expect(sum(shuffled(values, random))).to.equal(exact);
    }
  });
});
