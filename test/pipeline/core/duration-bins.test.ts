import { expect } from 'chai';
import fc from 'fast-check';
import { binDuration, durationBin, durationQuantile, DURATION_BINS, DURATION_ERROR } from '../../../pipeline/core/duration-bins.ts';

const HALF = 2n ** 32n;
const binOf = (duration: bigint): number => durationBin(Number(duration / HALF), Number(duration % HALF));

const anyDuration = fc.oneof(
  fc.bigInt(0n, 2n ** 64n - 1n),
  fc.integer({ min: 0, max: 63 }).chain((octave) => fc.bigInt(0n, 2n ** BigInt(octave))),
  // next to where bins end
  fc.tuple(fc.integer({ min: 0, max: 50 }), fc.bigInt(-1n, 1n)).map(([octave, more]) => 2n ** BigInt(octave) + more),
);

describe('bins of durations', () => {
  it('are within 5 % of each duration', () => {
    expect(DURATION_ERROR).to.be.lessThan(0.05);
    fc.assert(
      fc.property(anyDuration, (duration) => {
        const bin = binOf(duration);
        expect(bin).to.be.within(0, DURATION_BINS - 1);
        expect(Math.abs(binDuration(bin) - Number(duration))).to.be.at.most(DURATION_ERROR * Number(duration) * (1 + 1e-9));
      }),
      { numRuns: 2000 },
    );
  });

  it('are as Prometheus has them in schema 3', () => {
    for (const [duration, bin] of [
      [0n, 0],
      [1n, 1],
      [2n, 9],
      [3n, 14],
      [4n, 17],
      [1024n, 81],
      [1025n, 82],
      [2n ** 63n, 505],
      [2n ** 64n - 1n, 513],
    ] as const)
      expect(binOf(duration), String(duration)).to.equal(bin);
  });

  it('grow with durations', () => {
    fc.assert(
      fc.property(anyDuration, anyDuration, (one, other) => {
        expect(binOf(one < other ? one : other)).to.be.at.most(binOf(one < other ? other : one));
      }),
    );
  });

  it('have the quantiles of the durations, within 5 %, whichever way these are put together', () => {
    const durations = fc.array(fc.bigInt(1n, 10n ** 12n), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (all, phi, cut) => {
        const counts = new Map<number, number>();
        const parts = [all.slice(cut % all.length), all.slice(0, cut % all.length)];
        for (const part of parts) for (const one of part) counts.set(binOf(one), (counts.get(binOf(one)) ?? 0) + 1);
        const sorted = [...all].sort((a, b) => (a < b ? -1 : 1));
        const exact = Number(sorted[Math.max(1, Math.ceil(phi * all.length)) - 1]);
        expect(Math.abs((durationQuantile(counts, phi) as number) - exact)).to.be.at.most(0.05 * exact);
      }),
    );
    expect(durationQuantile([], 0.5)).to.equal(null);
    expect(durationQuantile([[0, 3]], 0.5)).to.equal(0);
  });
});
