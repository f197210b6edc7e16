/** Parts of a time in UTC: of values in seconds, or without an argument of the step's own time. */
import type { MapFunction } from './base.ts';

/** A time that has any year: days since 1970, the second of the day, and its date. */
type Time = { readonly days: number; readonly second: number; readonly year: number; readonly month: number; readonly day: number };

const [DAY, LEAST] = [86_400, -(2n ** 63n)];
/** Go counts seconds of 64 bits from here on, and begins again behind the last of them: 292 thousand million years before 1970. */
const BEGIN = -((292_277_022_400n * 3_652_425n) / 10_000n + 306n) * 86_400n - 62_135_596_800n;
/** Days of 400 years, of a century, of four years and of one, and the days before 0000-03-01 that 1970 is away. */
const [ERA, CENTURY, FOUR, YEAR, TO_1970] = [146_097, 36_524, 1460, 365, 719_468];

/** The time of a number of seconds, as Go has it: what 64 bits cannot hold, and what is no number, is the least that they can. */
function timeOf(value: number): Time {
  const whole = Math.trunc(value);
  const isHeld = whole >= -(2 ** 63) && whole < 2 ** 63;
  const seconds = BigInt.asUintN(64, (isHeld ? BigInt(whole) : LEAST) - BEGIN) + BEGIN;
  const second = Number(((seconds % BigInt(DAY)) + BigInt(DAY)) % BigInt(DAY));
  const days = Number((seconds - BigInt(second)) / BigInt(DAY));
  // years that begin with March (https://howardhinnant.github.io/date_algorithms.html#civil_from_days)
  const shifted = days + TO_1970;
  const era = Math.floor(shifted / ERA);
  const inEra = shifted - era * ERA;
  const inYears = Math.floor((inEra - Math.floor(inEra / FOUR) + Math.floor(inEra / CENTURY) - Math.floor(inEra / (ERA - 1))) / YEAR);
  const ofYear = inEra - (YEAR * inYears + Math.floor(inYears / 4) - Math.floor(inYears / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const day = ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  return { days, second, year: inYears + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const lengthOf = (year: number, month: number): number => (LENGTHS[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0);

const partOf = (name: string, help: string, part: (time: Time) => number): MapFunction => ({
  kind: 'map',
  name,
  args: ['vector'],
  variadic: 1,
  returns: 'vector',
  usesTime: true,
  help,
  float: (value) => part(timeOf(value)),
});

export const minute = partOf('minute', 'minute of the hour, from 0', ({ second }) => Math.floor(second / 60) % 60);
export const hour = partOf('hour', 'hour of the day, from 0', ({ second }) => Math.floor(second / 3600));
// 1970 began with a Thursday
export const dayOfWeek = partOf('day_of_week', 'day of the week, Sunday is 0', ({ days }) => (((days + 4) % 7) + 7) % 7);
export const dayOfMonth = partOf('day_of_month', 'day of the month, from 1', ({ day }) => day);
export const dayOfYear = partOf('day_of_year', 'day of the year, from 1', ({ year: own, month: last, day }) =>
  Array.from({ length: last - 1 }, (_none, at) => lengthOf(own, at + 1)).reduce((sum, days) => sum + days, day),
);
export const daysInMonth = partOf('days_in_month', 'number of days of the month', ({ year: own, month: of }) => lengthOf(own, of));
export const month = partOf('month', 'month of the year, from 1', (time) => time.month);
export const year = partOf('year', 'year', (time) => time.year);
