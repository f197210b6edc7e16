import { int64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { MAX_TIME, MIN_TIME } from '../../pipeline/core/time.ts';

const SECOND = 1_000_000_000n;

/** A time as a column of whole seconds has it, within what it can have. */
const moment = (seconds: (time: bigint) => bigint, time: bigint): Sql =>
  sql`toDateTime64(${int64(seconds(time < MIN_TIME ? MIN_TIME : time > MAX_TIME ? MAX_TIME : time))}, 0, 'UTC')`;

/** Whether a column of whole seconds is at this time (nanoseconds) or later. */
export const notBefore = (column: Sql, time: bigint): Sql => sql`${column} >= ${moment((ns) => -(-ns / SECOND), time)}`;

/** Whether a column of whole seconds is at this time (nanoseconds) or earlier. */
export const notAfter = (column: Sql, time: bigint): Sql => sql`${column} <= ${moment((ns) => ns / SECOND, time)}`;
