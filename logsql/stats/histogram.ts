import { parseNumber } from '../numbers.ts';
import type { Accumulator, Stats, StatsContext, StatsSpec } from '../types.ts';
import { parseFields, printFields, textsOf } from './base.ts';

const MIN_EXPONENT = -9;
const MAX_EXPONENT = 18;
const PER_DECADE = 18;
const BUCKETS = (MAX_EXPONENT - MIN_EXPONENT) * PER_DECADE;

/** `1.136e+01`, with a sign and two digits in the exponent. */
const bound = (value: number): string => value.toExponential(3).replace(/e([+-])(\d)$/, 'e$10$2');
const edges = Array.from({ length: BUCKETS + 1 }, (_none, index) => 10 ** (MIN_EXPONENT + index / PER_DECADE));
const rangeOf = (index: number): string => `${bound(edges[index] ?? 0)}...${bound(edges[index + 1] ?? 0)}`;

/** The range that a value lies in, its upper end included; null for negative ones. */
function rangeFor(value: number): string | null {
  if (Number.isNaN(value) || value < 0) return null;
  const place = (Math.log10(value) - MIN_EXPONENT) * PER_DECADE;
  if (place < 0) return `0...${bound(edges[0] ?? 0)}`;
  if (place >= BUCKETS) return `${bound(edges[BUCKETS] ?? 0)}...+Inf`;
  const index = Math.floor(place);
  return rangeOf(index === place && index > 0 ? index - 1 : index);
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
      value: () => JSON.stringify([...hits].sort(([a], [b]) => (a < b ? -1 : 1)).map(([vmrange, size]) => ({ vmrange, hits: size }))),
    };
  }
}

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
