/** The first items of an order out of any number of them: more than about twice as many are never held. */
import type { QueryMemory } from './memory.ts';

/** So many more than wanted are gathered before they are sorted. */
const SLACK = 1024;

/** `Keys` is what of an item decides on its order. */
export type FirstOptions<Item extends Keys, Keys> = {
  /** How many are wanted; Infinity: all. */
  readonly most: number;
  readonly memory: QueryMemory;
  /** Below 0 where the first one comes before the other; of equal ones that which was pushed first counts. */
  compare(a: Keys, b: Keys): number;
  /** What became of items that are not among the first; absent where nothing was held for them. */
  onDropped?(items: readonly Item[]): void;
};

/** Gathers items; `inOrder` gives the first ones of them. Each comparison is a step of the query, and so may throw LogsqlLimitError. */
export class FirstItems<Item extends Keys, Keys = Item> {
  readonly #options: FirstOptions<Item, Keys>;
  #items: Item[] = [];
  /** The last one of the first, once so many are known. */
  #last: Item | null = null;

  constructor(options: FirstOptions<Item, Keys>) {
    this.#options = options;
  }

  /** False for an item that cannot be among the first: it need not be pushed. */
  mayBeFirst(item: Keys): boolean {
    return this.#last === null || this.#options.compare(item, this.#last) < 0;
  }

  push(item: Item): void {
    this.#items.push(item);
    if (this.#items.length >= this.#options.most * 2 + SLACK) this.#cut();
  }

  inOrder(): readonly Item[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    const { most, memory, compare, onDropped } = this.#options;
    memory.sort(this.#items, compare);
    if (this.#items.length < most) return;
    const dropped = this.#items.slice(most);
    this.#items = this.#items.slice(0, most);
    this.#last = this.#items.at(-1) ?? null;
    if (dropped.length > 0) onDropped?.(dropped);
  }
}
