import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import { coversField } from '../base/fields.ts';
import { quoteJson } from '../base/json.ts';
import { compareBytes } from '../values/order.ts';
import { sizeOfRow } from '../base/rows.ts';
import { MOST_FIRST, PLACE, PLACE_BACKWARDS, firstRows, readFirst } from '../sql/places.ts';
import { numberKey } from '../sql/ranked.ts';
import { fieldText } from '../sql/text.ts';
import type { Accumulator, Parser, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { columnsOf, parseFields, parseLimit, printFields, printLimit } from './base.ts';
import { aggregate, bothOf } from '../sql/aggregate.ts';
import { Winner } from './ranking.ts';

/** The fields of a row that a list covers, as a JSON object of strings: in the order of the list, or where it has patterns by name. */
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
    if (this.#by === null) return this.#anyAccumulator(hold);
    const by = this.#by;
    const winner = new Winner<LogEntry>(this.#which, hold, sizeOfRow);
    return {
      add: (row) => {
        const text = textOf(row.get(by));
        if (text !== '') winner.offer(text, row);
      },
      value: () => (winner.best === null ? '' : renderRow(winner.best.item, this.#shown)),
    };
  }
  #anyAccumulator(hold: StatsContext['hold']): Accumulator {
    let first: LogEntry | null = null;
    return {
      add: (row) => {
        if (first !== null) return;
        hold(sizeOfRow(row));
        first = row;
      },
      value: () => (first === null ? '' : renderRow(first, this.#shown)),
    };
  }
  get #which(): 'min' | 'max' {
    return this.#name === 'row_max' ? 'max' : 'min';
  }

  /** Exact where the values to compare are numbers, sizes or durations; the last column counts those that are not. */
  sql({ condition, context, layers }: StatsSqlInput): StatsSql | null {
    const shown = columnsOf(this.#shown, context);
    if (shown === null) return null;
    const row = textsSql(shown);
    if (this.#by === null) {
      return {
        columns: [argBest('min', row, PLACE, condition), aggregate('count', [], [condition])],
        decode: ([found, rows]) => (Number(rows) === 0 ? '' : renderTexts(this.#shown, found)),
      };
    }
    const by = fieldText(this.#by, context);
    if (by === null || this.#by === '_time') return null;
    const { isKey, key } = numberKey(by, layers);
    const order = sql`(${key}, ${this.#which === 'min' ? PLACE : PLACE_BACKWARDS})`;
    return {
      columns: [
        argBest(this.#which, row, order, bothOf(condition, isKey)),
        aggregate('count', [], [condition, isKey]),
        aggregate('count', [], [condition, sql`NOT (${by} = '' OR ${isKey})`]),
      ],
      decode: ([found, rows, others]) => {
        if (Number(others) > 0) return null;
        return Number(rows) === 0 ? '' : renderTexts(this.#shown, found);
      },
    };
  }
}

/** The strings of a row as an array. */
const textsSql = (columns: readonly Sql[]): Sql =>
  sql`[${join(
    columns.map((column) => sql`toString(${column})`),
    sql`, `,
  )}]`;

/** What comes with the smallest or largest key. */
function argBest(which: 'min' | 'max', value: Sql, key: Sql, condition: Sql | null): Sql {
  const name = which === 'min' ? sql`argMin` : sql`argMax`;
  return condition === null ? sql`${name}(${value}, ${key})` : sql`${name}If(${value}, ${key}, ${condition})`;
}

/** As `renderRow`, of fields without patterns. */
const renderTexts = (fields: readonly string[], found: unknown): string =>
  renderRow(new Map((found as readonly string[]).map((value, index) => [fields[index] ?? '', value])), fields);

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
  examples: [
    { query: '* | stats row_min(n, a) r', input: INPUT, output: [{ r: '{"a":"x"}' }] },
    {
      query: '* | stats row_min(took, a) r',
      input: [{ took: '2s', a: 'x' }, { took: '900ms', a: 'y' }, { took: '900ms', a: 'z' }, { a: 'w' }],
      output: [{ r: '{"a":"y"}' }],
    },
  ],
  parse: (parser) => parseRowBy(parser, 'row_min'),
};

export const rowMax: StatsSpec = {
  names: ['row_max'],
  examples: [{ query: '* | stats row_max(n, a, n) r', input: INPUT, output: [{ r: '{"a":"y","n":"10"}' }] }],
  parse: (parser) => parseRowBy(parser, 'row_max'),
};

/** `json_values(a, b) [limit N]`: these fields of the rows as a JSON array, each row a JSON object as a string. */
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
  /** The first rows, where they are few; all of them would be sent either way. */
  sql({ condition, context }: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields, context);
    if (columns === null || this.#limit > MOST_FIRST) return null;
    return {
      columns: [firstRows(textsSql(columns), this.#limit, condition)],
      decode: ([rows]) =>
        `[${readFirst(rows)
          .map((texts) => JSON.stringify(renderTexts(this.fields, texts)))
          .join(',')}]`,
    };
  }
}

export const jsonValues: StatsSpec = {
  names: ['json_values'],
  examples: [{ query: '* | stats json_values(a) limit 1 v', input: INPUT.slice(0, 1), output: [{ v: '["{\\"a\\":\\"x\\"}"]' }] }],
  parse: (parser) => new JsonValues(parseFields(parser), parseLimit(parser)),
};
