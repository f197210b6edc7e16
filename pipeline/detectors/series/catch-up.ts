/**
 * How many minutes may still be closed that are behind: an entry that comes a day after the one before closes 1,440 of them, so that a few
 * entries could take seconds of a process that works for all tenants.
 */
export type CatchUp = { left: number };

/** What is told by one partial may close so many, and so many more for each count of a minute: a past that is told densely is learned. */
const MOST = 10_000;
const FOR_EACH = 10;

/** For so many counts that are told together. */
export const catchUpOf = (counts: number): CatchUp => ({ left: MOST + FOR_EACH * counts });

/** For who knows that there are few. */
export const unlimited = (): CatchUp => ({ left: Infinity });
