/** What a window and the course of a pattern in it are. */

/** Regular before and silent in the last quarter of the window. */
export function isGone({ trend = [] }: { readonly trend?: readonly number[] }): boolean {
  const quarter = Math.floor(trend.length / 4);
  if (quarter < 2) return false;
  const [earlier, last] = [trend.slice(0, -quarter), trend.slice(-quarter)];
  return last.every((hits) => hits === 0) && earlier.filter((hits) => hits > 0).length >= earlier.length / 2;
}

/** `-24h` as the window, and the one of its length before it. */
export function windowsOf(since: string): { readonly a: string; readonly b: string } {
  const [, size = '24', unit = 'h'] = /^-(\d{1,4})([smhd])$/.exec(since) ?? [];
  return { a: `-${String(2 * Number(size))}${unit}..-${size}${unit}`, b: `-${size}${unit}..now` };
}
