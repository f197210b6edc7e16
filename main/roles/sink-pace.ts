import type { PaceLimits } from '../../pipeline/bus/consumer/insert-pace.ts';

/**
 * Large blocks are merged less often, and merging is the larger part of what a row costs ClickHouse; when little comes, or no more, it is
 * searchable within a second.
 */
export const SINK_PACE: PaceLimits = {
  rows: 300_000,
  bytes: 40_000_000,
  waits: [
    { ms: 600, rows: 1000 },
    { ms: 700, rows: 20_000 },
    { ms: 2000, rows: 0 },
  ],
  idleMs: 150,
};
