/** Durations as PromQL writes them: `1h30m`, `5s`, `100ms`. */

const UNITS = [
  ['y', 31_536_000_000],
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** Milliseconds of a duration; null where it is none. */
export function readDuration(text: string): number | null {
  const parts = DURATION.exec(text);
  if (parts === null || text === '') return null;
  return UNITS.reduce((sum, [, size], index) => sum + Number(parts[index + 1] ?? 0) * size, 0);
}

/** The shortest form; years, weeks and days only where nothing is left over. */
export function durationText(ms: number): string {
  if (ms === 0) return '0s';
  let left = Math.abs(ms);
  let out = ms < 0 ? '-' : '';
  for (const [unit, size] of UNITS) {
    const isWhole = left % size === 0;
    if ((unit === 'y' || unit === 'w' || unit === 'd') && !isWhole) continue;
    const count = Math.floor(left / size);
    if (count > 0) {
      out += `${String(count)}${unit}`;
      left -= count * size;
    }
  }
  return out;
}
