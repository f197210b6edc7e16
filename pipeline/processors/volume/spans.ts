/**
 * The spans of time by which the volume is counted, in minutes, from the shortest on. A segment that counts by a span is open for as much
 * append time.
 */
export const SPAN_MINUTES = [1, 60, 1440] as const;

export const MINUTE_SECONDS = 60;
export const MINUTE_MS = 60_000;
