/**
 * A search that must look at every entry walks its window in slices, newest first. ClickHouse reads the first one in the order of the
 * table, in one thread, and stops where there are enough entries. Where that found few, all that is left is to be looked at: without
 * the order, in all threads. Else it is read in the order too, and is left early. In a table that is not in the order of time a slice is
 * read whole, so the first one is small also where nothing is known yet.
 */
import { LRUCache } from 'lru-cache';
import type { TimeWindow } from '../../logsql/base/time-window.ts';

export type Slice = TimeWindow & { readonly isOrdered: boolean };

/** How many rows the first slice has, about. */
const FIRST_ROWS = 64_000;
/** With fewer rows in the window another statement costs more than its threads save. */
const FEW_ROWS = 250_000;
/** Up to this number of rows indexes are read at once, while a statement is planned; beyond it, only as far as the limit requires. */
const PLANNED_ROWS = 5_000_000;

/** Where the part of a window begins that is read first where all of its rows would be read otherwise, and nothing is known of them. */
export const startOfNewest = ({ start, end }: TimeWindow): bigint => end - (end - start) / 64n;

/** How many rows tenants have in a span of time, as statements found it that had to look at all of them. */
export class Densities {
  readonly #known = new LRUCache<number, number>({ max: 10_000 });

  /** Rows in a window; 0 where nothing is known of the tenant yet. */
  rowsIn({ start, end }: TimeWindow, tenantId: number): number {
    return (this.#known.get(tenantId) ?? 0) * Number(end - start + 1n);
  }

  /** A statement has read `rows` rows for this span. */
  saw(rows: number, { start, end }: TimeWindow, tenantId: number): void {
    if (end >= start) this.#known.set(tenantId, rows / Number(end - start + 1n));
  }
}

/** True where an index is better looked at for the whole window at once. */
export const isPlanned = (rows: number): boolean => rows > 0 && rows <= PLANNED_ROWS;

/** The first slice of a window that has about `rows` rows; 0: it is not known how many. `isScattered`: the table is not in the order of time. */
export function firstSlice({ start, end }: TimeWindow, rows: number, isScattered = false): Slice {
  if (rows === 0 && isScattered) return { start: startOfNewest({ start, end }), end, isOrdered: true };
  if (rows < FEW_ROWS) return { start, end, isOrdered: true };
  return { start: end - BigInt(Math.round((Number(end - start) * FIRST_ROWS) / rows)), end, isOrdered: true };
}

/** The slice after one in which `found` entries were found, where `wanted` more are wanted; null at the window's start. */
export function nextSlice(before: Slice, start: bigint, found: number, wanted: number): Slice | null {
  const end = before.start - 1n;
  if (end < start) return null;
  const expected = (found * Number(end - start + 1n)) / Number(before.end - before.start + 1n);
  return { start, end, isOrdered: expected >= wanted };
}
