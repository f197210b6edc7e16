import { nearest } from '../../pipeline/core/nearest.ts';

/** Functions of other languages, and what does the same here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...{ mean: 'avg(f)', average: 'avg(f)', percentile: 'quantile(0.95, f)', perc: 'quantile(0.95, f)' },
  ...{
    dc: 'count_uniq(f)',
    distinct_count: 'count_uniq(f)',
    count_distinct: 'count_uniq(f)',
    cardinality: 'count_uniq(f)',
    uniq: 'count_uniq(f)',
  },
  ...{
    list: 'values(f)',
    first: 'row_min(_time, f)',
    earliest: 'row_min(_time, f)',
    last: 'row_max(_time, f)',
    latest: 'row_max(_time, f)',
  },
};

/** What is said of a stats function that there is none of: what does the same, or the nearest of these names. */
export function unknownFunction(name: string, names: readonly string[]): string {
  const percent = /^p(?:erc(?:entile)?)?_?(\d{1,2}(?:\.\d{1,4})?)$/.exec(name)?.[1];
  if (percent !== undefined) return `expected a stats function; write quantile(${String(Number(percent) / 100)}, f)`;
  const instead = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  if (instead !== undefined) return `expected a stats function; write ${instead}`;
  const meant = nearest(name, names);
  return meant === null ? 'expected a stats function such as count()' : `expected a stats function; did you mean ${meant}()?`;
}
