import { periodMs } from '../../core/fault-points.ts';

/**
 * The spans of time by which the volume is counted, in minutes, from the shortest on. A segment that counts by a span is open for as much
 * append time.
 */
export const SPAN_MINUTES = [1, 60, 1440] as const;

export const MINUTE_SECONDS = 60;
/** Append time for which a segment is open, for each minute of its span. */
export const OPEN_MS_PER_MINUTE = periodMs('volume-minute', 60_000);
