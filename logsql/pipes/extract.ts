import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { sql, text as bound, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { unquotePrefix } from '../base/lexer.ts';
import type { Parser, Pipe, PipeSpec, RowInput } from '../base/types.ts';
import { parseFrom, printFrom } from '../base/arguments.ts';
import { ResultPipe, parseIf, parseResultOptions, printIf, printResultOptions, type ResultOptions } from './results.ts';
import { patternHere, type PatternStep } from './steps.ts';

/** What the fields of a pattern stand for in a string, in order; '' where the pattern does not reach. */
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

/** The same in SQL, each named field with its string. What stands in quotes is read as far as nothing in it is escaped. */
function patternSql(steps: readonly PatternStep[], text: Sql, input: RowInput): readonly (readonly [string, Sql])[] {
  const found: (readonly [string, Sql])[] = [];
  const first = steps[0]?.text ?? '';
  let rest = input.name(first === '' ? text : afterLiteral(text, first));
  for (const [index, { field, option }] of steps.entries()) {
    const isLast = index === steps.length - 1;
    if (isLast && field === '') break;
    const next = steps[index + 1]?.text ?? '';
    const plain = next === '' ? rest : sql`substring(${rest}, 1, greatest(position(${rest}, ${bound(next)}), 1) - 1)`;
    const after = next === '' ? sql`''` : afterLiteral(rest, next);
    if (option === 'plain') {
      if (field !== '') found.push([field, input.name(plain)]);
      if (!isLast) rest = input.name(after);
      continue;
    }
    const quoted = input.name(sql`extract(${rest}, ${QUOTED})`);
    input.doubt(sql`startsWith(${rest}, '\`') OR match(${rest}, ${ESCAPED})`);
    if (field !== '') found.push([field, input.name(sql`if(${quoted} = '', ${plain}, substring(${quoted}, 2, length(${quoted}) - 2))`)]);
    if (isLast) break;
    const behind = sql`substring(${rest}, length(${quoted}) + 1)`;
    const afterQuoted = sql`if(startsWith(${behind}, ${bound(next)}), substring(${behind}, ${uint32(Buffer.byteLength(next) + 1)}), '')`;
    rest = input.name(sql`if(${quoted} = '', ${after}, ${afterQuoted})`);
  }
  return found;
}

/** What comes after the first place of a literal; '' where it has none. */
const afterLiteral = (text: Sql, literal: string): Sql =>
  sql`if(position(${text}, ${bound(literal)}) = 0, '', substring(${text}, position(${text}, ${bound(literal)}) + ${uint32(Buffer.byteLength(literal))}))`;

/** A string in double quotes without escapes at the beginning, and one with an escape. */
const QUOTED = bound('^("[^"\\\\\n]*")');
const ESCAPED = bound('^"[^"\\\\\n]*\\\\');

/** `extract "ip=<ip> " from f`: fields out of a string by what stands around them. */
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
  override expressions(input: RowInput): readonly (readonly [string, Sql])[] | null {
    const value = input.text(this.sources[0] ?? '');
    return value === null ? null : patternSql(this.#steps, value, input);
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
    {
      query: '* | extract "by <who>" | filter who:* | stats by (who) count() n',
      input: [...INPUT, { _msg: 'by bob' }, { _msg: 'by "ann \\"b\\""' }, { _msg: 'nothing' }],
      output: [
        { who: 'ann "b"', n: 1 },
        { who: 'ann b', n: 1 },
        { who: 'bob', n: 1 },
      ],
    },
    { query: '* | extract "by <plain:who>" | fields who', input: INPUT, output: [{ who: '"ann b"' }] },
  ],
  parse: parseExtract,
};
