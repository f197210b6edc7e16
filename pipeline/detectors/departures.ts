import { rarityAbove, rarityBelow } from './statistics.ts';
import { DAY, SCALES, type Compared, type Track } from './track.ts';

/** What a test has found in the window of `scale` minutes that ends with `end`. Values are entries a minute. */
export type Found = {
  readonly scale: number;
  readonly z: number;
  readonly value: number;
  readonly mean: number;
  /** Where what is usual ends, on this side: half as far from it as what would be found. */
  readonly bound: number;
};

/** A series has no findings in its first three hours, and needs half as much again on its first day. Minutes. */
const LEARNING = 180;
const YOUNG = 1.5;
/** A window must deviate by this number of standard deviations, and by more than 1.7 times what 99.7 % of its own do. */
const LEAST_Z = 6;
const OWN = 1.7;
/** A smaller change is not reported: the factor by which a window must have more, or less; stricter on the first day. */
const RATIO_UP = 1.15;
const RATIO_UP_YOUNG = 1.6;
const RATIO_DOWN = 0.75;
const RATIO_DOWN_YOUNG = 0.5;
/** Windows that are expected to have less are judged by the tails of Poisson's distribution: -ln of the probability. */
const FEW = 25;
const RARE_UP = 18.4;
const RARE_DOWN = 14;
const RARE_YOUNG = 1.3;
const LEAST_ENTRIES = 5;
const LATELY = 20;
/** Below this rate a minute the long run counts, too. */
const LOW_RATE = 6;
/** After a minute of less than this part of what is usual, at most `DIP_MINUTES` ago, a rise may be what was held up. */
const DIP = 0.3;
const DIP_MINUTES = 12;
/** A minute that repeats as a lone peak after one of these numbers of minutes is a schedule's. */
const LAGS = [5, 10, 15, 20, 30, 60] as const;

/** Minutes without any entry after which a series has stopped. */
const STOPPED = 3;

/** Whether nothing came in the last minutes up to this one. */
export function hasStopped(track: Track, end: number): boolean {
  for (let back = 0; back < STOPPED; back++) if (track.at(end - back) > 0) return false;
  return true;
}

const isYoung = ({ age }: Track): boolean => age < DAY;

/** By how many entries a window has left what is expected, towards a side; null while a series has no findings. */
export function departureOf(track: Track, end: number, width: number, side: 'up' | 'down'): number | null {
  const compared = track.age < LEARNING ? null : track.compare(end, width, true);
  if (compared === null) return null;
  return side === 'up' ? compared.entries - compared.high : compared.low - compared.entries;
}

/** From which deviation on a window of a scale is unusual. `expected`: entries; a factor is the sensitivity's. */
function threshold(track: Track, scale: number, side: 'above' | 'below', expected: number, factor: number): number {
  const quantile = track[side][scale]?.quantile() ?? 0;
  // bursts are even on the logarithmic scale: the factor is applied there
  const unit = 2 * Math.sqrt(expected + 1);
  const own = side === 'above' ? unit * ((1 + quantile / unit) ** OWN - 1) : OWN * quantile;
  return Math.max(LEAST_Z, own) * factor * (isYoung(track) ? YOUNG : 1);
}

/** The most and the least entries a minute that the long run allows: three standard deviations around its mean. */
const longMost = ({ long: { entries, minutes } }: Track): number => (entries + 3 * Math.sqrt(entries + 1) + 4.5) / Math.max(1, minutes);
const longLeast = ({ long: { entries, minutes } }: Track): number => Math.max(0, entries - 3 * Math.sqrt(entries)) / Math.max(1, minutes);

/** Whether the windows that end with a minute have more than is usual, and which of them has. */
export function risen(track: Track, end: number, factor: number, isRaw: boolean): Found | null {
  if (!isRaw && track.headroom.has(end, factor)) return null;
  const isOpen = track.age >= LEARNING && track.at(end) > 0;
  if (!isOpen) {
    track.headroom.set(end, factor, 0);
    return null;
  }
  let dipped: boolean | null = null;
  let margin = Infinity;
  for (let index = 0; index < SCALES.length; index++) {
    const scale = SCALES[index] as number;
    const compared = track.compare(end, scale, isRaw);
    if (compared === null) continue;
    const found = riseOf(track, index, compared, factor);
    if (found === null) {
      margin = Math.min(margin, leastRise(track, index, compared, factor) - compared.entries);
      continue;
    }
    margin = 0;
    dipped ??= hasDipped(track, end);
    if (!isHot(track, end, scale, compared, dipped, isRaw)) continue;
    if (scale === 1 && !dipped && !wasHot(track, end - 1, factor, isRaw)) continue;
    if (scale <= 5 && isScheduled(track, end, scale, compared)) continue;
    track.headroom.set(end, factor, 0);
    return found;
  }
  if (!isRaw) track.headroom.set(end, factor, margin);
  return null;
}

/** With fewer entries `riseOf` finds nothing. */
function leastRise(track: Track, index: number, { high }: Compared, factor: number): number {
  const least = threshold(track, index, 'above', high, factor);
  const at = (deviation: number): number => (Math.sqrt(high + 0.375) + deviation / 2) ** 2 - 0.375;
  if (high >= FEW) return Math.max(at(least), (isYoung(track) ? RATIO_UP_YOUNG : RATIO_UP) * (high + 1) - 1);
  return Math.max(LEAST_ENTRIES, at(Math.max(0.6 * least, OWN * (track.above[index]?.quantile() ?? 0))));
}

function riseOf(track: Track, index: number, { entries, high, above }: Compared, factor: number): Found | null {
  const scale = SCALES[index] as number;
  const least = threshold(track, index, 'above', high, factor);
  const found = (z: number, bound: number): Found => ({ scale, z, value: entries / scale, mean: high / scale, bound: bound / scale });
  const bound = Math.max((Math.sqrt(high) + least / 4) ** 2, high);
  if (high >= FEW) {
    const ratio = (entries + 1) / (high + 1);
    return above >= least && ratio >= (isYoung(track) ? RATIO_UP_YOUNG : RATIO_UP) ? found(above, bound) : null;
  }
  const rarity = rarityAbove(entries, Math.max(high, longMost(track) * scale));
  const isRare = rarity > RARE_UP * factor * factor * (isYoung(track) ? RARE_YOUNG : 1);
  const own = OWN * (track.above[index]?.quantile() ?? 0);
  return isRare && entries >= LEAST_ENTRIES && above >= Math.max(0.6 * least, own) ? found(Math.sqrt(2 * rarity), bound) : null;
}

/** The latest minutes must show it too: a rise that is over, or is a single minute, does not count. */
function isHot(track: Track, end: number, scale: number, { high, entries }: Compared, dipped: boolean, isRaw: boolean): boolean {
  const usual = high / scale;
  if (scale >= 5 && usual < 1) return entries >= LEAST_ENTRIES && isHotLately(track, end, Math.min(scale, LATELY), usual);
  let hot = true;
  for (let back = 0; back < (dipped ? 4 : 2) && hot; back++) {
    const came = track.at(end - back);
    hot = came > usual * 1.15 && (usual < 1 ? came >= 1 : 2 * (Math.sqrt(came + 0.375) - Math.sqrt(usual + 0.375)) > 1.5);
  }
  // what came while it fires is in long windows long after it is over
  if (hot || dipped || isRaw || scale < 15) return hot;
  return track.at(end) > usual * 1.1 && share(track, end, scale, (came) => came > usual * 1.2) > 0.5;
}

/** Of few entries the latest minutes together show whether it goes on. */
function isHotLately(track: Track, end: number, minutes: number, usual: number): boolean {
  const expected = usual * minutes;
  return track.sum(end - minutes + 1, end + 1) > expected + 2 * Math.sqrt(expected + 1);
}

function wasHot(track: Track, minute: number, factor: number, isRaw: boolean): boolean {
  const before = track.compare(minute, 1, isRaw);
  return before !== null && before.above >= 0.8 * threshold(track, 0, 'above', before.high, factor);
}

/** The share of a window's minutes of which something is so. */
function share(track: Track, end: number, scale: number, isSo: (came: number) => boolean): number {
  let count = 0;
  for (let back = 0; back < scale; back++) if (isSo(track.at(end - back))) count += 1;
  return count / scale;
}

function hasDipped(track: Track, end: number): boolean {
  const usual = track.expect(end - DIP_MINUTES, 1)?.recent ?? 0;
  if (usual < 3) return false;
  for (let back = 1; back <= DIP_MINUTES; back++) if (track.at(end - back) < usual * DIP) return true;
  return false;
}

/** Whether the same peak was there a while ago, with calm between: what runs by a clock. */
function isScheduled(track: Track, end: number, scale: number, { entries, high }: Compared): boolean {
  const peak = entries - high;
  return LAGS.some((lag) => {
    if (end - lag - scale < track.begin) return false;
    const before = track.sum(end - lag - scale + 1, end - lag + 1);
    if (before - high < 0.6 * peak) return false;
    const between = lag - scale;
    return between > 0 && share(track, end - scale, between, (came) => came < (high + 0.4 * peak) / scale) >= 0.6;
  });
}

/** The longest window that is looked at for a fall, where entries are few. Minutes. */
const LONGEST = 120;
/** A restart is near zero for three minutes at most. */
const NEAR_ZERO = 0.15;
const LEAST_PARTIAL = 20;

/** Whether the windows that end with a minute, whose counts are final, have less than is usual. */
export function fallen(track: Track, end: number, factor: number, isRaw: boolean): Found | null {
  if (track.age < LEARNING) return null;
  for (let index = 1; index <= SCALES.length; index++) {
    const scale = SCALES[index] ?? LONGEST;
    const whole = track.compare(end, scale, isRaw);
    if (whole === null || (scale === LONGEST && whole.low >= FEW)) continue;
    const compared = whole.low / scale < LOW_RATE ? { ...whole, low: Math.min(whole.low, longLeast(track) * scale) } : whole;
    const found = fallOf(track, Math.min(index, SCALES.length - 1), scale, compared, factor);
    if (found !== null && isLow(track, end, scale, compared)) return found;
  }
  return null;
}

function fallOf(track: Track, index: number, scale: number, { entries, low }: Compared, factor: number): Found | null {
  const below = 2 * (Math.sqrt(low + 0.375) - Math.sqrt(entries + 0.375));
  const ratio = (entries + 0.5) / (low + 0.5);
  const least = threshold(track, index, 'below', low, factor);
  const bound = Math.max(0, Math.sqrt(low) - least / 4) ** 2;
  const found = (z: number): Found => ({ scale, z: -z, value: entries / scale, mean: low / scale, bound: bound / scale });
  if (low >= FEW) return below >= least && ratio <= (isYoung(track) ? RATIO_DOWN_YOUNG : RATIO_DOWN) ? found(below) : null;
  if (low < RARE_DOWN) return null;
  const rarity = rarityBelow(entries, low);
  const isRare = rarity > RARE_DOWN * factor * factor * (isYoung(track) ? RARE_YOUNG : 1);
  return isRare && ratio < 0.35 && below >= OWN * (track.below[index]?.quantile() ?? 0) ? found(Math.sqrt(2 * rarity)) : null;
}

/** Most minutes of the window must show it, the latest one too, and it must not be a restart. */
function isLow(track: Track, end: number, scale: number, { low }: Compared): boolean {
  const usual = low / scale;
  if (scale === 3 && (usual < LEAST_PARTIAL || share(track, end, scale, (came) => came < NEAR_ZERO * usual) > 0)) return false;
  if (usual >= 3 && track.at(end) >= usual * 0.8) return false;
  return share(track, end, scale, (came) => came < usual * 0.8) >= (scale <= 5 ? 1 : 0.75);
}

/** Minutes without an entry that make a silence, where `SILENT_ENTRIES` were expected; three if many were: a restart is quiet as long. */
const SILENT = 4;
const SILENT_ENTRIES = 16;
const SOON = 3;
const SOON_ENTRIES = 60;
const LONGEST_SILENCE = 200;

/** Whether a series that is never silent is: no entry for some minutes, up to one whose counts are final. */
export function silent(track: Track, end: number, factor: number): Found | null {
  if (track.age < LEARNING || track.at(end) > 0) return null;
  let minutes = 0;
  while (minutes < LONGEST_SILENCE && end - minutes >= track.begin && track.at(end - minutes) === 0) minutes += 1;
  if (minutes < SOON) return null;
  const before = track.expect(end - SILENT, SILENT);
  if (before === null) return null;
  const usual = Math.min(before.recent, before.yesterday ?? Infinity) / SILENT;
  const expected = usual * minutes;
  const isMissed = minutes >= SILENT ? expected >= SILENT_ENTRIES * factor : expected >= SOON_ENTRIES * factor;
  const isUsual = usual > 3 || longLeast(track) * minutes >= 12;
  if (!isMissed || !isUsual) return null;
  const bound = Math.max(0, Math.sqrt(expected) - LEAST_Z / 4) ** 2 / minutes;
  return { scale: minutes, z: -2 * Math.sqrt(expected), value: 0, mean: usual, bound };
}

/** Whether a series that left what is usual has recovered, by the five minutes that end with a minute. */
export function isCalm(track: Track, end: number, side: 'up' | 'down'): boolean {
  const compared = track.compare(end, SCALES[2], true);
  if (compared === null) return true;
  const { entries, high, low, above, below } = compared;
  if (side === 'up') return !(above > 0.4 * threshold(track, 2, 'above', high, 1) && entries > 1.25 * high + 2);
  if (low < 10 && track.sum(end - 9, end + 1) === 0) return false;
  return !(below > 0.4 * threshold(track, 2, 'below', low, 1) && entries < 0.8 * low);
}
