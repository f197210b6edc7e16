import { COLON, SPACE } from '../../wire/bytes.ts';
import { dayOf, readLocalIso, two } from '../../logs/time-token.ts';
import type { SplitTime } from '../../rows/halves.ts';
import type { Zone } from './zone.ts';

/** What times are read against: the zone of those that name none, and when the request came. */
export type Clock = {
  readonly zone: Zone;
  /** Seconds since the epoch, and the year of it in UTC. */
  readonly now: number;
  readonly year: number;
};

const DAY = 86_400;
/** Entries from further ahead are not taken, so a time without a year is not from there. */
const MOST_AHEAD = 2 * DAY;
/** From one 29 February to the one before. */
const MOST_YEARS_BACK = 8;
const MONTHS = Buffer.from('janfebmaraprmayjunjulaugsepoctnovdec');

/** Hours of zones that stand behind a time: those of RFC 822, 5.1, and Central Europe's. */
const NAMED_HOURS: ReadonlyMap<string, number> = new Map([
  ['UT', 0], ['UTC', 0], ['GMT', 0], ['EST', -5], ['EDT', -4], ['CST', -6], ['CDT', -5],
  ['MST', -7], ['MDT', -6], ['PST', -8], ['PDT', -7], ['CET', 1], ['CEST', 2],
]); // prettier-ignore

/** Reads a time of ISO 8601 that fills `bytes[at..end)`: `Z`, an offset, or the clock's zone. False: it is in another form, or wrong. */
export function readIsoStamp(bytes: Buffer, at: number, end: number, clock: Clock, time: SplitTime): boolean {
  if (bytes[end - 1] === 0x5a) return readLocalIso(bytes, at, end - 1, time);
  const length = offsetLength(bytes, at, end);
  if (length > 0) {
    const hours = two(bytes, end - length + 1);
    const minutes = length > 3 ? two(bytes, end - 2) : 0;
    if (!(hours < 24 && minutes < 60) || !readLocalIso(bytes, at, end - length, time)) return false;
    time.seconds -= (bytes[end - length] === 0x2d ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
  }
  if (!readLocalIso(bytes, at, end, time)) return false;
  time.seconds = clock.zone(time.seconds);
  return true;
}

/** The length of `+hh:mm`, `+hhmm` or `+hh` at the end of a time; 0 where it has none. */
function offsetLength(bytes: Buffer, at: number, end: number): number {
  // behind the hours, minutes and seconds
  const from = at + 19;
  for (const length of bytes[end - 3] === COLON ? [6] : [5, 3]) {
    const sign = bytes[end - length];
    if (end - length >= from && (sign === 0x2b || sign === 0x2d)) return length;
  }
  return 0;
}

/**
 * Reads a time of RFC 3164, `Nov  3 10:00:00`, and what devices make of it: a fraction, a year before, behind the day or behind the
 * time, a zone behind the time. Without a year it is in the last one that puts it at most two days ahead of now: on 1 January a
 * 31 December is yesterday's. Gives the offset after it, where a space, a colon or the end must follow; -1 where it is none.
 */
export function readBsdStamp(bytes: Buffer, at: number, end: number, clock: Clock, time: SplitTime): number {
  let year = yearAt(bytes, at, end);
  let i = year > 0 ? at + 5 : at;
  const month = monthAt(bytes, i);
  if (month === 0 || bytes[i + 3] !== SPACE) return -1;
  i += bytes[i + 4] === SPACE ? 5 : 4;
  const oneDigit = bytes[i + 1] === SPACE;
  const day = oneDigit ? digit(bytes[i]) : two(bytes, i);
  i += oneDigit ? 1 : 2;
  if (bytes[i] !== SPACE) return -1;
  i += 1;
  if (year === 0) {
    year = yearAt(bytes, i, end);
    if (year > 0) i += 5;
  }
  const ofDay = secondOfDay(bytes, i);
  if (i + 8 > end || !(ofDay >= 0)) return -1;
  i = readFraction(bytes, i + 8, end, time);
  if (i < end && bytes[i] !== SPACE && bytes[i] !== COLON) return -1;
  const zoneEnd = zoneNameEnd(bytes, i, end);
  const hours = zoneEnd < 0 ? undefined : NAMED_HOURS.get(bytes.toString('latin1', i + 1, zoneEnd));
  if (hours !== undefined) i = zoneEnd;
  if (year === 0 && bytes[i] === SPACE) {
    year = yearAt(bytes, i + 1, end);
    if (year > 0) i += 5;
  }
  const local = year > 0 ? dayOf(year, month, day) * DAY + ofDay : inLikelyYear(month, day, ofDay, clock);
  if (!(local === local)) return -1;
  time.seconds = hours === undefined ? clock.zone(local) : local - hours * 3600;
  return i;
}

/** The time in the last year that does not put it too far ahead; NaN where it is in no year. */
function inLikelyYear(month: number, day: number, ofDay: number, { now, year }: Clock): number {
  for (let candidate = year + 1; candidate >= year - MOST_YEARS_BACK; candidate--) {
    const seconds = dayOf(candidate, month, day) * DAY + ofDay;
    if (seconds <= now + MOST_AHEAD) return seconds;
  }
  return NaN;
}

/** The end of ` XYZ`, two to four capital letters behind a time, before a colon or ` YYYY`, or any space behind UTC and GMT; -1 where there is no such thing. */
function zoneNameEnd(bytes: Buffer, at: number, end: number): number {
  if (bytes[at] !== SPACE) return -1;
  let i = at + 1;
  while (i < end && i < at + 6 && (bytes[i] as number) >= 0x41 && (bytes[i] as number) <= 0x5a) i += 1;
  const letters = i - at - 1;
  if (letters < 2 || letters > 4 || i >= end) return -1;
  if (bytes[i] === COLON) return i;
  // a host may be called EST
  const isUtc = bytes[at + 1] === 0x55 || bytes[at + 1] === 0x47;
  return bytes[i] === SPACE && (isUtc || yearAt(bytes, i + 1, end) > 0) ? i : -1;
}

/** A year from 1900 to 2099 before a space, a colon and a space, or the end; 0 where there is none. */
function yearAt(bytes: Buffer, at: number, end: number): number {
  const century = two(bytes, at);
  const year = century * 100 + two(bytes, at + 2);
  const next = bytes[at + 4];
  const bounded = at + 4 === end || (at + 4 < end && (next === SPACE || (next === COLON && bytes[at + 5] === SPACE)));
  return bounded && (century === 19 || century === 20) && year === year ? year : 0;
}

/** The month of its three letters, case-insensitive; 0 where they are not a month. */
function monthAt(bytes: Buffer, at: number): number {
  for (let month = 0; month < 12; month++) {
    let same = true;
    for (let i = 0; same && i < 3; i++) same = ((bytes[at + i] ?? 0) | 0x20) === MONTHS[month * 3 + i];
    if (same) return month + 1;
  }
  return 0;
}

/** Seconds of `hh:mm:ss`; a leap second counts as the one after. NaN or negative where there is none. */
function secondOfDay(bytes: Buffer, at: number): number {
  const hour = two(bytes, at);
  const minute = two(bytes, at + 3);
  const second = two(bytes, at + 6);
  const valid = hour < 24 && minute < 60 && second <= 60 && bytes[at + 2] === COLON && bytes[at + 5] === COLON;
  return valid ? hour * 3600 + minute * 60 + second : -1;
}

/** Reads `.123` or `,123` behind the seconds, if there is one; beyond nine digits it is cut. Gives the offset after it. */
function readFraction(bytes: Buffer, at: number, end: number, time: SplitTime): number {
  time.nanos = 0;
  if (at >= end || (bytes[at] !== 0x2e && bytes[at] !== 0x2c)) return at;
  let unit = 100_000_000;
  let i = at + 1;
  for (; i < end && digit(bytes[i]) >= 0; i++) {
    time.nanos += digit(bytes[i]) * unit;
    unit = Math.floor(unit / 10);
  }
  return i > at + 1 ? i : at;
}

/** The value of a digit; -1 where it is none. */
function digit(byte: number | undefined): number {
  return byte === undefined || byte < 0x30 || byte > 0x39 ? -1 : byte - 0x30;
}
