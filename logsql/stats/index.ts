/** Every function of `stats`, one line each. */
import { registry } from '../../pipeline/core/registry.ts';
import { countUniq } from './count-uniq.ts';
import { count } from './count.ts';
import { max, min } from './extreme.ts';
import { median, quantile } from './quantile.ts';
import { avg, sum } from './sum.ts';

export const stats = registry((spec) => spec.names, [avg, count, countUniq, max, median, min, quantile, sum]);
