import { AndFilter } from './filters/logic.ts';
import { TimeFilter } from './filters/time.ts';
import type { Filter } from './types.ts';

/** A span of time in nanoseconds, both ends included. */
export type TimeWindow = { readonly start: bigint; readonly end: bigint };

/** The window cut down to the time filters that every entry must pass; never widened. */
export function narrowWindow(filter: Filter, window: TimeWindow): TimeWindow {
  let { start, end } = window;
  for (const part of filter instanceof AndFilter ? filter.parts : [filter]) {
    if (!(part instanceof TimeFilter)) continue;
    if (part.min !== null && part.min > start) start = part.min;
    if (part.max !== null && part.max < end) end = part.max;
  }
  return { start, end };
}
