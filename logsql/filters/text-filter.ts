import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import type { Sql } from '../../pipeline/core/sql.ts';
import { fieldPrefix } from '../base/reserved.ts';
import type { Filter, SqlContext } from '../base/types.ts';

/** A filter that tests the string of one field and nothing else. */
export abstract class TextFilter implements Filter {
  readonly field: string;
  readonly fields: readonly string[];
  constructor(field: string) {
    this.field = field === '' ? '_msg' : field;
    this.fields = [this.field];
  }
  matches(entry: LogEntry): boolean {
    return this.accepts(textOf(entry.get(this.field)));
  }
  toString(): string {
    return fieldPrefix(this.field) + this.print();
  }
  /** What stands after the field's name. */
  abstract print(): string;
  abstract accepts(value: string): boolean;
  /** The condition on the string of the field. */
  protected abstract textSql(context: SqlContext): Sql | null;
  sql(context: SqlContext): Sql | null {
    const few = context.computed?.(this.field) === undefined ? context.table.fewWords(this.field) : undefined;
    return few === undefined ? this.textSql(context) : few.isOneOf(few.words.filter((word) => this.accepts(word)));
  }
}
