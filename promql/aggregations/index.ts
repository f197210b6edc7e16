/** Every aggregation, one line each. */
import type { Aggregator } from './base.ts';
import { bottomk, limitk, limitRatio, topk } from './chosen.ts';
import { count, group } from './counts.ts';
import { countValues } from './count-values.ts';
import { max, min } from './extremes.ts';
import { quantile } from './quantile.ts';
import { stddev, stdvar } from './spread.ts';
import { avg, sum } from './totals.ts';

export const AGGREGATORS: readonly Aggregator[] = [
  avg,
  bottomk,
  count,
  countValues,
  group,
  limitRatio,
  limitk,
  max,
  min,
  quantile,
  stddev,
  stdvar,
  sum,
  topk,
];

const BY_NAME = new Map(AGGREGATORS.map((one) => [one.name, one]));

/** The aggregation of this name. */
export const aggregatorNamed = (name: string): Aggregator | undefined => BY_NAME.get(name);
