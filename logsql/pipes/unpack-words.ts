import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { checkParts } from '../base/memory.ts';
import { quote } from '../base/reserved.ts';
import type { Pipe, PipeSpec } from '../base/types.ts';
import { eachWord } from '../values/words.ts';
import { atEnd, fieldName, printFrom } from '../base/arguments.ts';
import { NO_OPTIONS, ResultPipe } from './results.ts';

/** `unpack_words [[from] f] [[as] d] [drop_duplicates]`: the words of a string as a JSON array. */
class UnpackWordsPipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  readonly #isUnique: boolean;
  constructor(from: string, to: string, isUnique: boolean) {
    super(NO_OPTIONS);
    this.sources = [from];
    this.results = [to];
    this.#isUnique = isUnique;
  }
  withOptions(): Pipe {
    return this;
  }
  toString(): string {
    const [[from = ''], [to = '']] = [this.sources, this.results];
    return `unpack_words${printFrom(from)}${to === from ? '' : ` as ${quote(to)}`}${this.#isUnique ? ' drop_duplicates' : ''}`;
  }
  compute(row: LogEntry): readonly (readonly [string, string])[] {
    const words: string[] = [];
    const seen = new Set<string>();
    for (const word of eachWord(textOf(row.get(this.sources[0] ?? '')))) {
      if (this.#isUnique && seen.size === seen.add(word).size) continue;
      checkParts(words.push(word));
    }
    return [[this.results[0] ?? '', JSON.stringify(words)]];
  }
}

export const unpackWords: PipeSpec = {
  names: ['unpack_words'],
  examples: [
    { query: '* | unpack_words as w drop_duplicates | fields w', input: [{ _msg: 'foo-bar, foo' }], output: [{ w: '["foo","bar"]' }] },
    { query: '* | unpack_words m w | fields w', input: [{ m: 'a-b' }], output: [{ w: '["a","b"]' }] },
  ],
  parse({ lexer }) {
    lexer.next();
    const isNamed = lexer.accept('from') || !lexer.is('|', ')', '', 'as', 'drop_duplicates');
    const from = isNamed ? fieldName(lexer) : '_msg';
    const hasName = lexer.accept('as') || !(atEnd(lexer) || lexer.is('drop_duplicates'));
    const to = hasName ? fieldName(lexer) : from;
    return new UnpackWordsPipe(from, to, lexer.accept('drop_duplicates'));
  },
};
