/** Larger units of a unit, the largest first, and how much of it each has. */
const LARGER: Readonly<Record<string, readonly (readonly [word: string, size: number])[]>> = {
  bytes: [
    ['MiB', 1024 ** 2],
    ['GB', 1e9],
    ['MB', 1e6],
    ['KiB', 1024],
    ['kB', 1000],
  ],
  KiB: [['MiB', 1024]],
  ns: [
    ['s', 1e9],
    ['ms', 1e6],
  ],
  us: [
    ['s', 1e6],
    ['ms', 1000],
  ],
  ms: [
    ['days', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ],
  s: [
    ['days', 86_400],
    ['h', 3600],
    ['min', 60],
  ],
  min: [
    ['days', 1440],
    ['h', 60],
  ],
};

const shown = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
const isWhole = (value: number): boolean => Math.abs(value - Math.round(value)) < 1e-9;

/** Whether a figure is shown in a unit: a multiple of it, or of its tenth in MiB and seconds; a day is 24 hours. */
function fits(value: number, word: string): boolean {
  const least = word === 'days' ? 2 : 1;
  return value >= least && isWhole(value * (word === 'MiB' || word === 's' ? 10 : 1));
}

/** A figure with its unit, in words. `part`: one of this number of parts, also where it is written as a share. */
export function figureOf(value: number, unit: string): string {
  const [kind = '', ...words] = unit.split(' ');
  const behind = (word: string): string => ['', word, ...words].filter((one, index) => index === 0 || one !== '').join(' ');
  if (kind === 'part') {
    const parts = value < 1 ? 1 / value : value;
    return isWhole(parts) ? `1/${shown(parts)}${behind('')}` : `${shown(100 * value)}${behind('%')}`;
  }
  const [word, size] = LARGER[kind]?.find(([larger, own]) => fits(value / own, larger)) ?? [kind, 1];
  return `${shown(value / size)}${behind(word)}`;
}
