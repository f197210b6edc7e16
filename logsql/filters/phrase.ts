import type { Sql } from '../../pipeline/core/sql.ts';
import { quote } from '../base/reserved.ts';
import { phraseSql, prefixSql } from '../sql/text.ts';
import type { SqlContext } from '../base/types.ts';
import { hasPhrase, hasPrefix } from '../values/words.ts';
import { TextFilter } from './text-filter.ts';

/** A word or a phrase (`error`, `"connection refused"`); the empty one means a missing field. */
export class PhraseFilter extends TextFilter {
  readonly phrase: string;
  constructor(field: string, phrase: string) {
    super(field);
    this.phrase = phrase;
  }
  print(): string {
    return quote(this.phrase);
  }
  accepts(value: string): boolean {
    return hasPhrase(value, this.phrase);
  }
  protected textSql(context: SqlContext): Sql | null {
    return phraseSql(this.field, this.phrase, context);
  }
}

/** The beginning of a word or phrase (`erro*`, `"connection ref"*`); `f:*` means a field that is not empty. */
export class PrefixFilter extends TextFilter {
  readonly prefix: string;
  constructor(field: string, prefix: string) {
    super(field);
    this.prefix = prefix;
  }
  /** A bare `*` is all entries. */
  override toString(): string {
    return this.prefix === '' && this.field === '_msg' ? '""*' : super.toString();
  }
  print(): string {
    return this.prefix === '' ? '*' : `${quote(this.prefix)}*`;
  }
  accepts(value: string): boolean {
    return hasPrefix(value, this.prefix);
  }
  protected textSql(context: SqlContext): Sql | null {
    return prefixSql(this.field, this.prefix, context);
  }
}
