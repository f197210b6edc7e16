import { sql, text, type Sql } from '../../pipeline/core/sql.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import type { TimeWindow } from '../base/time-window.ts';

/** The first and the last day (`YYYY-MM-DD`, UTC) that a window touches, as the table of streams has days. */
export type Days = { readonly firstDay: string; readonly lastDay: string };

const DAY = 86_400_000_000_000n;
/** A `Date` has 1970 to 2149: streams of entries before and after stand on its ends. */
const LAST = 65_535n * DAY;

/** Both ends of the window are included. */
export const daysOf = ({ start, end }: TimeWindow): Days => ({ firstDay: dayOf(start), lastDay: dayOf(end) });

const dayOf = (ns: bigint): string => formatTime(ns < 0n ? 0n : ns > LAST ? LAST : ns).slice(0, 10);

/** The streams of these days: the second column of the table's key. */
export const onDays = ({ firstDay, lastDay }: Days): Sql => sql`day BETWEEN toDate(${text(firstDay)}) AND toDate(${text(lastDay)})`;
