import type { Measures } from '../measures.ts';
import type { Violation } from '../verdict.ts';

/** A violation where a figure was not measured, or is beyond its bounds. */
export function bounded(
  measures: Measures,
  name: string,
  { least, most }: { readonly least?: number; readonly most?: number },
): Violation[] {
  const value = measures.get(name);
  if (value === undefined) return [{ check: `not measured: ${name}`, count: 1, examples: [] }];
  if (value >= (least ?? -Infinity) && value <= (most ?? Infinity)) return [];
  return [
    {
      check:
        `${name}: ${least === undefined ? '' : `at least ${String(least)} `}${most === undefined ? '' : `at most ${String(most)}`}`.trim(),
      count: 1,
      examples: [value],
    },
  ];
}

/** The value that the share `at` (0 to 1) of the values does not exceed; 0 where there is none. */
export function percentile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(at * sorted.length) - 1)] ?? 0;
}
