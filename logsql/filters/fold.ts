import type { Sql } from '../../pipeline/core/sql.ts';
import { foldCase } from '../values/fold.ts';
import { quote } from '../base/reserved.ts';
import { foldedSql } from '../sql/text.ts';
import type { FilterSpec, SqlContext } from '../base/types.ts';
import { hasPhrase, hasPrefix } from '../values/words.ts';
import { maybePrefixArgument } from './arguments.ts';
import { TextFilter } from './text-filter.ts';

/** `i(word)`, `i("a phrase")`, `i(pre*)`: case-insensitive, character by character. */
class FoldedFilter extends TextFilter {
  readonly phrase: string;
  readonly isPrefix: boolean;
  readonly #folded: string;
  constructor(field: string, phrase: string, isPrefix: boolean) {
    super(field);
    this.phrase = phrase;
    this.isPrefix = isPrefix;
    this.#folded = foldCase(phrase);
  }
  print(): string {
    return `i(${this.phrase === '' && this.isPrefix ? '' : quote(this.phrase)}${this.isPrefix ? '*' : ''})`;
  }
  accepts(value: string): boolean {
    const folded = foldCase(value);
    return this.isPrefix ? hasPrefix(folded, this.#folded) : hasPhrase(folded, this.#folded);
  }
  protected textSql(context: SqlContext): Sql | null {
    return foldedSql(this.field, this.phrase, this.isPrefix, context);
  }
}

export const anyCase: FilterSpec = {
  names: ['i'],
  kind: 'function',
  examples: [
    { query: 'i("SSH fail"*)', input: [{ _msg: 'ssh FAILED' }, { _msg: 'fail' }], output: [{ _msg: 'ssh FAILED' }] },
    { query: 'i(istanbul)', input: [{ _msg: 'İstanbul' }], output: [{ _msg: 'İstanbul' }] },
  ],
  parse(parser, field) {
    const { argument, isPrefix } = maybePrefixArgument(parser);
    return new FoldedFilter(field, argument, isPrefix);
  },
};
