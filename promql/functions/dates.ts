/** Parts of a time in UTC: of values in seconds, or without an argument of the step's own time. */
import type { MapFunction } from './base.ts';

const partOf = (name: string, help: string, part: (date: Date) => number): MapFunction => ({
  kind: 'map',
  name,
  args: ['vector'],
  variadic: 1,
  returns: 'vector',
  usesTime: true,
  help,
  float: (value) => part(new Date(Math.trunc(value) * 1000)),
});

const dayOf = (date: Date): number => Math.floor(date.getTime() / 86_400_000);

export const minute = partOf('minute', 'minute of the hour, from 0', (date) => date.getUTCMinutes());
export const hour = partOf('hour', 'hour of the day, from 0', (date) => date.getUTCHours());
export const dayOfWeek = partOf('day_of_week', 'day of the week, Sunday is 0', (date) => date.getUTCDay());
export const dayOfMonth = partOf('day_of_month', 'day of the month, from 1', (date) => date.getUTCDate());
export const dayOfYear = partOf(
  'day_of_year',
  'day of the year, from 1',
  (date) => dayOf(date) - dayOf(new Date(Date.UTC(date.getUTCFullYear(), 0, 1))) + 1,
);
export const daysInMonth = partOf('days_in_month', 'number of days of the month', (date) =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
);
export const month = partOf('month', 'month of the year, from 1', (date) => date.getUTCMonth() + 1);
export const year = partOf('year', 'year', (date) => date.getUTCFullYear());
