/** The quantile of the first `count` of numbers that are sorted, those that are no numbers first: between two it is a weighted mean. */
export function quantileOfSorted(quantile: number, sorted: Float64Array, count: number): number {
  if (count === 0 || quantile !== quantile) return NaN;
  if (quantile < 0) return -Infinity;
  if (quantile > 1) return Infinity;
  const rank = quantile * (count - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(count - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  // an infinite neighbour that has no weight is none
  if (weight === 0) return sorted[lower] as number;
  return (sorted[lower] as number) * (1 - weight) + (sorted[upper] as number) * weight;
}

/** Numbers in order, those that are none first. */
export function sortedNumbers(values: ArrayLike<number>): Float64Array {
  const sorted = Float64Array.from(values).sort();
  let numbers = sorted.length;
  while (numbers > 0 && Number.isNaN(sorted[numbers - 1])) numbers -= 1;
  if (numbers === sorted.length) return sorted;
  const out = new Float64Array(sorted.length).fill(NaN);
  out.set(sorted.subarray(0, numbers), sorted.length - numbers);
  return out;
}
