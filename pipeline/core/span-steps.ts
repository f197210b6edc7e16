import { periodMs } from './fault-points.ts';

/**
 * Append time is cut into steps. A span and its parent are a call where not more than `REACH` steps lie between them, whichever comes first
 * (docs/adr/0043-derived-from-spans.md). A step is whole seconds, in milliseconds.
 */
export const STEP_MS = periodMs('span-step', 30_000);
export const REACH = 2;
