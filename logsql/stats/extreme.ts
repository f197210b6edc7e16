import { textOf } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { compareTimes } from '../values/order.ts';
import { columnTime } from '../sql/time.ts';
import { isCanonicalNumber, numberKey, readValues, someValues } from '../sql/ranked.ts';
import type { Accumulator, Measure, SqlContext, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { columnsOf, parseFields, printFields, textsOf } from './base.ts';
import { aggregate, bothOf } from '../sql/aggregate.ts';
import { Winner } from './ranking.ts';

/** `min(a, b)` and `max(a, b)`: the string of the smallest or largest value. A missing field counts as '', which is the smallest. */
class Extreme implements Stats {
  readonly fields: readonly string[];
  readonly #name: 'min' | 'max';
  constructor(name: 'min' | 'max', fields: readonly string[]) {
    this.#name = name;
    this.fields = fields;
  }
  get measure(): Measure {
    return { kind: this.#name };
  }
  toString(): string {
    return printFields(this.#name, this.fields);
  }
  accumulator({ hold }: StatsContext): Accumulator {
    if (this.#isTime) return this.#timeAccumulator();
    const winner = new Winner<null>(this.#name, hold);
    return {
      add: (row) => {
        for (const text of textsOf(row, this.fields)) winner.offer(text, null);
      },
      value: () => winner.best?.text ?? '',
    };
  }
  get #isTime(): boolean {
    return this.fields.length === 1 && this.fields[0] === '_time';
  }
  #timeAccumulator(): Accumulator {
    let best: string | null = null;
    const sign = this.#name === 'min' ? 1 : -1;
    return {
      add: (row) => {
        const text = textOf(row.get('_time'));
        if (best === null || sign * compareTimes(text, best) < 0) best = text;
      },
      value: () => best ?? '',
    };
  }

  /** Plain numbers by ClickHouse; of the others the different values, if they are not too many, by memory's own order. */
  sql({ condition, context }: StatsSqlInput): StatsSql | null {
    if (this.#isTime) {
      return {
        columns: [sql`toString(${aggregate(this.#name, [sql`_time`], [condition])})`, aggregate('count', [], [condition])],
        decode: ([time, rows]) => (Number(rows) === 0 ? '' : columnTime(String(time))),
      };
    }
    return this.#fromColumns(
      context,
      (column) => {
        const isPlain = isCanonicalNumber(column);
        return [
          sql`ifNull(toString(${aggregate(this.#name, [sql`toFloat64OrNull(${column})`], [condition, isPlain])}), '')`,
          aggregate('count', [], [condition, sql`${column} = ''`]),
          someValues(column, bothOf(condition, sql`NOT (${column} = '' OR ${isPlain})`)),
        ];
      },
      // messages that are not plain numbers are hardly sizes: no second statement is run
      this.fields.includes('_msg') && context.computed?.('_msg') === undefined ? undefined : (input) => this.#byNumber(input),
    );
  }
  /** Any number of different values, where all are numbers, sizes or durations. */
  #byNumber({ condition, context, layers }: StatsSqlInput): StatsSql | null {
    return this.#fromColumns(context, (column) => {
      const { isKey, key } = numberKey(column, layers);
      const others = aggregate('count', [], [condition, sql`NOT (${column} = '' OR ${isKey})`]);
      return [sql`${aggregate(this.#name, [key], [condition, isKey])}.2`, aggregate('count', [], [condition, sql`${column} = ''`]), others];
    });
  }
  /** Three columns for each field: the extreme of some values or '', how many are empty, and the rest, or how many are in doubt. */
  #fromColumns(
    context: SqlContext,
    columnsFor: (column: Sql) => readonly Sql[],
    otherwise?: (input: StatsSqlInput) => StatsSql | null,
  ): StatsSql | null {
    const columns = columnsOf(this.fields, context);
    if (columns === null) return null;
    return {
      columns: columns.flatMap(columnsFor),
      decode: (values) => {
        const winner = new Winner<null>(this.#name);
        for (let at = 0; at < values.length; at += 3) {
          const [best, empty, rest] = [String(values[at]), Number(values[at + 1]), readValues(values[at + 2])];
          if (rest === null) return null;
          for (const text of best === '' ? rest : [best, ...rest]) winner.offer(text, null);
          if (empty > 0) winner.offer('', null);
        }
        return winner.best?.text ?? '';
      },
      ...(otherwise === undefined ? {} : { otherwise }),
    };
  }
}

const INPUT = [
  { v: '1.10.0', n: 7 },
  { v: '1.9.0', n: 10 },
];

export const min: StatsSpec = {
  names: ['min'],
  examples: [
    { query: '* | stats min(n) n, min(v) v', input: INPUT, output: [{ n: '7', v: '1.9.0' }] },
    { query: '* | stats min(n) n, count() c', input: [{ n: 1 }, { m: 1 }], output: [{ c: 2 }] },
    { query: '* | stats min(size) s', input: [{ size: '3MiB' }, { size: '700B' }, { size: '20KB' }], output: [{ s: '700B' }] },
  ],
  parse: (parser) => new Extreme('min', parseFields(parser)),
};

export const max: StatsSpec = {
  names: ['max'],
  examples: [
    { query: '* | stats max(n) n, max(v) v', input: INPUT, output: [{ n: '10', v: '1.10.0' }] },
    { query: '* | stats max(n, took) m', input: [{ n: 7, took: '1.5s' }, { took: '900ms' }], output: [{ m: '1.5s' }] },
    { query: '* | stats max(size) s', input: [{ size: '3MiB' }, { size: '700B' }, { size: '20KB' }], output: [{ s: '3MiB' }] },
  ],
  parse: (parser) => new Extreme('max', parseFields(parser)),
};
