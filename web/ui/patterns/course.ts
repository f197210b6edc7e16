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

const HOUR = 36e5;
const MOST_HOURS = 168;

/** Entries of each hour from the first that has some until the end; hours without any are 0. */
export function hoursOf(history: readonly Readonly<Record<string, unknown>>[], end: string): number[] {
  const hits = new Map(history.map(({ time, hits: many }) => [Math.floor(Date.parse(String(time)) / HOUR), Number(many)]));
  const places = [...hits.keys()].filter((place) => !Number.isNaN(place));
  const last = Math.floor((Date.parse(end) - 1) / HOUR);
  if (places.length === 0 || Number.isNaN(last)) return [];
  const first = Math.max(last - MOST_HOURS, Math.min(...places));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_none, at) => hits.get(first + at) ?? 0);
}
