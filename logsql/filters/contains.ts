import type { Sql } from '../../pipeline/core/sql.ts';
import { quote } from '../base/reserved.ts';
import { TRUE, and, or, phraseSql } from '../sql/text.ts';
import type { Filter, FilterSpec, SqlContext } from '../base/types.ts';
import { hasPhrase } from '../values/words.ts';
import { parseValues } from './in.ts';
import { TextFilter } from './text-filter.ts';

/** More phrases than this (a query may give them) are looked for in memory. */
const MAX_PHRASES = 100;

/**
 * `contains_all(a, "b c")` and `contains_any(…)`: all, or any, of these words and phrases; none at all are all, and not any. The empty
 * one is in every value.
 */
class ContainsFilter extends TextFilter {
  readonly #name: 'contains_all' | 'contains_any';
  readonly #phrases: readonly string[];
  constructor(name: 'contains_all' | 'contains_any', field: string, phrases: readonly string[]) {
    super(field);
    this.#name = name;
    this.#phrases = phrases;
  }
  print(): string {
    return `${this.#name}(${this.#phrases.map(quote).join(', ')})`;
  }
  accepts(value: string): boolean {
    const has = (phrase: string): boolean => phrase === '' || hasPhrase(value, phrase);
    return this.#name === 'contains_all' ? this.#phrases.every(has) : this.#phrases.some(has);
  }
  protected textSql(context: SqlContext): Sql | null {
    const phrases = this.#phrases.filter((phrase) => phrase !== '');
    if (this.#name === 'contains_any' && phrases.length < this.#phrases.length) return TRUE;
    if (phrases.length > MAX_PHRASES) return null;
    const conditions = phrases.map((phrase) => phraseSql(this.field, phrase, context));
    if (!conditions.every((condition) => condition !== null)) return null;
    return this.#name === 'contains_all' ? and(conditions) : or(conditions);
  }
}

const INPUT = [{ _msg: 'ssh login failed' }, { _msg: 'login done' }];

const spec = (name: 'contains_all' | 'contains_any', output: typeof INPUT): FilterSpec => ({
  names: [name],
  kind: 'function',
  examples: [
    { query: `${name}("login failed", ssh)`, input: INPUT, output },
    { query: `${name}("")`, input: INPUT, output: INPUT },
    { query: `f:${name}("")`, input: INPUT, output: INPUT },
  ],
  parse: (parser, field): Filter => parseValues(parser, field, { of: (own, phrases) => new ContainsFilter(name, own, phrases) }),
});

export const containsAll = spec('contains_all', INPUT.slice(0, 1));
export const containsAny = spec('contains_any', INPUT.slice(0, 1));
