import { renderEntry, type LogEntry } from '../../pipeline/core/entry.ts';

const FRACTION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{1,9})Z$/;

/** A row as search returns it. `_time`, whose string has as many fraction digits in LogsQL as it takes, has 3, 6 or 9 of them. */
export function renderResult(row: LogEntry): string {
  const time = row.get('_time');
  const digits = typeof time === 'string' ? FRACTION.exec(time)?.[1] : undefined;
  if (typeof time !== 'string' || digits === undefined || digits.length % 3 === 0) return renderEntry(row);
  return renderEntry(new Map([...row, ['_time', `${time.slice(0, -1)}${'0'.repeat(3 - (digits.length % 3))}Z`]]));
}
