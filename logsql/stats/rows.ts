import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { coversField } from '../fields.ts';
import { quoteJson } from '../json.ts';
import { compareBytes, compareValues } from '../order.ts';
import { sizeOfRow } from '../pipes/rows.ts';
import type { Accumulator, Parser, Stats, StatsContext, StatsSpec } from '../types.ts';
import { parseFields, parseLimit, printFields, printLimit } from './base.ts';

/** The fields of a row that a list covers, as a JSON object of texts: in the order of the list, or where it has patterns by name. */
function renderRow(row: LogEntry, patterns: readonly string[]): string {
  const names = patterns.some((pattern) => pattern.endsWith('*'))
    ? [...row.keys()].filter((name) => coversField(patterns, name)).sort(compareBytes)
    : patterns;
  const pairs = names.map((name) => [name, textOf(row.get(name))] as const).filter(([, value]) => value !== '');
  return `{${pairs.map(([name, value]) => `${quoteJson(name)}:${quoteJson(value)}`).join(',')}}`;
}

/** `row_any(a, b)`: one row; `row_min(f, a, b)` and `row_max(…)`: the row with the smallest or largest f that is not empty. */
class RowOf implements Stats {
  readonly fields: readonly string[];
  readonly #name: string;
  readonly #by: string | null;
  readonly #shown: readonly string[];
  constructor(name: 'row_any' | 'row_min' | 'row_max', by: string | null, shown: readonly string[]) {
    this.#name = name;
    this.#by = by;
    this.#shown = shown;
    this.fields = by === null ? shown : [by, ...shown];
  }
  toString(): string {
    return printFields(this.#name, this.#by !== null && this.#shown[0] === '*' ? [this.#by] : this.fields);
  }
  accumulator({ hold }: StatsContext): Accumulator {
    let best: LogEntry | null = null;
    const by = this.#by;
    const sign = this.#name === 'row_min' ? 1 : -1;
    return {
      add: (row) => {
        if (by === null && best !== null) return;
        const text = by === null ? '' : textOf(row.get(by));
        if (by !== null && (text === '' || (best !== null && sign * compareValues(text, textOf(best.get(by))) >= 0))) return;
        hold(sizeOfRow(row) - (best === null ? 0 : sizeOfRow(best)));
        best = row;
      },
      value: () => (best === null ? '' : renderRow(best, this.#shown)),
    };
  }
}

function parseRowBy(parser: Parser, name: 'row_min' | 'row_max'): Stats {
  const at = parser.lexer.save();
  const [by = '*', ...shown] = parseFields(parser);
  if (!by.endsWith('*')) return new RowOf(name, by, shown.length === 0 ? ['*'] : shown);
  parser.lexer.restore(at);
  return parser.lexer.fail(`expected ${name}() with the field to compare`);
}

const INPUT = [
  { n: 9, a: 'x' },
  { n: 10, a: 'y' },
];

export const rowAny: StatsSpec = {
  names: ['row_any'],
  examples: [{ query: '* | stats row_any(a) r', input: INPUT.slice(0, 1), output: [{ r: '{"a":"x"}' }] }],
  parse: (parser) => new RowOf('row_any', null, parseFields(parser)),
};

export const rowMin: StatsSpec = {
  names: ['row_min'],
  examples: [{ query: '* | stats row_min(n, a) r', input: INPUT, output: [{ r: '{"a":"x"}' }] }],
  parse: (parser) => parseRowBy(parser, 'row_min'),
};

export const rowMax: StatsSpec = {
  names: ['row_max'],
  examples: [{ query: '* | stats row_max(n, a, n) r', input: INPUT, output: [{ r: '{"a":"y","n":"10"}' }] }],
  parse: (parser) => parseRowBy(parser, 'row_max'),
};

/** `json_values(a, b) [limit N]`: these fields of the rows as a JSON array, each row the text of a JSON object. */
class JsonValues implements Stats {
  readonly fields: readonly string[];
  readonly #limit: number;
  constructor(fields: readonly string[], limit: number) {
    this.fields = fields;
    this.#limit = limit;
  }
  toString(): string {
    return printFields('json_values', this.fields) + printLimit(this.#limit);
  }
  accumulator({ hold }: StatsContext): Accumulator {
    const rows: string[] = [];
    return {
      add: (row) => {
        if (rows.length >= this.#limit) return;
        const text = JSON.stringify(renderRow(row, this.fields));
        hold(text.length * 2 + 60);
        rows.push(text);
      },
      value: () => `[${rows.join(',')}]`,
    };
  }
}

export const jsonValues: StatsSpec = {
  names: ['json_values'],
  examples: [{ query: '* | stats json_values(a) limit 1 v', input: INPUT.slice(0, 1), output: [{ v: '["{\\"a\\":\\"x\\"}"]' }] }],
  parse: (parser) => new JsonValues(parseFields(parser), parseLimit(parser)),
};
