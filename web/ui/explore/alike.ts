/** Neighbours that are alike: what is left of them without numbers and ids is the same. */
import { textOf, type Entry } from './entry.ts';

const SHOWN = 300;
const shapes = new WeakMap<Entry, string>();

function shapeOf(entry: Entry): string {
  const known = shapes.get(entry);
  if (known !== undefined) return known;
  const text = textOf(entry, '_msg')
    .slice(0, SHOWN)
    .replace(/\b[0-9a-f]{6,}\b|\d+/gi, '0');
  const shape = `${textOf(entry, 'level')}\0${textOf(entry, 'service')}\0${text}`;
  shapes.set(entry, shape);
  return shape;
}

/** How many neighbours a row stands for. */
export type Folded = { readonly rows: readonly Entry[]; readonly sizes: ReadonlyMap<Entry, number> };

/** The first of each run of rows that are alike, and how many a run has; `isOwn` rows stand alone. */
export function folded(rows: readonly Entry[], isOwn: (entry: Entry) => boolean = () => false): Folded {
  const kept: Entry[] = [];
  const sizes = new Map<Entry, number>();
  let [head, shape]: [Entry | null, string] = [null, ''];
  for (const entry of rows) {
    const own = isOwn(entry) ? '' : shapeOf(entry);
    if (head !== null && own !== '' && own === shape) sizes.set(head, (sizes.get(head) ?? 1) + 1);
    else {
      kept.push(entry);
      [head, shape] = [entry, own];
    }
  }
  return { rows: kept, sizes };
}
