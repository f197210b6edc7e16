/** Every function of PromQL, one line each. Signatures, the table in docs/promql.md and errors derive from it. */
import { absent } from './absent.ts';
import type { PromqlFunction } from './base.ts';
import { changes, resets } from './changes.ts';
import { clamp, clampMax, clampMin, round } from './clamp.ts';
import { dayOfMonth, dayOfWeek, dayOfYear, daysInMonth, hour, minute, month, year } from './dates.ts';
import { firstOverTime, lastOverTime, tsOfFirstOverTime, tsOfLastOverTime } from './ends.ts';
import { maxOverTime, minOverTime, tsOfMaxOverTime, tsOfMinOverTime } from './extremes.ts';
import { histogramFraction } from './histogram-fraction.ts';
import { histogramAvg, histogramCount, histogramStddev, histogramStdvar, histogramSum } from './histogram-parts.ts';
import { histogramQuantile, histogramQuantiles } from './histogram-quantile.ts';
import { idelta, irate } from './instant-rate.ts';
import { labelJoin, labelReplace } from './label-replace.ts';
import { madOverTime } from './mad-over-time.ts';
import * as math from './math.ts';
import { absentOverTime, countOverTime, presentOverTime } from './presence.ts';
import { quantileOverTime } from './quantile-over-time.ts';
import { delta, increase, rate } from './rate.ts';
import { deriv, predictLinear } from './regression.ts';
import { end, maxOf, minOf, pi, range, scalar, start, step, time, vector } from './scalars.ts';
import { doubleExponentialSmoothing } from './smoothing.ts';
import { sort, sortByLabel, sortByLabelDesc, sortDesc } from './sort.ts';
import { avgOverTime, sumOverTime } from './sum-over-time.ts';
import { timestamp } from './timestamp.ts';
import { stddevOverTime, stdvarOverTime } from './variance.ts';

export const FUNCTIONS: readonly PromqlFunction[] = [
  math.abs,
  absent,
  absentOverTime,
  math.acos,
  math.acosh,
  math.asin,
  math.asinh,
  math.atan,
  math.atanh,
  avgOverTime,
  math.ceil,
  changes,
  clamp,
  clampMax,
  clampMin,
  math.cos,
  math.cosh,
  countOverTime,
  dayOfMonth,
  dayOfWeek,
  dayOfYear,
  daysInMonth,
  math.deg,
  delta,
  deriv,
  doubleExponentialSmoothing,
  end,
  math.exp,
  firstOverTime,
  math.floor,
  histogramAvg,
  histogramCount,
  histogramFraction,
  histogramQuantile,
  histogramQuantiles,
  histogramStddev,
  histogramStdvar,
  histogramSum,
  hour,
  idelta,
  increase,
  irate,
  labelJoin,
  labelReplace,
  lastOverTime,
  math.ln,
  math.log10,
  math.log2,
  madOverTime,
  maxOf,
  maxOverTime,
  minOf,
  minOverTime,
  minute,
  month,
  pi,
  predictLinear,
  presentOverTime,
  quantileOverTime,
  math.rad,
  range,
  rate,
  resets,
  round,
  scalar,
  math.sgn,
  math.sin,
  math.sinh,
  sort,
  sortByLabel,
  sortByLabelDesc,
  sortDesc,
  math.sqrt,
  start,
  stddevOverTime,
  stdvarOverTime,
  step,
  sumOverTime,
  math.tan,
  math.tanh,
  time,
  timestamp,
  tsOfFirstOverTime,
  tsOfLastOverTime,
  tsOfMaxOverTime,
  tsOfMinOverTime,
  vector,
  year,
];

const BY_NAME = new Map(FUNCTIONS.map((one) => [one.name, one]));

/** The function of this name. */
export const functionNamed = (name: string): PromqlFunction | undefined => BY_NAME.get(name);
