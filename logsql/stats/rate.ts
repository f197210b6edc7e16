import { namesInParens } from '../base/arguments.ts';
import type { Accumulator, Measure, Parser, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import type { FieldValue } from '../../pipeline/core/entry.ts';
import { count } from './count.ts';
import { numberValue, sum } from './sum.ts';

/** `rate()` and `rate_sum(f)`: a count or sum for each second that the group covers: its whole `_time` bucket, else the window. */
class Rate implements Stats {
  readonly fields: readonly string[];
  readonly #inner: Stats;
  readonly #isSum: boolean;
  constructor(inner: Stats, isSum: boolean) {
    this.#inner = inner;
    this.#isSum = isSum;
    this.fields = inner.fields;
  }
  toString(): string {
    return this.#isSum ? `rate_${this.#inner.toString()}` : 'rate()';
  }
  #result(total: FieldValue, seconds: number): FieldValue {
    const value = Number(textOf(total));
    return numberValue(seconds > 0 ? value / seconds : value);
  }
  accumulator(context: StatsContext): Accumulator {
    const inner = this.#inner.accumulator(context);
    return { add: (row) => inner.add(row), value: () => this.#result(inner.value(), context.seconds) };
  }
  get measure(): Measure | undefined {
    return this.#isSum ? undefined : { kind: 'rate' };
  }
  get onlyCounts(): boolean {
    return !this.#isSum;
  }
  sql(input: StatsSqlInput): StatsSql | null {
    const inner = this.#inner.sql?.(input) ?? null;
    if (inner === null) return null;
    return {
      columns: inner.columns,
      decode: (values, seconds) => {
        const total = inner.decode(values, seconds);
        return total === null ? null : this.#result(total, seconds);
      },
    };
  }
}

function parseRate(parser: Parser): Stats {
  const at = parser.lexer.save();
  parser.lexer.next();
  if (namesInParens(parser.lexer).length > 0) parser.lexer.fail('expected rate() without fields');
  parser.lexer.restore(at);
  return new Rate(count.parse(parser), false);
}

/** An hour of entries, for the examples. */
export const rate: StatsSpec = { names: ['rate'], examples: [], parse: parseRate };
export const rateSum: StatsSpec = { names: ['rate_sum'], examples: [], parse: (parser) => new Rate(sum.parse(parser), true) };
