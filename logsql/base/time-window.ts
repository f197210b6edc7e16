/** A span of time in nanoseconds, both ends included. */
export type TimeWindow = { readonly start: bigint; readonly end: bigint };
