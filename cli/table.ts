import { printable } from './output.ts';

/** A plain table of an answer (an object or a list of them) for people: a head, then a row each; `columns` in this order. */
export function renderTable(answer: unknown, columns: readonly string[]): string {
  const items = Array.isArray(answer) ? answer : [answer];
  const rows = items.map((item) => columns.map((column) => cell((item as Record<string, unknown> | null)?.[column])));
  const widths = columns.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd() + '\n';
  return line(columns.map((column) => column.toUpperCase())) + rows.map(line).join('');
}

/** Control characters are written as escapes, so that a tenant's name cannot move the cursor. */
function cell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  if (Array.isArray(value)) return value.map(cell).join(',');
  if (typeof value === 'object')
    return (
      Object.entries(value)
        .map(([name, part]) => `${name}=${cell(part)}`)
        .join(' ') || '-'
    );
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}
