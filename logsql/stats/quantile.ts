import { float64, join, sql, uint32 } from '../../pipeline/core/sql.ts';
import { parseDecimal } from '../values/numbers.ts';
import { namesInParens } from '../base/arguments.ts';
import { quotePattern } from '../base/reserved.ts';
import { countsOfSome, isCanonicalNumber, numberKey, readCounts } from '../sql/ranked.ts';
import type { Accumulator, Measure, Parser, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { columnsOf, parseFields, printFields, textsOf } from './base.ts';
import { aggregate } from '../sql/aggregate.ts';
import { valueAt } from './ranking.ts';

/** Values of a group that ClickHouse sorts. */
const MOST_SORTED = 4_000_000;
const COMMA = sql`, `;

/** `quantile(phi, a, b)` and `median(a)`: an existing value, the one at place ⌊phi·n⌋ in their order (ranking.ts); missing fields count as ''. */
class Quantile implements Stats {
  readonly fields: readonly string[];
  readonly #phi: number;
  readonly #written: string | null;
  constructor(phi: number, written: string | null, fields: readonly string[]) {
    this.#phi = phi;
    this.#written = written;
    this.fields = fields;
  }
  get measure(): Measure {
    return { kind: 'quantile', phi: this.#phi };
  }
  toString(): string {
    return this.#written === null
      ? printFields('median', this.fields)
      : `quantile(${[this.#written, ...this.fields.map(quotePattern)].join(', ')})`;
  }
  accumulator({ hold, memory }: StatsContext): Accumulator {
    const counts = new Map<string, number>();
    return {
      add: (row) => {
        for (const text of textsOf(row, this.fields)) {
          const size = counts.get(text);
          if (size === undefined) hold(text.length * 2 + 80);
          counts.set(text, (size ?? 0) + 1);
        }
      },
      value: () => valueAt(this.#phi, counts, memory),
    };
  }
  /** Exact where all values are plain numbers or missing; the last column counts those that are not. */
  sql({ condition, context }: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields, context);
    if (columns === null || this.fields.includes('_time')) return null;
    const numbers = columns.map((column) => sql`if(${column} = '', -inf, ifNull(toFloat64OrNull(${column}), 0))`);
    const others = columns.map((column) => sql`toUInt8(NOT (${column} = '' OR ${isCanonicalNumber(column)}))`);
    const phi = float64(this.#phi);
    const [list, one] = [join(numbers, COMMA), numbers[0] ?? sql`0`];
    const quantile =
      condition === null
        ? columns.length === 1
          ? sql`quantileExact(${phi})(${one})`
          : sql`quantileExactArray(${phi})([${list}])`
        : columns.length === 1
          ? sql`quantileExactIf(${phi})(${one}, ${condition})`
          : sql`quantileExactArrayIf(${phi})([${list}], ${condition})`;
    return {
      columns: [sql`toString(${quantile})`, aggregate('count', [], [condition]), aggregate('sum', [join(others, sql` + `)], [condition])],
      decode: ([result, rows, rest]) => (Number(rest) > 0 ? null : Number(rows) === 0 || result === '-inf' ? '' : String(result)),
      otherwise: (input) => this.#fromCounts(input),
    };
  }
  /** Where there are few different values they are counted, and the choice is made here. */
  #fromCounts({ condition, context, run }: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields, context);
    if (columns === null) return null;
    const list = join(
      columns.map((column) => sql`toString(${column})`),
      COMMA,
    );
    return {
      columns: [countsOfSome(sql`[${list}]`, condition)],
      decode: ([found]) => {
        const counts = readCounts(found);
        return counts === null ? null : valueAt(this.#phi, counts, run.memory);
      },
      otherwise: (input) => this.#sorted(input),
    };
  }
  /** Any number of different values, where all are missing, numbers, sizes or durations; the last column counts those that are not. */
  #sorted({ condition, context, layers }: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields, context);
    if (columns === null) return null;
    const keys = columns.map((column) => {
      const { isKey, key } = numberKey(column, layers);
      return { key: sql`if(${column} = '', (-inf, ''), ${key})`, isOther: sql`toUInt8(NOT (${column} = '' OR ${isKey}))` };
    });
    const list = sql`[${join(
      keys.map(({ key }) => key),
      COMMA,
    )}]`;
    const most = uint32(MOST_SORTED + 1);
    const values = condition === null ? sql`groupArrayArray(${most})(${list})` : sql`groupArrayArrayIf(${most})(${list}, ${condition})`;
    const place = sql`toUInt64(greatest(0., least(toFloat64(length(l)) - 1, floor(${float64(this.#phi)} * length(l))))) + 1`;
    const others = join(
      keys.map(({ isOther }) => isOther),
      sql` + `,
    );
    return {
      columns: [sql`arrayMap(l -> (arraySort(l)[${place}].2, length(l)), [${values}])[1]`, aggregate('sum', [others], [condition])],
      decode: ([found, rest]) => {
        const [result, size] = found as readonly unknown[];
        return Number(rest) > 0 || Number(size) > MOST_SORTED ? null : String(result);
      },
    };
  }
}

function parseQuantile(parser: Parser): Stats {
  const { lexer } = parser;
  lexer.next();
  const at = lexer.save();
  const [phi = '', ...fields] = namesInParens(lexer);
  const value = parseDecimal(phi);
  if (value !== null && value >= 0 && value <= 1)
    return new Quantile(value, String(value), fields.length === 0 || fields.includes('*') ? ['*'] : fields);
  lexer.restore(at);
  return lexer.fail('expected quantile(phi, field) with phi from 0 to 1');
}

const INPUT = [{ n: 5 }, { n: 1 }, { n: 3 }, { n: 10 }];

export const quantile: StatsSpec = {
  names: ['quantile'],
  examples: [
    { query: '* | stats quantile(0.5, n) q', input: INPUT, output: [{ q: '5' }] },
    { query: '* | fields n | stats quantile(1) q', input: INPUT, output: [{ q: '10' }] },
  ],
  parse: parseQuantile,
};

export const median: StatsSpec = {
  names: ['median'],
  examples: [{ query: '* | stats median(n) m', input: INPUT, output: [{ m: '5' }] }],
  parse: (parser) => new Quantile(0.5, null, parseFields(parser)),
};
