/** Sums of whole numbers from each place to each other one: exact, so that a window costs one difference. */

/** Sums of everything before each place; null where a number is not whole, or the sums would not be exact. */
export function exactSums(values: Float64Array): Float64Array | null {
  const sums = new Float64Array(values.length + 1);
  let [sum, size] = [0, 0];
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] as number;
    if (!Number.isInteger(value)) return null;
    sum += value;
    size += Math.abs(value);
    if (size > Number.MAX_SAFE_INTEGER) return null;
    sums[at + 1] = sum;
  }
  return sums;
}
