/** What a spreadsheet takes for the beginning of a formula, also where it is typed full-width (OWASP: CSV injection). */
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Within quotes (https://www.rfc-editor.org/rfc/rfc4180): separators, quotes, line ends, and spaces that readers cut off. */
const QUOTED = /[",\r\n]|^\s|\s$/;

/** A row of CSV with its line end. Text that a spreadsheet would run has an apostrophe in front; numbers stay. */
export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\n`;

function csvCell(value: string): string {
  const safe = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The cell of any value of JSON: strings as they are, nothing for what is not there, objects as JSON. */
const csvText = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** A row of the members of an object, in the order of the columns. */
export const csvOf = (columns: readonly string[], item: Readonly<Record<string, unknown>>): string =>
  csvRow(columns.map((column) => csvText(item[column])));
