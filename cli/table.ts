import { printable } from './output.ts';
import { UTC, type Zone } from './zone.ts';

/** A plain table of an answer (an object or a list of them) for people: a head, then a row each; `columns` in this order, times in the zone. */
export function renderTable(answer: unknown, columns: readonly string[], zone: Zone = UTC): string {
  const items = Array.isArray(answer) ? answer : [answer];
  const rows = items.map((item) => columns.map((column) => cell((item as Record<string, unknown> | null)?.[column], zone)));
  const widths = columns.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd() + '\n';
  return line(columns.map((column) => column.toUpperCase())) + rows.map(line).join('');
}

/** Control characters are written as escapes, so that a tenant's name cannot move the cursor. */
function cell(value: unknown, zone: Zone): string {
  if (value === undefined || value === null || value === '') return '-';
  if (Array.isArray(value)) return value.map((part) => cell(part, zone)).join(',');
  if (typeof value === 'object')
    return (
      Object.entries(value)
        .map(([name, part]) => `${name}=${cell(part, zone)}`)
        .join(' ') || '-'
    );
  return printable(typeof value === 'string' ? zone.show(value) : JSON.stringify(value));
}
