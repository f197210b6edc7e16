import { sql, uint32 } from '../../pipeline/core/sql.ts';
import { parseNumber } from '../values/numbers.ts';
import { numberSql } from '../sql/number.ts';
import { pairsOf } from '../sql/ranked.ts';
import type { Accumulator, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { columnsOf, parseFields, printFields, textsOf } from './base.ts';
import { bothOf } from '../sql/aggregate.ts';

const MIN_EXPONENT = -9;
const MAX_EXPONENT = 18;
const PER_DECADE = 18;
const BUCKETS = (MAX_EXPONENT - MIN_EXPONENT) * PER_DECADE;

/** `1.136e+01`, with a sign and two digits in the exponent. */
const bound = (value: number): string => value.toExponential(3).replace(/e([+-])(\d)$/, 'e$10$2');
const edges = Array.from({ length: BUCKETS + 1 }, (_none, index) => 10 ** (MIN_EXPONENT + index / PER_DECADE));
const rangeOf = (index: number): string => `${bound(edges[index] ?? 0)}...${bound(edges[index + 1] ?? 0)}`;

/** The range at a place of the logarithm's scale, which may lie beyond both ends of it. */
function rangeAt(place: number): string {
  if (place < 0) return `0...${bound(edges[0] ?? 0)}`;
  return place >= BUCKETS ? `${bound(edges[BUCKETS] ?? 0)}...+Inf` : rangeOf(place);
}

/** The range that a value lies in, its upper end included; null for negative ones. */
function rangeFor(value: number): string | null {
  if (Number.isNaN(value) || value < 0) return null;
  const place = (Math.log10(value) - MIN_EXPONENT) * PER_DECADE;
  const index = Math.floor(place);
  return rangeAt(index === place && index > 0 && index < BUCKETS ? index - 1 : index);
}

/** `histogram(f)`: how many numbers lie in each of VictoriaMetrics' ranges (18 to a decade), as JSON. */
class Histogram implements Stats {
  readonly fields: readonly string[];
  constructor(fields: readonly string[]) {
    this.fields = fields;
  }
  toString(): string {
    return printFields('histogram', this.fields);
  }
  accumulator({ hold }: StatsContext): Accumulator {
    const hits = new Map<string, number>();
    return {
      add: (row) => {
        for (const text of textsOf(row, this.fields)) {
          const range = text === '' ? null : rangeFor(parseNumber(text) ?? NaN);
          if (range === null) continue;
          if (!hits.has(range)) hold(100);
          hits.set(range, (hits.get(range) ?? 0) + 1);
        }
      },
      value: () => printRanges(hits),
    };
  }
  /** Each column counts by places of ranges; values at an end of a range, where the last digit of a logarithm decides, come apart. */
  sql({ condition, context, layers }: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields, context);
    if (columns === null) return null;
    return {
      columns: columns.flatMap((column) => {
        const value = layers.name(numberSql(column));
        const place = layers.name(sql`(log10(assumeNotNull(${value})) + 9) * 18`);
        const isNear = layers.name(sql`ifNull(abs(${place} - round(${place})) < 1e-6, 0)`);
        const isCounted = layers.name(sql`ifNull(${value} >= 0, 0)`);
        const index = sql`toInt32(floor(least(greatest(${place}, -1), ${uint32(BUCKETS)})))`;
        return [
          sql`sumMapIf([${index}], [toUInt64(1)], ${bothOf(condition, sql`${isCounted} AND NOT ${isNear}`)})`,
          pairsOf(
            sql`approx_top_kIf(${MOST_NEAR}, ${MOST_NEAR})(assumeNotNull(${value}), ${bothOf(condition, sql`${isCounted} AND ${isNear}`)})`,
          ),
        ];
      }),
      decode: (values) => {
        const hits = new Map<string, number>();
        const add = (range: string, size: number): void => void hits.set(range, (hits.get(range) ?? 0) + size);
        for (let at = 0; at < values.length; at += 2) {
          const [places, sizes] = values[at] as readonly [readonly number[], readonly string[]];
          for (const [index, place] of places.entries()) add(rangeAt(place), Number(sizes[index]));
          const near = values[at + 1] as readonly (readonly unknown[])[];
          if (near.length === NEAR_VALUES) return null;
          for (const [value, size] of near) add(rangeFor(Number(value)) ?? '', Number(size));
        }
        return printRanges(hits);
      },
    };
  }
}

/** Different values at ends of ranges that ClickHouse counts; its counts are exact as long as it has space for one more. */
const NEAR_VALUES = 1000;
const MOST_NEAR = uint32(NEAR_VALUES);

const printRanges = (hits: ReadonlyMap<string, number>): string =>
  JSON.stringify([...hits].sort(([a], [b]) => (a < b ? -1 : 1)).map(([vmrange, size]) => ({ vmrange, hits: size })));

export const histogram: StatsSpec = {
  names: ['histogram'],
  examples: [
    {
      query: '* | stats histogram(n) h',
      input: [{ n: 11 }, { n: 11.2 }],
      output: [{ h: '[{"vmrange":"1.000e+01...1.136e+01","hits":2}]' }],
    },
  ],
  parse: (parser) => new Histogram(parseFields(parser)),
};
