import type { Sql } from '../../pipeline/core/sql.ts';
import { quote } from '../base/reserved.ts';
import { TRUE, and, indexedWords, onText, sequenceInText } from '../sql/text.ts';
import type { FilterSpec, SqlContext } from '../base/types.ts';
import { findPhrase, wordsOf } from '../values/words.ts';
import { listArguments } from './arguments.ts';
import { TextFilter } from './text-filter.ts';

/** `seq(a, "b c")`: the words and phrases one after another, whatever stands between; empty ones stand everywhere. */
class SequenceFilter extends TextFilter {
  readonly #phrases: readonly string[];
  readonly #written: readonly string[];
  constructor(field: string, phrases: readonly string[]) {
    super(field);
    this.#written = phrases;
    this.#phrases = phrases.filter((phrase) => phrase !== '');
  }
  print(): string {
    return `seq(${this.#written.map(quote).join(', ')})`;
  }
  accepts(value: string): boolean {
    let rest = value;
    for (const phrase of this.#phrases) {
      const at = findPhrase(rest, phrase);
      if (at < 0) return false;
      rest = rest.slice(at + phrase.length);
    }
    return true;
  }
  protected textSql(context: SqlContext): Sql | null {
    if (this.#phrases.length === 0) return TRUE;
    const words = indexedWords(this.field, this.#phrases.flatMap(wordsOf), context);
    return onText(this.field, context, (value) => and([...words, sequenceInText(value, this.#phrases)]));
  }
}

export const sequence: FilterSpec = {
  names: ['seq'],
  kind: 'function',
  examples: [
    {
      query: 'seq(open, "not found")',
      input: [{ _msg: 'open f: not found' }, { _msg: 'not found, open' }],
      output: [{ _msg: 'open f: not found' }],
    },
  ],
  parse: (parser, field) => new SequenceFilter(field, listArguments(parser)),
};
