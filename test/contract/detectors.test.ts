import { expect } from 'chai';
import { defaultExport } from '../../pipeline/core/default-export.ts';
import { pointDetectorOf } from '../../pipeline/detectors/custom-series.ts';
import { detectorFault, type CustomDetector, type Point } from '../../pipeline/detectors/custom.ts';
import type { Finding } from '../../pipeline/detectors/detector.ts';
import { pointDetectors, valueDetectors, type PointDetector, type PointSeries } from '../../pipeline/detectors/point-series.ts';
import { without } from '../pipeline/processors/logs.ts';
import aboveFifty from '../fixtures/detectors/above-fifty.ts';

/** The contract of detectors: the built-in ones, those that rules may name, and custom ones, behind the one interface that they have. */
const START = 29_000_160;
const PAST = 1560;
/** A day and seven hours of a steady series, then a burst of errors, an hour of calm, and silence. */
const points: Point[] = Array.from({ length: PAST + 480 }, (_none, minute) => {
  const index = minute - PAST;
  const isBurst = index >= 300 && index < 315;
  const entries = index >= 440 ? 0 : isBurst ? 200 : 20 + ((index * 7) % 5);
  return { minute: START + minute, value: entries, entries, errors: isBurst ? 150 : 0 };
});
/** Another one, which has nothing to do with it. */
const other: Point[] = points.map(({ minute }) => ({ minute, value: minute % 9, entries: minute % 9, errors: 0 }));

const custom = [await defaultExport('examples/detectors/three-times.ts', 'detector'), aboveFifty] as CustomDetector[];
const subjects: readonly PointDetector[] = [...pointDetectors.members, ...valueDetectors.members, ...custom.map(pointDetectorOf)];

const run = (series: PointSeries, own: readonly Point[]): Finding[] => own.flatMap((point) => series.add(point));

for (const subject of subjects)
  describe(`the detector ${subject.name}`, () => {
    const whole = run(subject.newSeries(), points);

    it('has a name and a sentence, as those of others must', () => {
      const shape = { name: subject.name, description: subject.description, init: () => 0, look: () => ({ state: 0 }) };
      expect(detectorFault(shape)).to.equal(null);
      expect(subject.description).to.match(/\.$/);
    });

    it('finds something, and gives the same from any snapshot on', () => {
      expect(whole).not.to.deep.equal([]);
      for (const cut of [1, 100, ...[301, 305, 330, 443].map((minute) => PAST + minute)]) {
        const first = subject.newSeries();
        const before = run(first, points.slice(0, cut));
        const again = subject.restoreSeries(first.snapshot()) as PointSeries;
        expect([...before, ...run(again, points.slice(cut))], String(cut)).to.deep.equal(whole);
      }
      expect(subject.newSeries().snapshot().length).to.be.below(8192);
    });

    it('needs neither clock nor chance', () => {
      expect(without(() => run(subject.newSeries(), points))).to.deep.equal(whole);
    });

    it('knows nothing of one series where it looks at another', () => {
      const [one, two] = [subject.newSeries(), subject.newSeries()];
      const found = points.flatMap((point, index) => {
        two.add(other[index] as Point);
        return one.add(point);
      });
      expect(found).to.deep.equal(whole);
    });

    it('finds what fires, goes on and is over, in this order, of the minutes that it has had', () => {
      let open: Finding | null = null;
      for (const finding of whole) {
        const { state, firedAt, updatedAt, fireCount, window, z, value, mean, expected } = finding;
        for (const number of [z, value, mean, expected.low, expected.high]) expect(number).to.satisfy(Number.isFinite);
        expect(window.start).to.be.at.most(window.end);
        expect(window.end).to.be.at.most(START + points.length);
        expect(firedAt).to.be.within(START, updatedAt);
        if (open !== null) {
          expect([finding.detector, finding.side, firedAt]).to.deep.equal([open.detector, open.side, open.firedAt]);
          expect(fireCount).to.equal(state === 'firing' ? open.fireCount + 1 : open.fireCount);
        } else expect(state).to.equal('firing');
        open = state === 'firing' ? finding : null;
      }
    });

    it('restores no bytes that are none of its snapshots', () => {
      const series = subject.newSeries();
      run(series, points.slice(0, PAST + 320));
      const bytes = Buffer.from(series.snapshot());
      for (let length = 0; length < bytes.length; length += 13) expect(subject.restoreSeries(bytes.subarray(0, length))).to.equal(null);
      expect(subject.restoreSeries(Buffer.concat([bytes, Buffer.of(0)]))).to.equal(null);
    });
  });
