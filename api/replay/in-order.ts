import type { QueryMemory } from '../../logsql/base/memory.ts';
import { eventAt, type BodyRow, type EventLine } from './chunk-rows.ts';

/** An event, and the row that it lies in. */
export type PlacedEvent = EventLine & { readonly row: BodyRow };

/** Where the reading of a row is; rows that come first go first where their times are equal. */
type Cursor = { readonly row: BodyRow; readonly number: number; next: EventLine };

const ROW_OVERHEAD = 200;
const WHO = 'The events of batches that overlap';

/** Open rows, the one first whose next event is the earliest: a binary heap. */
class OpenRows {
  readonly #heap: Cursor[] = [];

  get first(): Cursor | undefined {
    return this.#heap[0];
  }

  push(cursor: Cursor): void {
    const heap = this.#heap;
    let at = heap.push(cursor) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(cursor, heap[parent] as Cursor)) break;
      heap[at] = heap[parent] as Cursor;
      at = parent;
    }
    heap[at] = cursor;
  }

  /** Takes the first one to its next event, or away where it has none. */
  advance(): void {
    const [first] = this.#heap;
    if (first === undefined) return;
    const next = eventAt(first.row, first.next.end);
    const last = this.#heap.length - 1;
    if (next !== null) {
      first.next = next;
      this.#sink(first);
      return;
    }
    const moved = this.#heap.pop() as Cursor;
    if (last > 0) this.#sink(moved);
  }

  /** Puts a cursor where the first one was, and further down where others are earlier. */
  #sink(cursor: Cursor): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && isBefore(heap[right] as Cursor, heap[left] as Cursor) ? right : left;
      if (!isBefore(heap[child] as Cursor, cursor)) break;
      heap[at] = heap[child] as Cursor;
      at = child;
    }
    heap[at] = cursor;
  }
}

const isBefore = (one: Cursor, other: Cursor): boolean =>
  one.next.time < other.next.time || (one.next.time === other.next.time && one.number < other.number);

/** The events of rows that come in the order of their first events, by their times. Rows are held while later ones may have earlier events. */
export async function* inOrder(rows: AsyncIterable<BodyRow>, memory: QueryMemory): AsyncGenerator<PlacedEvent[]> {
  const open = new OpenRows();
  let number = 0;
  const until = (time: number): PlacedEvent[] => {
    const events: PlacedEvent[] = [];
    for (let cursor = open.first; cursor !== undefined && cursor.next.time <= time; cursor = open.first) {
      const { row, next } = cursor;
      events.push({ row, ...next });
      open.advance();
      if (next.end >= row.body.length) memory.release(1, row.body.length + ROW_OVERHEAD);
      memory.step();
    }
    return events;
  };
  for await (const row of rows) {
    const events = until(row.first);
    if (events.length > 0) yield events;
    const next = eventAt(row, 0);
    if (next === null) continue;
    memory.hold(WHO, 1, row.body.length + ROW_OVERHEAD);
    open.push({ row, number: number++, next });
  }
  yield until(Infinity);
}
