import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import type { Regexp } from '../values/regexp.ts';
import type { Parser, Pipe, PipeSpec } from '../base/types.ts';
import { parseFrom, printFrom } from '../base/arguments.ts';
import { ResultPipe, parseIf, parseResultOptions, printIf, printResultOptions, type ResultOptions } from './results.ts';

/** `extract_regexp "id=(?P<id>[0-9]+)" from f`: the named groups of the first match. */
class ExtractRegexpPipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  readonly #regexp: Regexp;
  constructor(regexp: Regexp, from: string, options: ResultOptions) {
    super(options);
    this.#regexp = regexp;
    this.sources = [from];
    this.results = regexp.groups;
  }
  withOptions(options: ResultOptions): Pipe {
    return new ExtractRegexpPipe(this.#regexp, this.sources[0] ?? '', options);
  }
  toString(): string {
    return `extract_regexp${printIf(this.options.condition)} ${JSON.stringify(this.#regexp.source)}${printFrom(this.sources[0])}${printResultOptions(this.options)}`;
  }
  compute(row: LogEntry): readonly (readonly [string, string])[] {
    const found = this.#regexp.match(textOf(row.get(this.sources[0] ?? '')));
    return this.results.map((name) => [name, found?.get(name) ?? ''] as const);
  }
}

function parseExtractRegexp(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  const condition = parseIf(parser);
  lexer.accept('pattern');
  const at = lexer.save();
  const regexp = parser.regexp(lexer.compound('a regexp in quotes'), at, 'pipe');
  if (regexp.groups.length === 0) {
    lexer.restore(at);
    return lexer.fail('expected a regexp with named groups');
  }
  const from = parseFrom(lexer);
  return new ExtractRegexpPipe(regexp, from, parseResultOptions(parser, condition));
}

export const extractRegexp: PipeSpec = {
  names: ['extract_regexp'],
  examples: [{ query: '* | extract_regexp "id=(?P<id>[0-9]+)" | fields id', input: [{ _msg: 'id=17 x' }], output: [{ id: '17' }] }],
  parse: parseExtractRegexp,
};
