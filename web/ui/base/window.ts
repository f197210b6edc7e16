/** The window that is looked at: two ends, each relative (`-1h`, `now`) or an ISO time; and whatever a person pastes, read as one. */
import type { Zone } from './time.ts';

export type TimeWindow = { readonly from: string; readonly to: string };
/** Milliseconds. */
export type Span = { readonly start: number; readonly end: number };

export const PRESETS: readonly { readonly from: string; readonly name: string }[] = [
  { from: '-5m', name: 'Last 5 minutes' },
  { from: '-15m', name: 'Last 15 minutes' },
  { from: '-1h', name: 'Last hour' },
  { from: '-3h', name: 'Last 3 hours' },
  { from: '-12h', name: 'Last 12 hours' },
  { from: '-24h', name: 'Last 24 hours' },
  { from: '-2d', name: 'Last 2 days' },
  { from: '-7d', name: 'Last 7 days' },
  { from: '-14d', name: 'Last 14 days' },
];

const UNITS: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };
const RELATIVE = /^-(\d{1,6})\s*(s|m|h|d|w)(?:in(?:utes?)?|ec(?:onds?)?|ours?|ays?|eeks?)?$/i;

/** The milliseconds of one end; null where it is none. */
export function endOf(text: string, now: number): number | null {
  if (text === 'now') return now;
  const [, size, unit = ''] = RELATIVE.exec(text) ?? [];
  if (size !== undefined) return now - Number(size) * (UNITS[unit.toLowerCase()] ?? 0);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

/** The window as two times. What is not readable is the last hour. */
export function spanOf({ from, to }: TimeWindow, now: number): Span {
  const end = endOf(to, now) ?? now;
  const start = endOf(from, now) ?? end - 36e5;
  return start < end ? { start, end } : { start: end - 36e5, end };
}

export const isRelative = ({ from, to }: TimeWindow): boolean => from.startsWith('-') && to === 'now';

const iso = (ms: number): string => new Date(ms).toISOString();

/** A window of two fixed times. */
export const fixed = ({ start, end }: Span): TimeWindow => ({ from: iso(start), to: iso(end) });

/** Moves by a share of its length, never behind now. */
export function moved(window: TimeWindow, share: number, now: number): TimeWindow {
  const { start, end } = spanOf(window, now);
  const by = Math.min((end - start) * share, now - end);
  return fixed({ start: start + by, end: end + by });
}

/** Twice as long about its middle, its end not behind now. */
export function zoomedOut(window: TimeWindow, now: number): TimeWindow {
  const { start, end } = spanOf(window, now);
  const length = end - start;
  const last = Math.min(now, end + length / 2);
  return fixed({ start: last - 2 * length, end: last });
}

/** The window of the same length right before. */
export const before = ({ start, end }: Span): Span => ({ start: start - (end - start), end: start });

/** Minutes of what is tried where a window took too long; null: it is as short as it gets. */
export const shorterThan = ({ start, end }: Span): number | null => [15, 5, 1].find((minutes) => minutes * 60_000 < end - start) ?? null;

const EPOCH = /^\d{10}(?:\.\d+)?$|^\d{13}$|^\d{16}$|^\d{19}$/;
const ISO = /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:Z|[+-]\d{2}:?\d{2})?)?/g;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const SYSLOG = /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+(\d{1,2})\s+(\d{2}):(\d{2}):(\d{2})/i;
const APACHE = /\b(\d{2})\/(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:\s*([+-]\d{4}))?/i;
const CLOCKS = /^(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*(?:-|–|—|to|until|\.\.)\s*(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/i;
const MINUTE = 6e4;

/** About one moment: a minute on both sides. */
const around = (ms: number): TimeWindow => fixed({ start: ms - MINUTE, end: ms + MINUTE });

/**
 * Reads whatever was pasted: `-90m`, `90m`, `22:40-22:45`, one or two ISO times with or without a zone, seconds to nanoseconds since 1970, a day, or a
 * whole line of a log, of which the first time counts. Null where there is no time in it.
 */
export function readWindow(text: string, zone: Zone, now: number): TimeWindow | null {
  const short = text.trim();
  const relative = RELATIVE.exec(short.startsWith('-') ? short : `-${short}`);
  if (relative !== null) return { from: `-${relative[1] ?? ''}${(relative[2] ?? '').toLowerCase()}`, to: 'now' };
  const ends = /^(-\d+[smhdw])\s*(?:,|to|\.\.)?\s*(now|-\d+[smhdw])$/i.exec(short);
  if (ends !== null) return { from: ends[1] ?? '', to: ends[2] ?? '' };
  if (EPOCH.test(short)) return around(epochMs(short));
  return clocks(short, zone, now) ?? dates(short, zone) ?? syslog(short, zone, now) ?? apache(short) ?? epochIn(short);
}

const epochMs = (text: string): number => Number(text) * 10 ** (13 - text.replace(/\..*/, '').length);

function epochIn(text: string): TimeWindow | null {
  const found = /(?<!\d)1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?!\d)/.exec(text)?.[0];
  return found === undefined ? null : around(epochMs(found));
}

const momentIn = (zone: Zone, year: number, month: number, day: number, hour: number, minute: number, second: number): number =>
  zone === 'utc' ? Date.UTC(year, month, day, hour, minute, second) : new Date(year, month, day, hour, minute, second).getTime();

/** Clocks are of today, or of yesterday where they would be in the future. */
function clocks(text: string, zone: Zone, now: number): TimeWindow | null {
  const found = CLOCKS.exec(text);
  if (found === null) return null;
  const [hour, minute, second, lastHour, lastMinute, lastSecond] = found.slice(1).map((part: string | undefined) => Number(part ?? 0)) as [number, number, number, number, number, number]; // prettier-ignore
  if (hour > 23 || minute > 59 || second > 59 || lastHour > 23 || lastMinute > 59 || lastSecond > 59) return null;
  const today = new Date(now);
  const [year, month, day] = zone === 'utc' ? [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()] : [today.getFullYear(), today.getMonth(), today.getDate()]; // prettier-ignore
  let start = momentIn(zone, year, month, day, hour, minute, second);
  if (start > now) start -= UNITS['d'] ?? 0;
  if (found[4] === undefined) return around(start);
  let end = start + ((lastHour - hour) * 60 + lastMinute - minute) * MINUTE + (lastSecond - second) * 1000;
  if (end <= start) end += UNITS['d'] ?? 0;
  return fixed({ start, end });
}

function dates(text: string, zone: Zone): TimeWindow | null {
  const found = [...text.matchAll(ISO)].map(([one]) => one);
  const [first, second] = found;
  if (first === undefined) return null;
  const start = isoMs(first, zone);
  if (start === null) return null;
  const isAlone = text === first;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(first);
  if (
    second !== undefined &&
    /^\s*(?:-|–|—|to|until|\.\.|\/|,|\s)\s*$/i.test(text.slice(first.length, text.indexOf(second, first.length)))
  ) {
    const end = isoMs(second, zone);
    if (end !== null && end > start) return fixed({ start, end });
  }
  return isDay && isAlone ? fixed({ start, end: start + (UNITS['d'] ?? 0) }) : around(start);
}

/** A time without a zone is of the zone that is shown. */
function isoMs(text: string, zone: Zone): number | null {
  const whole = text.replace(' ', 'T').replace(/\s/g, '').replace(',', '.');
  const hasZone = /T.*(?:Z|[+-]\d{2}:?\d{2})$/.test(whole);
  const withClock = whole.includes('T') ? whole : `${whole}T00:00:00`;
  const at = Date.parse(hasZone ? withClock.replace(/([+-]\d{2})(\d{2})$/, '$1:$2') : zone === 'utc' ? `${withClock}Z` : withClock);
  return Number.isNaN(at) ? null : at;
}

function syslog(text: string, zone: Zone, now: number): TimeWindow | null {
  const [, month, day, hour, minute, second] = SYSLOG.exec(text) ?? [];
  if (month === undefined) return null;
  const year = new Date(now).getUTCFullYear();
  const at = (of: number): number =>
    momentIn(zone, of, MONTHS.indexOf(month.toLowerCase()), Number(day), Number(hour), Number(minute), Number(second));
  return around(at(year) > now + (UNITS['d'] ?? 0) ? at(year - 1) : at(year));
}

function apache(text: string): TimeWindow | null {
  const [, day, month = '', year, hour, minute, second, offset = '+0000'] = APACHE.exec(text) ?? [];
  if (day === undefined) return null;
  const at = Date.UTC(Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day), Number(hour), Number(minute), Number(second));
  const minutes = Number(offset.slice(0, 1) + '1') * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(3)));
  return around(at - minutes * MINUTE);
}
