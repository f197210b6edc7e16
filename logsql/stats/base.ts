/** What the functions of `stats` share. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import type { Sql } from '../../pipeline/core/sql.ts';
import { coversField } from '../base/fields.ts';
import { compareBytes } from '../values/order.ts';
import { quotePattern } from '../base/reserved.ts';
import { fieldText } from '../sql/text.ts';
import type { Parser, SqlContext } from '../base/types.ts';
import { count, namesInParens } from '../base/arguments.ts';

/** `name(a, b.*)` from the name on; no field means all (`*`). */
export function parseFields(parser: Parser): readonly string[] {
  parser.lexer.next();
  const fields = namesInParens(parser.lexer);
  return fields.length === 0 || fields.includes('*') ? ['*'] : fields;
}

/** `limit N` after a function; Infinity where there is none. */
export function parseLimit(parser: Parser): number {
  return parser.lexer.accept('limit') ? count(parser.lexer, 'a number after "limit"') || Infinity : Infinity;
}

export const printFields = (name: string, fields: readonly string[]): string => `${name}(${fields.map(quotePattern).join(', ')})`;
export const printLimit = (limit: number): string => (limit === Infinity ? '' : ` limit ${String(limit)}`);

const isPattern = (field: string): boolean => field.endsWith('*');

/** The strings of the fields in a row: '' for a missing one, and for a pattern that no field has; where there are patterns, by name. */
export function textsOf(row: LogEntry, fields: readonly string[]): readonly string[] {
  if (!fields.some(isPattern)) return fields.map((field) => textOf(row.get(field)));
  const names = [...row.keys()].filter((name) => coversField(fields, name)).sort(compareBytes);
  const found = names.map((name) => textOf(row.get(name)));
  return found.length > 0 ? found : [''];
}

/** The fields' strings in SQL; null when there are patterns or a field that this table does not hold as a string. */
export function columnsOf(fields: readonly string[], context: SqlContext): readonly Sql[] | null {
  const columns = fields.map((field) => (isPattern(field) ? null : fieldText(field, context)));
  return columns.every((column) => column !== null) ? columns : null;
}
