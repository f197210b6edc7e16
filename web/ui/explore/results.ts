/** What rows of pipes are: which columns they have, and which chart suits them without being asked. */
import { textOf, type Entry } from './entry.ts';

export type Shape = {
  readonly columns: readonly string[];
  readonly numbers: readonly string[];
  /** Lines over time, bars by group, or nothing that can be drawn. */
  readonly chart: 'lines' | 'bars' | null;
};

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

const isNumber = (text: string): boolean => NUMBER.test(text);

/** Whether rows are entries: those that pipes have not changed into something else. */
export const areEntries = (rows: readonly Entry[]): boolean => rows.length === 0 || rows.some((row) => '_msg' in row && '_time' in row);

/** How rows are drawn. A column counts as a number where all of its values are. */
export function shapeOf(rows: readonly Entry[]): Shape {
  const sample = rows.slice(0, 500);
  const columns = [...new Set(sample.flatMap((row) => Object.keys(row)))];
  const numbers = columns.filter((name) => name !== '_time' && sample.every((row) => textOf(row, name) === '' || isNumber(textOf(row, name))) && sample.some((row) => textOf(row, name) !== '')); // prettier-ignore
  const isOverTime = columns.includes('_time') && new Set(sample.map((row) => textOf(row, '_time'))).size > 1;
  const groups = columns.filter((name) => name !== '_time' && !numbers.includes(name));
  const chart =
    numbers.length === 0 || rows.length < 2 ? null : isOverTime ? 'lines' : groups.length > 0 || numbers.length > 1 ? 'bars' : null;
  return { columns, numbers, chart };
}

export type Series = { readonly name: string; readonly values: readonly (number | null)[] };
const MOST_SERIES = 12;

/** A line for each group and number, the largest ones; the others are left out, and how many is given. */
export function seriesOf(
  rows: readonly Entry[],
  { columns, numbers }: Shape,
): { readonly times: readonly number[]; readonly series: readonly Series[]; readonly others: number } {
  const groups = columns.filter((name) => name !== '_time' && !numbers.includes(name));
  const times = [...new Set(rows.map((row) => Date.parse(textOf(row, '_time')) / 1000))]
    .filter((time) => !Number.isNaN(time))
    .sort((a, b) => a - b);
  const places = new Map(times.map((time, at) => [time, at]));
  const all = new Map<string, (number | null)[]>();
  for (const row of rows) {
    const at = places.get(Date.parse(textOf(row, '_time')) / 1000);
    if (at === undefined) continue;
    for (const number of numbers) {
      const label = groups.map((name) => textOf(row, name) || '(none)').join(', ');
      const name = label === '' ? number : numbers.length === 1 ? label : `${label}: ${number}`;
      const values = all.get(name) ?? Array.from<number | null>({ length: times.length }).fill(null);
      all.set(name, values);
      const text = textOf(row, number);
      values[at] = text === '' ? null : Number(text);
    }
  }
  const size = (values: readonly (number | null)[]): number => values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0);
  const sorted = [...all].map(([name, values]) => ({ name, values })).sort((a, b) => size(b.values) - size(a.values));
  return { times, series: sorted.slice(0, MOST_SERIES), others: Math.max(0, sorted.length - MOST_SERIES) };
}

/** The label of a row among bars. */
export const labelOf = (row: Entry, { columns, numbers }: Shape, by: string): string =>
  columns.filter((name) => !numbers.includes(name) || (name !== by && numbers.indexOf(name) < numbers.indexOf(by))).map((name) => textOf(row, name) || '(none)').join(', '); // prettier-ignore
