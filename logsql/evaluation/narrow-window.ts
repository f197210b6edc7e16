import { AndFilter } from '../filters/logic.ts';
import { TimeFilter } from '../filters/time.ts';
import type { TimeWindow } from '../base/time-window.ts';
import type { Filter } from '../base/types.ts';

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
