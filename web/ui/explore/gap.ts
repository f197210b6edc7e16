/** Places of a tail at which entries came that the list does not have: drawn as a line of their own. */
import type { Entry } from './entry.ts';

export type Gap = {
  /** 0: it is not known how many. */
  readonly count: number;
  readonly why: string;
  /** ISO times. */
  readonly since: string;
  readonly until: string;
};

// no field of an entry can pretend to be one
const gaps = new WeakMap<Entry, Gap>();

/** A row that stands for a gap. */
export function gapRow(gap: Gap): Entry {
  const row: Entry = { _time: gap.until };
  gaps.set(row, gap);
  return row;
}

export const gapOf = (row: Entry): Gap | null => gaps.get(row) ?? null;
