/** Numbers and durations as they are shown: always the same, in any browser. */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `12,431`. */
export const count = (value: number): string => whole.format(value);

/** `12.4k`, where there is little room. */
export function shortCount(value: number): string {
  if (Math.abs(value) < 10_000) return count(value);
  const [divisor, unit] = Math.abs(value) < 1e6 ? [1e3, 'k'] : Math.abs(value) < 1e9 ? [1e6, 'M'] : [1e9, 'G'];
  const short = value / divisor;
  return `${short < 100 ? short.toFixed(1).replace(/\.0$/, '') : short.toFixed(0)}${unit}`;
}

/** `61 %`; what is not nothing is never 0 %. */
export function percent(part: number, all: number): string {
  if (all <= 0 || part <= 0) return '0 %';
  const share = (100 * part) / all;
  return share < 1 ? '< 1 %' : `${share > 99 && share < 100 ? '99' : share.toFixed(0)} %`;
}

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `1.2 MB`. */
export function bytes(value: number): string {
  let [size, unit] = [value, 0];
  while (size >= 1000 && unit < BYTES.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit === 0 || size >= 100 ? size.toFixed(0) : size.toFixed(1)} ${BYTES[unit] ?? ''}`;
}

/** `41 ms`, `3.2 s`, `4 min`, `2 h`, `3 d`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${(ms / 60_000).toFixed(0)} min`;
  if (ms < 172_800_000) return `${(ms / 3_600_000).toFixed(ms < 36_000_000 ? 1 : 0).replace(/\.0$/, '')} h`;
  return `${(ms / 86_400_000).toFixed(0)} d`;
}

/** `1 entry`, `2 entries`. */
export const plural = (value: number, one: string, many = `${one}s`): string => `${count(value)} ${value === 1 ? one : many}`;
