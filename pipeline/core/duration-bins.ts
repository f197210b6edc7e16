/**
 * Durations in bins whose ends are eight to a factor of two: 2^(n/8) nanoseconds, as Prometheus' native histograms of schema 3 have them. Whatever is
 * known of a duration is its bin, so a quantile is within 4.4 % of the duration that has the rank. The bins of a union are the sum of the bins.
 */
const BINS_OF_OCTAVE = 8;
/** The largest relative error of `binDuration`. */
export const DURATION_ERROR = (2 ** (1 / BINS_OF_OCTAVE) - 1) / (2 ** (1 / BINS_OF_OCTAVE) + 1);
/** More than the last bin, that of 2^64 nanoseconds. */
export const DURATION_BINS = 64 * BINS_OF_OCTAVE + 2;

const HALF = 4_294_967_296;
/** Where the bins of an octave end, between 1 and 2. */
const ENDS = Float64Array.from({ length: BINS_OF_OCTAVE }, (_none, bin) => 2 ** (bin / BINS_OF_OCTAVE));
const POWERS = Float64Array.from({ length: 64 }, (_none, octave) => 2 ** -octave);

/** The bin of a duration of 64 bits in nanoseconds, by its halves: 0 of 0, and `n + 1` of what is above 2^((n - 1)/8) and not above 2^(n/8). */
export function durationBin(high: number, low: number): number {
  if (high === 0 && low === 0) return 0;
  // both are exact: no bin ends between integers that this does not tell apart, but for 2^53 and more
  const octave = high !== 0 ? 63 - Math.clz32(high) : 31 - Math.clz32(low);
  const part = ((high >>> 0) * HALF + (low >>> 0)) * (POWERS[octave] as number);
  let bin = 0;
  while (bin < BINS_OF_OCTAVE && part > (ENDS[bin] as number)) bin += 1;
  return octave * BINS_OF_OCTAVE + bin + 1;
}

/** The duration that stands for a bin, nanoseconds: no duration of it is farther away than `DURATION_ERROR` of itself. */
export const binDuration = (bin: number): number =>
  bin === 0 ? 0 : (2 * 2 ** ((bin - 1) / BINS_OF_OCTAVE)) / (1 + 2 ** (1 / BINS_OF_OCTAVE));

/** The duration at place ⌈phi·n⌉ of all that are counted, nanoseconds: `phi` from 0 to 1; null of none. */
export function durationQuantile(counts: Iterable<readonly [bin: number, count: number]>, phi: number): number | null {
  const sorted = [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(phi * all));
  for (const [bin, count] of sorted) {
    if (left <= count) return binDuration(bin);
    left -= count;
  }
  return null;
}
