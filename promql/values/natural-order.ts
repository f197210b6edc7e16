/** The order of `sort_by_label`: digits in a string count as numbers. */

const CHUNK = /(\d+|\D+)/g;

/** Negative where `a` comes first. */
export function compareNatural(a: string, b: string): number {
  const [left, right] = [a.match(CHUNK) ?? [], b.match(CHUNK) ?? []];
  for (let at = 0; at < left.length && at < right.length; at += 1) {
    const [one = '', other = ''] = [left[at], right[at]];
    if (one === other) continue;
    const [isNumber, isOtherNumber] = [/^\d/.test(one), /^\d/.test(other)];
    if (isNumber && isOtherNumber) {
      const difference = BigInt(one) - BigInt(other);
      if (difference !== 0n) return difference < 0n ? -1 : 1;
      return one.length > other.length ? -1 : 1;
    }
    return one < other ? -1 : 1;
  }
  return left.length - right.length;
}
