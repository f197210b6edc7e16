import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { quote } from '../base/reserved.ts';
import type { Pipe, PipeSpec } from '../base/types.ts';
import { fieldName } from '../base/arguments.ts';
import { NO_OPTIONS, ResultPipe, parseIf, printIf, type ResultOptions } from './results.ts';

const RUN = /[0-9a-fA-F]+/g;
/** What a number may stand behind: no character of a word, or one of a few that often do (`v1`, `0x1f`, `T10:00`). */
const BEFORE = /(?:[^\p{L}\p{Nd}_]|[TXxvshm])$/u;
/** What may stand behind a number: no character of a word, or that of a unit or a time (`5ms`, `10:00Z`). */
const AFTER = /^(?:[^\p{L}\p{Nd}_]|[TZsmhunμ])/u;

/** Runs of decimal or hex digits as `<N>`; hex ones only when they have at least four digits and an even number of them. `_` is of a word. */
function collapse(text: string): string {
  let out = '';
  let at = 0;
  RUN.lastIndex = 0;
  for (let run = RUN.exec(text); run !== null; run = RUN.exec(text)) {
    const [digits] = run;
    const end = run.index + digits.length;
    const isNumber = /^[0-9]+$/.test(digits) || (digits.length >= 4 && digits.length % 2 === 0);
    const isApart =
      (run.index === 0 || BEFORE.test(text.slice(Math.max(0, run.index - 2), run.index))) &&
      (end === text.length || AFTER.test(text.slice(end, end + 2)));
    if (!isNumber || !isApart) continue;
    out += `${text.slice(at, run.index)}<N>`;
    at = end;
  }
  return out + text.slice(at);
}

const PRETTY: readonly (readonly [RegExp, string])[] = [
  [/<N>-<N>-<N>-<N>-<N>/g, '<UUID>'],
  [/<N>\.<N>\.<N>\.<N>/g, '<IP4>'],
  [/<N>:<N>:<N>(?:[.,]<N>)?/g, '<TIME>'],
  [/<N>-<N>-<N>/g, '<DATE>'],
  [/<N>\/<N>\/<N>/g, '<DATE>'],
  [/<DATE>[T ]<TIME>(?:Z|[-+]<N>:<N>)?/g, '<DATETIME>'],
];

/** `collapse_nums [if (…)] [at f] [prettify]`: numbers as `<N>`, so that messages of one kind become equal. */
class CollapseNumsPipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  readonly #isPretty: boolean;
  constructor(field: string, isPretty: boolean, options: ResultOptions) {
    super(options);
    this.results = [field];
    this.sources = [field];
    this.#isPretty = isPretty;
  }
  withOptions(options: ResultOptions): Pipe {
    return new CollapseNumsPipe(this.results[0] ?? '', this.#isPretty, options);
  }
  toString(): string {
    const [field = ''] = this.results;
    return `collapse_nums${printIf(this.options.condition)}${field === '_msg' ? '' : ` at ${quote(field)}`}${this.#isPretty ? ' prettify' : ''}`;
  }
  compute(row: LogEntry): readonly (readonly [string, string])[] {
    const [field = ''] = this.results;
    const collapsed = collapse(textOf(row.get(field)));
    return [[field, this.#isPretty ? PRETTY.reduce((text, [pattern, name]) => text.replace(pattern, name), collapsed) : collapsed]];
  }
}

export const collapseNums: PipeSpec = {
  names: ['collapse_nums'],
  examples: [
    {
      query: '* | collapse_nums',
      input: [{ _msg: 'v1.2 took 15ms, 0x1f2e, added' }],
      output: [{ _msg: 'v<N>.<N> took <N>ms, 0x<N>, added' }],
    },
    {
      query: '* | collapse_nums',
      input: [{ _msg: '1_000 a_12 12_a 3µs 4μs é5 6é 𝒜7 “8” 9' }],
      output: [{ _msg: '1_000 a_12 12_a 3µs <N>μs é5 6é 𝒜7 “<N>” <N>' }],
    },
    {
      query: '* | collapse_nums prettify',
      input: [{ _msg: '10.0.0.1 at 2026-11-18T10:00:00Z' }],
      output: [{ _msg: '<IP4> at <DATETIME>' }],
    },
  ],
  parse(parser) {
    const { lexer } = parser;
    lexer.next();
    const condition = parseIf(parser);
    const field = lexer.accept('at') ? fieldName(lexer) : '_msg';
    return new CollapseNumsPipe(field, lexer.accept('prettify'), { ...NO_OPTIONS, condition });
  },
};
