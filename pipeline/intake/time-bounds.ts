import { MAX_TIME, MIN_TIME } from '../core/time.ts';
import type { RowsOwner } from './rows.ts';

const DAY = 86_400;
const FUTURE_SECONDS = 2 * DAY;
const NANOS = 1_000_000_000n;

/**
 * The first and the last second of which rows are taken: from as long ago as they are kept to two days ahead. Where they are kept for ever
 * the years 1900 to 2262 alone bound them.
 */
export function timeBounds({
  receivedAt,
  retentionDays,
}: Pick<RowsOwner, 'receivedAt' | 'retentionDays'>): readonly [first: number, last: number] {
  if (retentionDays === 0) return [Number(MIN_TIME / NANOS), Number(MAX_TIME / NANOS) - 1];
  const now = Number(receivedAt / NANOS);
  return [now - retentionDays * DAY, now + FUTURE_SECONDS];
}
