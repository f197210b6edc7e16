import { expect } from 'chai';
import { newSeries, restoreSeries } from '../../../pipeline/detectors/series/series.ts';
import type { CatchUp, Finding, Series } from '../../../pipeline/detectors/detector.ts';
import { extent } from '../../extent.ts';
import { counted, endOf, found, latestOf, START, type Seen } from './counts.ts';

const DAY = 1440;
const HOUR = 60;
/** When something happens: in the second day. */
const THEN = 2 * DAY - 300;
const [LENGTH, LEVEL] = [2 * DAY, 40];
/** Of what is chance in the counts. */
const SEEDS = [1, 2, 3].slice(0, extent(1, 3));

/** The alerts of a series of 40 a minute, of which some minutes are so many times as large. */
const alertsOf = (factor: (minute: number) => number, level = LEVEL, seed = 1): Seen[] =>
  latestOf(found(counted(LENGTH, (minute) => level * factor(minute), seed)));
const within = (minute: number, length: number): boolean => minute >= THEN && minute < THEN + length;

describe('a series of counts', () => {
  it('that goes on as it did fires nothing: steady, by the hour of the day, by a schedule, sparse, empty', () => {
    const shapes: Readonly<Record<string, (minute: number) => number>> = {
      steady: () => 1,
      daily: (minute) => 1 + 0.6 * Math.sin((2 * Math.PI * minute) / DAY),
      scheduled: (minute) => (minute % 15 === 0 ? 8 : 1),
      sparse: () => 0.001,
      empty: () => 0,
    };
    for (const [name, shape] of Object.entries(shapes))
      for (const seed of SEEDS) expect(alertsOf(shape, LEVEL, seed), `${name} ${String(seed)}`).to.deep.equal([]);
  });

  it('that rises fires within two minutes, counts its windows, and resolves itself when it is calm again', () => {
    const [alert, ...others] = alertsOf((minute) => (within(minute, 20) ? 4 : 1));
    expect(others).to.deep.equal([]);
    expect(alert).to.include({ detector: 'log_rate', side: 'up' });
    expect(alert?.fired).to.be.within(THEN + 1, THEN + 2);
    expect(alert?.count).to.be.within(15, 22);
    expect(alert?.resolved).to.be.within(THEN + 26, THEN + 36);
  });

  it('that falls to a part of it is a matter of log_rate, and one that stops of silence alone', () => {
    const [fall, ...more] = alertsOf((minute) => (within(minute, 60) ? 0.25 : 1));
    expect([fall?.detector, fall?.side, more]).to.deep.equal(['log_rate', 'down', []]);
    expect(fall?.fired).to.be.within(THEN + 1, THEN + 5);
    const [stop, ...others] = alertsOf((minute) => (within(minute, 60) ? 0 : 1));
    expect([stop?.detector, stop?.side, others]).to.deep.equal(['silence', 'down', []]);
    expect(stop?.fired).to.be.within(THEN + 2, THEN + 4);
    expect(stop?.resolved).to.be.within(THEN + 66, THEN + 76);
  });

  it('that restarts fires nothing: some minutes near zero, then what was held up', () => {
    for (const level of [8, LEVEL, 400])
      for (const quiet of [1, 2, 3])
        expect(
          alertsOf((minute) => (within(minute, quiet) ? 0.05 : minute >= THEN + quiet && minute < THEN + quiet + 2 ? 2 : 1), level),
          `${String(level)}, ${String(quiet)} minutes`,
        ).to.deep.equal([]);
  });

  it('whose level has changed for good says so once, and takes it as usual after half a day', () => {
    const counts = counted(3 * DAY, (minute) => (minute >= DAY ? 3 : 1) * LEVEL);
    const [alert, ...others] = latestOf(found(counts));
    expect(others).to.deep.equal([]);
    expect(alert).to.include({ detector: 'log_rate', side: 'up' });
    expect(alert?.resolved).to.be.within(DAY + 12 * HOUR, DAY + 12 * HOUR + 20);
  });

  it('learns for three hours before it says anything', () => {
    const rise = (at: number): Seen[] => latestOf(found(counted(300, (minute) => (minute >= at && minute < at + 10 ? 20 : 1) * LEVEL)));
    expect(rise(150)).to.deep.equal([]);
    expect(rise(200)).to.have.length(1);
  });

  it('fires again as the same alert within half an hour, and as another one later', () => {
    const twice = (apart: number): Seen[] => alertsOf((minute) => (within(minute, 8) || within(minute - apart, 8) ? 5 : 1));
    expect(twice(40)).to.have.length(1);
    expect(twice(90)).to.have.length(2);
  });

  it('tells errors where they become more of all, and not where all become more', () => {
    const counts = counted(LENGTH, () => LEVEL);
    const errors = counted(LENGTH, (minute) => (within(minute, 10) ? 12 : 0.4), 7);
    const [alert, ...others] = latestOf(found(counts.map((entries, minute) => ({ entries, errors: errors[minute] ?? 0 }))));
    expect([alert?.detector, others]).to.deep.equal(['error_rate', []]);
    expect(alert?.fired).to.be.within(THEN, THEN + 2);
    const all = counted(LENGTH, (minute) => LEVEL * (within(minute, 20) ? 5 : 1));
    const share = counted(LENGTH, (minute) => LEVEL * 0.2 * (within(minute, 20) ? 5 : 1), 3);
    const names = latestOf(found(all.map((entries, minute) => ({ entries, errors: Math.min(entries, share[minute] ?? 0) })))).map(({ detector }) => detector); // prettier-ignore
    expect(names).to.deep.equal(['log_rate']);
  });

  it('that never had an error tells its first ones', () => {
    const counts = counted(LENGTH, () => LEVEL).map((entries, minute) => ({ entries, errors: within(minute, 10) ? 10 : 0 }));
    expect(latestOf(found(counts)).map(({ detector, fired }) => [detector, fired <= THEN + 2])).to.deep.equal([['error_rate', true]]);
  });

  it('takes what a shipper that stalled sends later as what it is: of its own minutes', () => {
    for (const stall of [5, 8, 12]) {
      const series = newSeries();
      const counts = counted(LENGTH, () => LEVEL);
      const findings: Finding[] = [];
      counts.forEach((entries, minute) => {
        if (within(minute, stall)) {
          findings.push(...series.tick(endOf(minute)));
          return;
        }
        if (minute === THEN + stall)
          for (let held = THEN; held < minute; held++) series.add(START + held, { entries: counts[held] ?? 0, errors: 0 }, endOf(minute));
        findings.push(...found([entries], undefined, series, minute));
      });
      expect(latestOf(findings), String(stall)).to.deep.equal([]);
    }
  });

  it('is not silent where whoever ships its entries catches up, and is where nothing more comes', () => {
    const counts = counted(600, () => 40);
    const series = newSeries();
    const fired: string[] = [];
    const at = (minute: number): number => endOf(minute);
    const look = (minute: number): void => {
      for (const { detector, state } of series.tick(at(minute))) if (state === 'firing') fired.push(detector);
    };
    // all of it at once, up to 40 minutes ago, and the rest two minutes later
    for (let minute = 0; minute < 560; minute++) series.add(START + minute, { entries: counts[minute] as number, errors: 0 }, at(600));
    for (const minute of [600, 601]) look(minute);
    for (let minute = 560; minute < 600; minute++) series.add(START + minute, { entries: counts[minute] as number, errors: 0 }, at(602));
    look(602);
    expect(fired).to.deep.equal([]);
    for (let minute = 603; minute < 625; minute++) look(minute);
    expect(new Set(fired)).to.deep.equal(new Set(['silence']));
  });

  it('learns a past that it is told at once, and fires nothing of it, but of what is now', () => {
    const series = newSeries();
    const counts = counted(LENGTH, (minute) => LEVEL * (minute === THEN ? 9 : minute > LENGTH - 3 ? 6 : 1));
    counts.forEach((entries, minute) => {
      series.add(START + minute, { entries, errors: 0 }, endOf(LENGTH - 1));
    });
    const alerts = latestOf(series.tick(endOf(LENGTH - 1)));
    expect(alerts.map(({ detector, side, fired }) => [detector, side, fired >= LENGTH - 2])).to.deep.equal([['log_rate', 'up', true]]);
  });

  it('that somebody has resolved is quiet until it was back, and fires then as another alert', () => {
    const series = newSeries();
    const counts = counted(LENGTH, (minute) => LEVEL * (within(minute, 40) || within(minute - 70, 10) ? 5 : 1));
    const first = found(counts.slice(0, THEN + 10), undefined, series);
    expect(latestOf(first)).to.have.length(1);
    series.mute('log_rate', 'up');
    expect(found(counts.slice(THEN + 10, THEN + 65), undefined, series, THEN + 10)).to.deep.equal([]);
    const again = latestOf(found(counts.slice(THEN + 65), undefined, series, THEN + 65));
    expect(again.map(({ fired, count }) => [fired >= THEN + 70, count > 1])).to.deep.equal([[true, true]]);
  });

  it('heeds the sensitivity of each detector', () => {
    const weak = counted(LENGTH, (minute) => LEVEL * (within(minute, 30) ? 1.9 : 1));
    expect(latestOf(found(weak, () => 'off'))).to.deep.equal([]);
    const fired = (['low', 'normal', 'high'] as const).map((sensitivity) => latestOf(found(weak, () => sensitivity))[0]?.fired ?? Infinity);
    expect(fired).to.deep.equal([...fired].sort((a, b) => b - a));
    expect(fired[2]).to.be.below(THEN + 20);
    const strong = counted(LENGTH, (minute) => LEVEL * (within(minute, 30) ? 6 : 1));
    expect(found(strong, (name) => (name === 'log_rate' ? 'off' : 'normal'))).to.deep.equal([]);
  });

  it('says what it has seen: the window, what was expected, and the counts', () => {
    const series = newSeries();
    const [first] = found(
      counted(LENGTH, (minute) => (within(minute, 20) ? 4 : 1) * LEVEL),
      undefined,
      series,
    );
    if (first === undefined) throw new Error('nothing was found');
    expect(first.z).to.be.above(6);
    expect(first.value).to.be.closeTo(4 * LEVEL, LEVEL);
    expect(first.mean).to.be.closeTo(LEVEL, 5);
    expect(first.expected.low).to.be.within(0, LEVEL);
    expect(first.expected.high).to.be.within(LEVEL, 2 * LEVEL);
    expect(first.window.end - START).to.be.within(THEN + 1, THEN + 2);
    expect(series.recent('log_rate', START + LENGTH - 1, 3)).to.have.length(3);
  });
});

describe('a series, whatever comes', () => {
  const hostile: Readonly<Record<string, (minute: number) => number>> = {
    zeros: () => 0,
    'the largest': () => Number.MAX_SAFE_INTEGER,
    alternating: (minute) => (minute % 2 === 0 ? 0 : Number.MAX_SAFE_INTEGER),
    'once a day': (minute) => (minute % DAY === 0 ? 1e9 : 0),
    growing: (minute) => 1.01 ** Math.min(minute, 3000),
  };

  it('has a state of at most 4 KiB, finite findings, and gives the same from any snapshot on', () => {
    for (const [name, shape] of Object.entries(hostile)) {
      const counts = Array.from({ length: extent(1700, 3000) }, (_none, minute) => ({
        entries: Math.floor(shape(minute)),
        errors: Math.floor(shape(minute + 1)),
      }));
      const whole = newSeries();
      let cut = newSeries();
      counts.forEach((one, minute) => {
        const all = found([one], undefined, whole, minute);
        if (minute % 97 === 0) {
          const bytes = Buffer.from(cut.snapshot());
          expect(bytes.length, name).to.be.below(4096);
          cut = restoreSeries(bytes) ?? newSeries();
        }
        expect(found([one], undefined, cut, minute), `${name} ${String(minute)}`).to.deep.equal(all);
        for (const { z, value, mean, expected } of all)
          for (const number of [z, value, mean, expected.low, expected.high]) expect(Number.isFinite(number), name).to.equal(true);
      });
    }
  });

  it('takes times that leap, go back, and lie centuries apart, in a moment', () => {
    const series = newSeries();
    const began = process.cpuUsage().user;
    for (const minute of [-36_000_000, 0, 150_000_000, START, -5, START + 5, START - DAY * 400, START + 100, START + 99, START + DAY * 9]) {
      series.add(minute, { entries: 5, errors: 1 }, endOf(DAY * 10));
      series.tick(endOf(DAY * 10));
    }
    expect(restoreSeries(Buffer.from(series.snapshot()))).to.not.equal(null);
    expect(process.cpuUsage().user - began).to.be.below(5_000_000);
  });

  it('restores no bytes that are none of its snapshots', () => {
    const series = newSeries();
    found(
      counted(400, () => LEVEL),
      undefined,
      series,
    );
    const bytes = Buffer.from(series.snapshot());
    for (let length = 0; length < bytes.length; length += 13) expect(restoreSeries(bytes.subarray(0, length))).to.equal(null);
    expect(restoreSeries(Buffer.concat([bytes, Buffer.from([0])]))).to.equal(null);
    expect(restoreSeries(Buffer.from([9, 9, 9]))).to.equal(null);
  });

  it('says the same whether it is asked each ten seconds, or only when it is due', () => {
    const [eager, lazy] = [[], []] as Finding[][] & [Finding[], Finding[]];
    // one that is asked each time, and has just begun again from its snapshot, so that it knows nothing of what was looked at
    let always = newSeries();
    const whenDue = newSeries();
    let [asked, skipped] = [-1, 0];
    for (let part = 0; part < 8 * HOUR * 6; part++) {
      const at = (START + Math.floor(part / 6)) * 60_000 + (part % 6) * 10_000 + 9000;
      const minute = Math.floor(at / 60_000);
      const wild = part > 5 * HOUR * 6 && part % 700 < 60 ? 1 + (part % 7) : 1;
      const came = part % 500 > 490 ? 0 : Math.floor(wild * (4 + ((part * 7919) % 5)));
      const late = part % 97 === 0 ? minute - 1 - (part % 9) : minute;
      for (const series of [always, whenDue]) series.add(late, { entries: came, errors: part % 1000 > 960 ? came >> 1 : 0 }, at);
      always = restoreSeries(always.snapshot()) ?? always;
      eager.push(...always.tick(at));
      if (asked !== minute || whenDue.isDue) lazy.push(...whenDue.tick(at));
      else skipped += 1;
      asked = minute;
    }
    expect(lazy).to.deep.equal(eager);
    expect(lazy.length, 'something was found').to.be.above(10);
    expect(skipped, 'many ticks were left out').to.be.above(1000);
    expect(whenDue.snapshot().equals(always.snapshot())).to.equal(true);
  });

  it('closes no more minutes that are behind than it may, and begins anew or waits instead', () => {
    const at = (START + 3 * DAY) * 60_000;
    const told = (catchUp: CatchUp): Series => {
      const series = newSeries();
      for (const minute of [START, START + DAY - 1, START + 2 * DAY - 2]) series.add(minute, { entries: 7, errors: 0 }, at, catchUp);
      return series;
    };
    const [few, many] = [{ left: 1000 }, { left: 10_000 }];
    const [anew, learned] = [told(few), told(many)];
    expect(few.left).to.equal(1000);
    expect(many.left).to.be.below(5000);
    expect(anew.snapshot().equals(told({ left: 0 }).snapshot())).to.equal(true);
    expect(anew.recent('log_rate', START + 2 * DAY - 2, 2)).to.deep.equal([0, 7]);
    const before = Buffer.from(learned.snapshot());
    const none = { left: 0 };
    learned.tick(at, undefined, none);
    expect(none.left).to.equal(0);
    const waited = restoreSeries(before) as Series;
    for (const series of [learned, waited]) series.tick(at, undefined, { left: 1 });
    expect(Buffer.from(learned.snapshot()).equals(waited.snapshot())).to.equal(true);
  });
});
