/** How series of two sides find each other. */
import type { Matching } from '../base/ast.ts';
import type { StepSeries } from '../base/series.ts';
import { METRIC_NAME, type Labels } from '../values/labels.ts';

/** The labels by which a series is matched. */
export function matchLabels(labels: Labels, { isOn, labels: names }: Matching): Labels {
  const set = new Set(isOn ? names : [...names, METRIC_NAME]);
  return isOn ? labels.only(set) : labels.without(set);
}

/** Numbers of the match groups of the series of two sides, and how many there are. */
export type Signatures = { readonly left: Int32Array; readonly right: Int32Array; readonly count: number };

/** Numbers the match groups of both sides. */
export function signaturesOf(left: readonly StepSeries[], right: readonly StepSeries[], matching: Matching): Signatures {
  const numbers = new Map<string, number>();
  const numberOf = ({ labels }: StepSeries): number => {
    const { key } = matchLabels(labels, matching);
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  };
  return { left: Int32Array.from(left, numberOf), right: Int32Array.from(right, numberOf), count: numbers.size };
}
