import { expect } from 'chai';
import fc from 'fast-check';
import type { Finding, Sensitivity } from '../../../pipeline/detectors/detector.ts';
import { PatternSeries } from '../../../pipeline/detectors/series/pattern-series.ts';
import { extent } from '../../extent.ts';
import { counted, endOf, latestOf, START, type Seen } from './counts.ts';

const DAY = 1440;
/** When something happens: on the fifth day. */
const THEN = 4 * DAY + 700;
const LENGTH = THEN + 180;

function found(counts: readonly number[], sensitivity?: (name: string) => Sensitivity, series = new PatternSeries(), from = 0): Finding[] {
  return counts.flatMap((count, index) => {
    const minute = from + index;
    series.add(START + minute, count, endOf(minute));
    return [...series.tick(endOf(minute), sensitivity)];
  });
}

const alertsOf = (mean: (minute: number) => number, seed = 1, length = LENGTH): Seen[] => latestOf(found(counted(length, mean, seed)));
const within = (minute: number, length: number, at = THEN): boolean => minute >= at && minute < at + length;

describe('the errors of a template', () => {
  it('that go on as they did fire nothing: few, many, by day, in bursts that were there before', () => {
    const shapes: Readonly<Record<string, (minute: number) => number>> = {
      sparse: () => 0.01,
      few: () => 0.5,
      many: () => 60,
      'by day': (minute) => 5 * (1 + 0.9 * Math.sin((2 * Math.PI * minute) / DAY)),
      'each hour': (minute) => (minute % 60 === 0 ? 40 : 0.02),
      'each night': (minute) => (minute % DAY === 180 ? 80 : 0.02),
      'in bursts': (minute) => 0.1 + (minute % 479 < 5 ? 20 : 0),
    };
    for (const [name, shape] of Object.entries(shapes))
      for (const seed of [1, 2].slice(0, extent(1, 2))) expect(alertsOf(shape, seed), `${name} ${String(seed)}`).to.deep.equal([]);
  });

  for (const [level, times] of [
    [0.1, 50],
    [0.5, 10],
    [2, 8],
    [20, 6],
  ] as const)
    // prettier-ignore
    it(`that rise from ${String(level)} a minute to ${String(times)} times as many fire once, and end`, () => {
      const [alert, ...others] = alertsOf((minute) => level * (within(minute, 30) ? times : 1));
      expect(others).to.deep.equal([]);
      expect(alert).to.include({ detector: 'pattern_rate', side: 'up' });
      // the last minute whose counts were used
      expect(alert?.fired).to.be.within(THEN, THEN + 15);
      expect(alert?.resolved).to.be.within(THEN + 30, THEN + 75);
    });

  it('fire four minutes after the last minute that was used began, when it is final', () => {
    const series = new PatternSeries();
    const counts = counted(LENGTH, (minute) => (within(minute, 30) ? 30 : 1));
    const told = counts.findIndex((count, minute) => {
      series.add(START + minute, count, endOf(minute));
      return series.tick(endOf(minute)).length > 0;
    });
    expect(told - (series.open?.firedAt ?? 0) + START).to.equal(4);
  });

  it('that fall, or rise a little, fire nothing', () => {
    expect(alertsOf((minute) => (within(minute, 60) ? 0 : 20))).to.deep.equal([]);
    expect(alertsOf((minute) => 20 * (within(minute, 60) ? 2 : 1))).to.deep.equal([]);
    expect(alertsOf((minute) => (within(minute, 3) ? 4 : 0.01))).to.deep.equal([]);
  });

  it('say nothing in the first day of the template, nor of a past that is told at once', () => {
    expect(alertsOf((minute) => (within(minute, 30, 1000) ? 50 : 0.5), 1, 1200)).to.deep.equal([]);
    const series = new PatternSeries();
    const now = endOf(LENGTH);
    counted(LENGTH, (minute) => (within(minute, 30) ? 50 : 0.5)).forEach((count, minute) => series.add(START + minute, count, now));
    expect(series.tick(now)).to.deep.equal([]);
  });

  it('fire again where they rise beyond what they once had, and not where that is known', () => {
    const twice = (second: number): Seen[] =>
      alertsOf((minute) => (within(minute, 20, THEN - DAY) ? 20 : within(minute, 20) ? second : 0.5), 3);
    expect(twice(20)).to.have.length(1);
    expect(twice(80)).to.have.length(2);
  });

  it('are asked as easily as is set', () => {
    const counts = counted(LENGTH, (minute) => (within(minute, 30) ? 30 : 0.5));
    expect(found(counts, () => 'off')).to.deep.equal([]);
    const first = (sensitivity: Sensitivity): number => found(counts, () => sensitivity)[0]?.firedAt ?? Infinity;
    expect(first('high')).to.be.at.most(first('normal'));
    expect(first('normal')).to.be.at.most(first('low'));
  });

  it('are the same however they are cut: in parts, late within two minutes, asked at any time, and from any snapshot on', () => {
    const from = THEN - 30;
    const before = new PatternSeries();
    const past = counted(from, () => 0.5, 4);
    found(past, undefined, before);
    const saved = Buffer.from(before.snapshot());
    const counts = counted(90, (minute) => (minute >= 30 && minute < 50 ? 15 : 0.5), 5);
    const run = (cut: (index: number) => { part: number; late: number; ticks: number; restart: boolean }): Seen[] => {
      let series = PatternSeries.restore(saved) as PatternSeries;
      const told: Finding[] = [];
      const late: { due: number; minute: number; count: number }[] = [];
      counts.forEach((count, index) => {
        const { part, late: by, ticks, restart } = cut(index);
        const minute = from + index;
        const now = Math.min(count, part);
        series.add(START + minute, now, endOf(minute) - 30_000);
        late.push({ due: index + by, minute, count: count - now });
        for (const one of late.filter(({ due }) => due === index)) series.add(START + one.minute, one.count, endOf(minute) - 20_000);
        for (let tick = 0; tick < ticks; tick++) told.push(...series.tick(endOf(minute) - 15_000 + tick * 5000));
        told.push(...series.tick(endOf(minute)));
        if (restart) series = PatternSeries.restore(Buffer.from(series.snapshot())) as PatternSeries;
      });
      return latestOf(told);
    };
    const expected = run(() => ({ part: Infinity, late: 0, ticks: 0, restart: false }));
    expect(expected).to.have.length(1);
    const cuts = fc.array(fc.record({ part: fc.nat(10), late: fc.nat(2), ticks: fc.nat(3), restart: fc.boolean() }), { minLength: 1, maxLength: 20 }); // prettier-ignore
    fc.assert(
      fc.property(cuts, (all) => {
        const cut = (index: number): (typeof all)[0] => all[index % all.length] as (typeof all)[0];
        // what comes after the end of the run is not late, but missing
        expect(run((index) => (index > 87 ? { ...cut(index), late: 0 } : cut(index)))).to.deep.equal(expected);
      }),
      { numRuns: extent(10, 60) },
    );
  });

  it('take no more than 2 KiB, whatever comes, and are made of no other bytes', () => {
    const kinds: Readonly<Record<string, (index: number) => readonly [minute: number, count: number]>> = {
      many: (index) => [index, 1e9 + index],
      'the largest': (index) => [index, 2 ** 40 - index],
      backwards: (index) => [5000 - index, 7],
      gaps: (index) => [index * 977, index % 50],
      'the same minute': () => [0, 5],
    };
    for (const [name, of] of Object.entries(kinds)) {
      const series = new PatternSeries();
      const times = name === 'gaps' ? extent(200, 1000) : 1000;
      for (let index = 0; index < times; index++) {
        const [minute, count] = of(index);
        series.add(START + minute, count, endOf(minute));
        series.tick(endOf(minute));
      }
      const bytes = Buffer.from(series.snapshot());
      expect(bytes.length, name).to.be.below(2560);
      expect(PatternSeries.restore(bytes)?.snapshot().equals(bytes), name).to.equal(true);
      for (let length = 0; length < bytes.length; length += 97) expect(PatternSeries.restore(bytes.subarray(0, length))).to.equal(null);
    }
    expect(PatternSeries.restore(Buffer.alloc(0))).to.equal(null);
    expect(PatternSeries.restore(Buffer.alloc(3000, 255))).to.equal(null);
  });
});
