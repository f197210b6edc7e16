import { expect } from 'chai';
import type { Finding } from '../../../pipeline/detectors/detector.ts';
import { extent } from '../../extent.ts';
import { ValueSeries } from '../../../pipeline/detectors/values/value-series.ts';

/** A Monday, 00:00, in minutes since 1970. */
const START = 29_000_160;

/** Numbers that look like chance and are the same each time: uniform from 0 to 1. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Of = (step: number, random: () => number) => number;

/** What is found of so many values, each 5 minutes after the one before. */
function run(values: Of, steps: number, series = new ValueSeries(5), from = 0, random = chance(7)): Finding[] {
  const found: Finding[] = [];
  for (let step = 0; step < steps; step++) {
    const value = values(step, random);
    if (step < from) continue;
    const finding = series.add(START + 5 * step, value);
    if (finding !== null) found.push(finding);
  }
  return found;
}

const steady: Of = (_step, random) => 100 + 10 * random();
/** High by day, low by night. */
const daily: Of = (step, random) => (step % 288 > 100 && step % 288 < 200 ? 80 : 20) + random();
const from =
  (begin: number, end: number, usual: Of, otherwise: Of): Of =>
  (step, random) =>
    step >= begin && step < end ? otherwise(step, random) : usual(step, random);
const fired = (found: readonly Finding[]): [string, number][] =>
  found
    .filter(({ state, fireCount }) => state === 'firing' && fireCount === 1)
    .map(({ side, window }) => [side, (window.end + 1 - START) / 5 - 1]);

describe('a series of values', () => {
  it('fires at once where a value is far beyond what it was, and is resolved when it is back', () => {
    const found = run(
      from(900, 904, steady, () => 300),
      1000,
    );
    expect(fired(found)).to.deep.equal([['up', 900]]);
    const [first] = found;
    expect(first).to.deep.include({ detector: 'value', state: 'firing', value: 300, scale: 5, firedAt: START + 5 * 901 - 1 });
    expect(first?.expected.high).to.be.within(110, 200);
    expect(first?.mean).to.be.within(100, 110);
    expect(first?.z).to.be.above(10);
    expect(found.at(-1)).to.include({ state: 'resolved', quiet: true });
  });

  it('fires where it falls, and where it stays a little away for long', () => {
    expect(
      fired(
        run(
          from(900, 1000, steady, () => 20),
          1000,
        ),
      )[0],
    ).to.deep.equal(['down', 900]);
    const [shift] = fired(
      run(
        from(900, 1000, steady, (step, random) => 110 + 10 * random() + (step > 0 ? 0 : 1)),
        1000,
      ),
    );
    expect(shift?.[0]).to.equal('up');
    expect(shift?.[1]).to.be.within(900, 925);
  });

  it('says nothing of what is there each day, and fires where that does not come', () => {
    expect(fired(run(daily, 5 * 288))).to.deep.equal([]);
    const [missing] = fired(
      run(
        from(4 * 288 + 101, 4 * 288 + 200, daily, (_step, random) => 20 + random()),
        5 * 288,
      ),
    );
    expect(missing?.[0]).to.equal('down');
    expect(missing?.[1]).to.be.within(4 * 288 + 101, 4 * 288 + 110);
  });

  it('says little of chance, and nothing with little sensitivity', () => {
    const count = (seed: number, factor: number): number => {
      const [series, random] = [new ValueSeries(5), chance(seed)];
      return fired(
        Array.from({ length: 2880 }, (_none, step) => series.add(START + 5 * step, steady(step, random), factor)).filter(
          (one) => one !== null,
        ),
      ).length;
    };
    // fifty days, of which one in three may have one
    expect([1, 2, 3, 4, 5].map((seed) => count(seed, 1)).reduce((sum, one) => sum + one, 0)).to.be.at.most(16);
    for (const seed of [1, 2, 3, 4, 5].slice(0, extent(2, 5))) expect(count(seed, 1.3)).to.equal(0);
  });

  it('fires as easily as it is told to', () => {
    const at = (factor: number): Finding | null => {
      const [series, random] = [new ValueSeries(5), chance(7)];
      for (let step = 0; step < 900; step++) series.add(START + 5 * step, steady(step, random), factor);
      return series.add(START + 4500, 125, factor);
    };
    expect([at(1)?.side, at(3), at(Infinity)]).to.deep.equal(['up', null, null]);
  });

  it('is the same from a snapshot, wherever it is cut', () => {
    const values = from(900, 930, daily, () => 200);
    const whole = run(values, 1400);
    for (const cut of [0, 1, 30, 500, 905, 935, 1300]) {
      const first = new ValueSeries(5);
      const before = run(values, cut, first);
      const again = ValueSeries.restore(first.snapshot());
      expect(again, `at ${String(cut)}`).not.to.equal(null);
      expect([...before, ...run(values, 1400, again as ValueSeries, cut)], `at ${String(cut)}`).to.deep.equal(whole);
    }
  });

  const hostile: [string, (step: number) => readonly [number, number]][] = [
    ['zeros', (step) => [step, 0]],
    ['what is too large', (step) => [step, step % 2 === 0 ? 1e308 : -1e308]],
    ['the largest', (step) => [step, step % 3 === 0 ? 3e38 : -3e38]],
    ['no numbers', (step) => [step, step % 2 === 0 ? NaN : Infinity]],
    ['one that alternates', (step) => [step, step % 2]],
    ['gaps of years', (step) => [step * 500_000, step]],
    ['times backwards', (step) => [5000 - step, step]],
    ['the same time', () => [7, 1]],
    ['growth without end', (step) => [step, 2 ** (step % 120)]],
  ];
  for (const [what, of] of hostile)
    for (const step of [1, 5, 60, 1440])
      it(`holds ${what}, each ${String(step)} minutes, in 4 KiB`, () => {
        const series = new ValueSeries(step);
        let largest = 0;
        for (let at = 0; at < extent(1000, 3000); at++) {
          const [slot, value] = of(at);
          const finding = series.add(START + slot * step, value);
          for (const number of finding === null
            ? []
            : [finding.z, finding.value, finding.mean, finding.expected.low, finding.expected.high])
            expect(Number.isFinite(number), what).to.equal(true);
          if (at % 100 === 0) largest = Math.max(largest, series.snapshot().length);
        }
        expect(largest).to.be.at.most(4096);
        expect(ValueSeries.restore(series.snapshot())?.snapshot().equals(series.snapshot())).to.equal(true);
      });

  it('is not made of any other bytes', () => {
    const series = new ValueSeries(5);
    for (let step = 0; step < 400; step++) series.add(START + 5 * step, step);
    const bytes = series.snapshot();
    for (let length = 0; length < bytes.length; length += 97) expect(ValueSeries.restore(bytes.subarray(0, length))).to.equal(null);
    expect(ValueSeries.restore(Buffer.concat([bytes, Buffer.of(0)]))).to.equal(null);
    expect(ValueSeries.restore(Buffer.of(1, 0))).to.equal(null);
  });

  it('knows days by their length', () => {
    const series = new ValueSeries(60);
    const hours = Array.from({ length: 10 * 24 }, (_none, hour) => series.add(START + hour * 60, hour % 24 === 8 ? 500 : 10));
    expect(hours.slice(5 * 24)).to.deep.equal(Array(5 * 24).fill(null));
    expect(series.add(START + 240 * 60, 500)?.side).to.equal('up');
  });
});
