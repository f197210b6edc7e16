/** Every function of `stats`, one line each. */
import { registry } from '../../pipeline/core/registry.ts';
import { countUniq, countUniqHash } from './count-uniq.ts';
import { count } from './count.ts';
import { max, min } from './extreme.ts';
import { histogram } from './histogram.ts';
import { median, quantile } from './quantile.ts';
import { rate, rateSum } from './rate.ts';
import { jsonValues, rowAny, rowMax, rowMin } from './rows.ts';
import { avg, sum } from './sum.ts';
import { countEmpty, sumLen } from './tally.ts';
import { uniqValues, values } from './values.ts';

export const stats = registry(
  (spec) => spec.names,
  [
    avg,
    count,
    countEmpty,
    countUniq,
    countUniqHash,
    histogram,
    jsonValues,
    max,
    median,
    min,
    quantile,
    rate,
    rateSum,
    rowAny,
    rowMax,
    rowMin,
    sum,
    sumLen,
    uniqValues,
    values,
  ],
);
