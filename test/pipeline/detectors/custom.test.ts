import { expect } from 'chai';
import { pointDetectorOf } from '../../../pipeline/detectors/custom-series.ts';
import { detectorFault, type CustomDetector, type Point } from '../../../pipeline/detectors/custom.ts';
import type { Finding } from '../../../pipeline/detectors/detector.ts';

const START = 29_000_160;
const point = (index: number, value: number): Point => ({ minute: START + index, value, entries: value, errors: 0 });

/** Fires where a value is above ten. */
const above: CustomDetector<{ readonly seen: number }> = {
  name: 'above_ten',
  description: 'A value is above ten.',
  init: () => ({ seen: 0 }),
  look: ({ seen }, { value }) => ({
    state: { seen: seen + 1 },
    found: (value ?? 0) > 10 ? { side: 'up', z: 3, mean: 5, low: 0, high: 10 } : null,
  }),
};

const run = (detector: CustomDetector, values: readonly number[]): Finding[] => {
  const series = pointDetectorOf(detector).newSeries();
  return values.flatMap((value, index) => series.add(point(index, value)));
};

describe("a detector of one's own", () => {
  it('finds, and when alerts fire, go on, end and come again follows from that', () => {
    const calm = Array<number>(12).fill(1);
    const found = run(above, [1, 20, 30, ...calm, 40, ...calm]);
    expect(found.map(({ state, fireCount, firedAt, value }) => [state, fireCount, firedAt - START, value])).to.deep.equal([
      ['firing', 1, 1, 20],
      ['firing', 2, 1, 30],
      ['resolved', 2, 1, 30],
      // within half an hour it is the same one
      ['firing', 3, 1, 40],
      ['resolved', 3, 1, 40],
    ]);
    expect(found[0]).to.deep.include({ detector: 'above_ten', side: 'up', expected: { low: 0, high: 10 }, mean: 5, z: 3 });
  });

  const wrong: [string, unknown, RegExp][] = [
    ['nothing', undefined, /must be an object/],
    ['null', null, /must be an object/],
    ['no name', { ...above, name: undefined }, /name must be/],
    ['a name that leads elsewhere', { ...above, name: '../x' }, /name must be/],
    ['no description', { ...above, description: '' }, /description/],
    ['no init', { ...above, init: 1 }, /"init"/],
    ['no look', { ...above, look: undefined }, /"look"/],
  ];
  for (const [what, found, fault] of wrong) it(`is none: ${what}`, () => expect(detectorFault(found)).to.match(fault));
  it('is one', () => expect(detectorFault(above)).to.equal(null));

  const gives: [string, CustomDetector['look'], RegExp][] = [
    ['a state that grows', (state) => ({ state: `${String(state)}${'x'.repeat(100)}` }), /state of above_ten must be JSON of at most 4096/],
    ['a state that is no JSON', () => ({ state: undefined }), /must be JSON/],
    ['numbers that are none', () => ({ state: 1, found: { side: 'up', z: NaN, mean: 1, low: 0, high: 1 } }), /not finite/],
  ];
  for (const [what, look, fault] of gives)
    it(`is stopped where it gives ${what}`, () => {
      expect(() => run({ ...above, look }, Array<number>(100).fill(1))).to.throw(fault);
    });
});
