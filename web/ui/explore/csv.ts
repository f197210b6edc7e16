/** Entries as a table of text (RFC 4180). */
import { textOf, type Entry } from './entry.ts';

/** A value of a table: quoted where it must be, and never a formula of a spreadsheet. */
function csvValue(text: string): string {
  const isFormula = /^[=@\t\r]/.test(text) || (/^[+-]/.test(text) && !/^[+-]?\d+(?:\.\d+)?$/.test(text));
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Columns of the first page; what other entries have beside them is in the last one, as JSON. */
export function csvColumns(rows: readonly Entry[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const first = ['_time', 'level', 'service', '_msg', '_stream'].filter((name) => names.includes(name));
  return [...first, ...names.filter((name) => !first.includes(name)).sort()];
}

const OTHERS = 'other_fields';

export function csvLines(rows: readonly Entry[], columns: readonly string[]): string {
  return rows
    .map((row) => {
      const others = Object.entries(row).filter(([name]) => !columns.includes(name));
      const last = others.length === 0 ? '' : JSON.stringify(Object.fromEntries(others));
      return `${[...columns.map((name) => textOf(row, name)), last].map(csvValue).join(',')}\r\n`;
    })
    .join('');
}

export const csvHead = (columns: readonly string[]): string => `${[...columns, OTHERS].map(csvValue).join(',')}\r\n`;
