/** Longer names are not compared, nor more of them. */
const [MAX_LENGTH, MAX_NAMES] = [64, 5000];

/**
 * The name that was probably meant: the nearest one by edits of a letter (insert, delete, replace, or swap two neighbours: optimal string
 * alignment), at most one for short names and two for others, whatever the case; null where none is near.
 */
export function nearest(name: string, names: Iterable<string>): string | null {
  const wanted = name.toLowerCase();
  if (wanted === '' || wanted.length > MAX_LENGTH) return null;
  const most = wanted.length <= 3 ? 1 : 2;
  let best: string | null = null;
  let [distance, left] = [most + 1, MAX_NAMES];
  for (const one of names) {
    if (left-- === 0) break;
    if (one === name || Math.abs(one.length - name.length) > most) continue;
    const found = edits(wanted, one.toLowerCase(), most);
    if (found < distance) [best, distance] = [one, found];
  }
  return best;
}

/** Edits from one to the other; more than `most` where there are more. */
function edits(a: string, b: string, most: number): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_none, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] as number) + 1);
      row.push(least);
    }
    if (Math.min(...row) > most) return most + 1;
    [before, last] = [last, row];
  }
  return last[b.length] as number;
}
