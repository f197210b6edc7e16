import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { unquotePrefix } from '../lexer.ts';
import type { Parser, Pipe, PipeSpec } from '../types.ts';
import { parseFrom, printFrom } from './arguments.ts';
import { ResultPipe, parseIf, parseResultOptions, printIf, printResultOptions, type ResultOptions } from './results.ts';
import { patternHere, type PatternStep } from './steps.ts';

/** What the fields of a pattern stand for in a text, in order; '' where the pattern does not reach. */
function matchPattern(steps: readonly PatternStep[], text: string): readonly string[] {
  const values = steps.map(() => '');
  const first = steps[0]?.text ?? '';
  const start = text.indexOf(first);
  if (start < 0) return values;
  let rest = text.slice(start + first.length);
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1]?.text ?? '';
    const quoted = step.option === 'plain' ? null : unquotePrefix(rest);
    const end = quoted !== null ? quoted.raw.length : next === '' ? rest.length : rest.indexOf(next);
    if (end < 0) return values;
    values[index] = quoted?.text ?? rest.slice(0, end);
    if (!rest.startsWith(next, end)) return values;
    rest = rest.slice(end + next.length);
  }
  return values;
}

/** `extract "ip=<ip> " from f`: fields out of a text by what stands around them. */
class ExtractPipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  readonly #pattern: string;
  readonly #steps: readonly PatternStep[];
  constructor(pattern: string, steps: readonly PatternStep[], from: string, options: ResultOptions) {
    super(options);
    this.#pattern = pattern;
    this.#steps = steps;
    this.sources = [from];
    this.results = steps.map(({ field }) => field).filter((field) => field !== '');
  }
  withOptions(options: ResultOptions): Pipe {
    return new ExtractPipe(this.#pattern, this.#steps, this.sources[0] ?? '', options);
  }
  toString(): string {
    return `extract${printIf(this.options.condition)} ${JSON.stringify(this.#pattern)}${printFrom(this.sources[0])}${printResultOptions(this.options)}`;
  }
  compute(row: LogEntry): readonly (readonly [string, string])[] {
    const values = matchPattern(this.#steps, textOf(row.get(this.sources[0] ?? '')));
    return this.#steps.flatMap(({ field }, index) => (field === '' ? [] : [[field, values[index] ?? ''] as const]));
  }
}

function parseExtract(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  const condition = parseIf(parser);
  lexer.accept('pattern');
  const at = lexer.save();
  const { pattern, steps } = patternHere(parser);
  const touching = steps.findIndex(({ text }, index) => index > 0 && text === '');
  if (touching > 0 || !steps.some(({ field }) => field !== '')) {
    lexer.restore(at);
    lexer.fail('expected a pattern with named fields that have text between them');
  }
  const from = parseFrom(lexer);
  return new ExtractPipe(pattern, steps, from, parseResultOptions(parser, condition));
}

const INPUT = [{ _msg: 'to 10.0.0.1:80 by "ann b"' }];

export const extract: PipeSpec = {
  names: ['extract'],
  examples: [
    {
      query: '* | extract "to <ip>:<port> by <who>" | fields ip, port, who',
      input: INPUT,
      output: [{ ip: '10.0.0.1', port: '80', who: 'ann b' }],
    },
    { query: '* | extract "by <plain:who>" | fields who', input: INPUT, output: [{ who: '"ann b"' }] },
  ],
  parse: parseExtract,
};
