/** Rows that stand for several entries each. */
import { sql } from '../../pipeline/core/sql.ts';

/** How many entries a row of the counts stands for. */
export const ENTRIES = sql`entries`;

/** The spans that rows of the volume count, in seconds, from the longest on. */
export const SPANS = [86_400, 3600, 60] as const;
