import { expect } from 'chai';
import { defaultExport } from '../../../pipeline/core/default-export.ts';
import { pointDetectorOf } from '../../../pipeline/detectors/custom-series.ts';
import type { CustomDetector, Point } from '../../../pipeline/detectors/custom.ts';
import type { Finding } from '../../../pipeline/detectors/detector.ts';
import { pointDetectors, type PointDetector, type PointSeries } from '../../../pipeline/detectors/point-series.ts';

const START = 29_000_160;
const PAST = 1560;
/** A day and seven hours of a steady series, then a burst of errors, an hour of calm, and silence. */
const points: Point[] = Array.from({ length: PAST + 480 }, (_none, minute) => {
  const index = minute - PAST;
  const isBurst = index >= 300 && index < 315;
  const entries = index >= 440 ? 0 : isBurst ? 200 : 20 + ((index * 7) % 5);
  return { minute: START + minute, value: entries, entries, errors: isBurst ? 150 : 0 };
});

const example = await defaultExport('examples/detectors/three-times.ts', 'detector');
const subjects: readonly PointDetector[] = [...pointDetectors.members, pointDetectorOf(example as CustomDetector)];

const run = (series: PointSeries, own: readonly Point[]): Finding[] => own.flatMap((point) => series.add(point));

for (const subject of subjects)
  describe(`the detector ${subject.name}, by points`, () => {
    const whole = run(subject.newSeries(), points);

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

    it('says nothing more of what somebody has resolved', () => {
      const series = subject.newSeries();
      const at = points.findIndex((point) => series.add(point).length > 0);
      series.resolve(whole[0]?.side ?? 'up');
      const [next] = run(series, points.slice(at + 1, at + 12));
      expect(next).to.equal(undefined);
    });

    it('restores no bytes that are none of its snapshots', () => {
      const series = subject.newSeries();
      run(series, points.slice(0, PAST + 320));
      const bytes = Buffer.from(series.snapshot());
      for (let length = 0; length < bytes.length; length += 13) expect(subject.restoreSeries(bytes.subarray(0, length))).to.equal(null);
      expect(subject.restoreSeries(Buffer.concat([bytes, Buffer.of(0)]))).to.equal(null);
    });
  });
