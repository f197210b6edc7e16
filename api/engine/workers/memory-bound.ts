/** What an idle worker has grown by since it began is garbage: so much of it is left to be used again, and more is given back by another process, bytes. */
const IDLE_BYTES = 40 * 1024 * 1024;
/** Of this much another process would take as much for itself. */
const LITTLE_BYTES = 8 * 1024 * 1024;

/** A worker: whether it has nothing to do, and what it takes beyond what it took when it began, bytes. */
export type GrownWorker = { readonly isIdle: boolean; readonly grown: number };

/**
 * The workers to be ended, so that all of them together have grown by at most `most` bytes. Idle ones go first, whose garbage would else count against
 * the queries of others, then the largest; an idle one that has grown by much always goes.
 */
export function beyondBound<Worker extends GrownWorker>(workers: readonly Worker[], most: number): Worker[] {
  let total = workers.reduce((sum, { grown }) => sum + grown, 0);
  const isGarbage = ({ isIdle, grown }: Worker): boolean => isIdle && grown > LITTLE_BYTES;
  const ended: Worker[] = [];
  for (const one of workers.toSorted((a, b) => Number(isGarbage(b)) - Number(isGarbage(a)) || b.grown - a.grown)) {
    if (total <= most && !(one.isIdle && one.grown > IDLE_BYTES)) continue;
    ended.push(one);
    total -= one.grown;
  }
  return ended;
}
