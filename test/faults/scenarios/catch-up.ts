import type { Load } from '../load.ts';
import type { Stored } from '../monitor.ts';
import { within } from './victims.ts';

const CATCH_UP_MS = 900_000;

type Acks = { readonly load: Pick<Load, 'acks'> };
type Rows = { readonly stored: readonly Stored[] };

/** Entries acknowledged between two times. */
export function ackedBetween({ load }: Acks, from: number, to: number): number {
  return load.acks.reduce((sum, { at, entries }) => (at >= from && at < to ? sum + entries : sum), 0);
}

/** The same in a second. */
export function entriesPerSecond(context: Acks, from: number, to: number): number {
  return (1000 * ackedBetween(context, from, to)) / Math.max(1, to - from);
}

/** Rows in the table as last seen at a time; before the first look: at the first. */
export function rowsAt({ stored }: Rows, time: number): number {
  return (stored.findLast(({ at }) => at <= time) ?? stored[0])?.rows ?? 0;
}

/** Waits until the table has caught up, and says when it had all that was acknowledged 3 s before. */
export async function caughtUp({ load, stored }: Acks & Rows, since: number): Promise<number> {
  const counted = { index: 0, entries: 0 };
  const ackedBefore = (time: number): number => {
    for (let next = load.acks[counted.index]; next !== undefined && next.at <= time; next = load.acks[counted.index]) {
      counted.entries += next.entries;
      counted.index += 1;
    }
    return counted.entries;
  };
  const all = (): boolean => {
    const last = stored.at(-1);
    return last !== undefined && last.at > since && last.rows >= ackedBefore(last.at - 3000);
  };
  if (!(await within(CATCH_UP_MS, all))) throw new Error('The sinks did not catch up.');
  return stored.at(-1)?.at ?? Date.now();
}
