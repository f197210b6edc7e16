/** A set as requests choose among them. */
export type ChoosableSet = {
  readonly name: string;
  /** It answers, has the tables of this version, and its row policies stand. */
  readonly isReady: boolean;
  /** It has all that any other has; false of one that was made later, or that records have passed by. */
  readonly isWhole: boolean;
  /** How long ago what it has not stored yet was on the log. Milliseconds; Infinity where that is unknown. */
  readonly behindMs: number;
};

/** A set is left for another one that is as much less behind. Milliseconds. */
const SWITCH_MS = 10_000;

/**
 * The sets that may serve, the best one first: whole ones before others, then the least behind. The set that served last stays the first as long as no
 * other is better by more than the time in which sinks store what has come, so that pages of one search mostly come from one set.
 */
export function inOrder(sets: readonly ChoosableSet[], last: string | null): readonly string[] {
  const ready = sets.filter(({ isReady }) => isReady).sort(precedence);
  const [best] = ready;
  const kept = ready.find(({ name }) => name === last);
  const stays = best !== undefined && kept !== undefined && kept.isWhole === best.isWhole && kept.behindMs <= best.behindMs + SWITCH_MS;
  return (stays ? [kept, ...ready.filter((set) => set !== kept)] : ready).map(({ name }) => name);
}

function precedence(one: ChoosableSet, other: ChoosableSet): number {
  if (one.isWhole !== other.isWhole) return one.isWhole ? -1 : 1;
  return one.behindMs === other.behindMs ? 0 : one.behindMs - other.behindMs;
}
