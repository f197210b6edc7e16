/**
 * How many minutes may still be closed that are behind: an entry that comes a day after the one before closes 1,440 of them, so that a few
 * entries could take seconds of a process that works for all tenants.
 */
export type CatchUp = { left: number };

/** One partial may close this number of minutes, and `FOR_EACH` more for each count of a minute: a dense past is learned. */
const MOST = 10_000;
const FOR_EACH = 10;

/** For `counts` counts that come together. */
export const catchUpOf = (counts: number): CatchUp => ({ left: MOST + FOR_EACH * counts });

/** For callers that have few. */
export const unlimited = (): CatchUp => ({ left: Infinity });
