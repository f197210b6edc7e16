import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { coversField } from '../base/fields.ts';
import { quoteJson } from '../base/json.ts';
import { MAX_VALUE_BYTES } from '../base/memory.ts';
import { compareBytes } from '../values/order.ts';
import { quote, quotePattern } from '../base/reserved.ts';
import type { Parser, Pipe, PipeSpec } from '../base/types.ts';
import { atEnd, fieldName, namesInParens } from '../base/arguments.ts';
import { FieldsPipe } from './fields.ts';
import { FilterPipe } from './filter.ts';
import { LimitPipe, OffsetPipe } from './limit.ts';
import { NO_OPTIONS, ResultPipe } from './results.ts';
import { SortPipe } from './sort.ts';

type Pair = readonly [string, string];

const QUOTED = new RegExp(`[${String.fromCharCode(0)}- "\\\\]`);

/** The fields of a row that a list covers: in its order, those that the row lacks as '', or where it has patterns by name. */
function packed(row: LogEntry, patterns: readonly string[]): readonly Pair[] {
  const isPlain = !patterns.some((pattern) => pattern.endsWith('*'));
  const names = isPlain ? patterns : [...row.keys()].filter((name) => coversField(patterns, name)).sort(compareBytes);
  return names.map((name) => [name, textOf(row.get(name))] as const);
}

/** Pipes that leave rows as they are, or out. */
const keepsFields = (pipe: Pipe): boolean =>
  pipe instanceof FilterPipe ||
  pipe instanceof LimitPipe ||
  pipe instanceof OffsetPipe ||
  (pipe instanceof SortPipe && pipe.options.rank === null);

/** `fields a, b | pack_logfmt` packs a and b also where they are empty, as `pack_logfmt fields (a, b)` does. */
export function namePacked(pipes: readonly Pipe[]): readonly Pipe[] {
  return pipes.map((pipe, index) => {
    if (!(pipe instanceof PackPipe) || !pipe.packsAll) return pipe;
    const before = pipes.slice(0, index).findLast((each) => !keepsFields(each));
    const isPlain = before instanceof FieldsPipe && !before.patterns.some((pattern) => pattern.endsWith('*'));
    return isPlain ? pipe.of(before.patterns) : pipe;
  });
}

/** `pack_json [fields (a, b*)] [[as] f]` and `pack_logfmt`: the fields of a row in one string; JSON without those that are empty. */
class PackPipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  readonly #name: string;
  readonly #write: (pairs: readonly Pair[]) => string;
  constructor(name: string, fields: readonly string[], to: string, write: (pairs: readonly Pair[]) => string) {
    super(NO_OPTIONS);
    this.#name = name;
    this.#write = write;
    this.sources = fields;
    this.results = [to];
  }
  withOptions(): Pipe {
    return this;
  }
  get packsAll(): boolean {
    return this.sources[0] === '*';
  }
  /** The same with these fields. */
  of(fields: readonly string[]): Pipe {
    return new PackPipe(this.#name, fields, this.results[0] ?? '', this.#write);
  }
  toString(): string {
    const [to = ''] = this.results;
    const list = this.packsAll ? '' : ` fields (${this.sources.map(quotePattern).join(', ')})`;
    return `${this.#name}${list}${to === '_msg' ? '' : ` as ${quote(to)}`}`;
  }
  compute(row: LogEntry): readonly Pair[] {
    return [[this.results[0] ?? '', this.#write(packed(row, this.sources))]];
  }
}

const writeJson = (pairs: readonly Pair[]): string =>
  `{${joined(
    pairs.filter(([, value]) => value !== ''),
    ',',
    ([name, value]) => `${quoteJson(name)}:${quoteJson(value)}`,
  )}}`;
/** Quoted where it would not read back: with white space, control characters, `"` or a backslash. An empty value is nothing behind the `=`. */
const logfmtValue = (value: string): string => (QUOTED.test(value) ? quoteJson(value) : value);
const writeLogfmt = (pairs: readonly Pair[]): string => joined(pairs, ' ', ([name, value]) => `${name}=${logfmtValue(value)}`);

/** The pairs one after another, up to a little more than a value may have. */
function joined(pairs: readonly Pair[], separator: string, write: (pair: Pair) => string): string {
  let out = '';
  for (const pair of pairs) {
    out += (out === '' ? '' : separator) + write(pair);
    if (out.length > MAX_VALUE_BYTES) break;
  }
  return out;
}

function parsePack(parser: Parser, name: string, write: (pairs: readonly Pair[]) => string): Pipe {
  const { lexer } = parser;
  lexer.next();
  const list = lexer.accept('fields') ? namesInParens(lexer) : ['*'];
  const fields = list.length === 0 || list.includes('*') ? ['*'] : list;
  const isNamed = lexer.accept('as') || !atEnd(lexer);
  return new PackPipe(name, fields, isNamed ? fieldName(lexer) : '_msg', write);
}

const INPUT = [{ a: 'x y', b: 1, c: 'z' }];

export const packJson: PipeSpec = {
  names: ['pack_json'],
  examples: [
    { query: '* | pack_json fields (a, b) as j | fields j', input: INPUT, output: [{ j: '{"a":"x y","b":"1"}' }] },
    { query: '* | pack_json fields (nosuch, b) j | fields j', input: INPUT, output: [{ j: '{"b":"1"}' }] },
    { query: '* | fields b, nosuch | pack_json as j | fields j', input: INPUT, output: [{ j: '{"b":"1"}' }] },
    { query: '* | pack_json fields (nosuch) j | fields j', input: INPUT, output: [{ j: '{}' }] },
  ],
  parse: (parser) => parsePack(parser, 'pack_json', writeJson),
};

export const packLogfmt: PipeSpec = {
  names: ['pack_logfmt'],
  examples: [
    { query: '* | pack_logfmt fields (a, b) as j | fields j', input: INPUT, output: [{ j: 'a="x y" b=1' }] },
    { query: '* | pack_logfmt fields (b, nosuch, c) j | fields j', input: INPUT, output: [{ j: 'b=1 nosuch= c=z' }] },
    { query: '* | fields b, nosuch | filter b:* | pack_logfmt as j | fields j', input: INPUT, output: [{ j: 'b=1 nosuch=' }] },
    { query: '* | fields b*, nosuch | pack_logfmt as j | fields j', input: INPUT, output: [{ j: 'b=1' }] },
    {
      query: '* | pack_logfmt fields (a) as j | fields j',
      input: [{ a: "it's=<b>`" }, { a: 'a\\b' }],
      output: [{ j: "a=it's=<b>`" }, { j: 'a="a\\\\b"' }],
    },
    { query: '* | pack_logfmt fields (a, b*) as j | fields j', input: [{ a: 1 }], output: [{ j: 'a=1' }] },
  ],
  parse: (parser) => parsePack(parser, 'pack_logfmt', writeLogfmt),
};
