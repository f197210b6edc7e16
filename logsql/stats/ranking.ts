/**
 * Which of many values is the smallest, the largest, or at a place in their order, whatever order they come in: numbers are compared
 * among themselves, and times, and the rest; then the winners of the three. Different strings may be equal (`1.5`, `1.50`): then their
 * bytes decide.
 */
import type { QueryMemory } from '../base/memory.ts';
import { compareExactly } from '../values/exact.ts';
import { parseInteger, parseNumber, parseTimestamp, parseUint } from '../values/numbers.ts';
import { compareBytes, compareNatural, compareValues } from '../values/order.ts';

/** The smallest or largest of the strings that were offered, each with what it came with; of equal strings the first. */
export class Winner<Item> {
  readonly #sign: 1 | -1;
  #number: { readonly text: string; readonly value: number; readonly item: Item } | null = null;
  #time: { readonly text: string; readonly value: bigint; readonly item: Item } | null = null;
  #other: { readonly text: string; readonly item: Item } | null = null;
  readonly #hold: (bytes: number) => void;
  readonly #sizeOf: (item: Item) => number;
  /** `hold` counts what is kept: the strings, and the size by `sizeOf` of what came with them. */
  constructor(which: 'min' | 'max', hold: (bytes: number) => void = () => undefined, sizeOf: (item: Item) => number = () => 0) {
    this.#sign = which === 'min' ? 1 : -1;
    this.#hold = hold;
    this.#sizeOf = sizeOf;
  }

  offer(text: string, item: Item): void {
    if (text === this.#number?.text || text === this.#time?.text || text === this.#other?.text) return;
    const number = text === '' ? null : numberOf(text);
    if (number !== null) {
      const best = this.#number;
      if (best === null || this.#sign * compareNumbers(text, number, best.text, best.value) < 0)
        this.#number = { ...this.#kept(best, text, item), value: number };
      return;
    }
    const time = parseTimestamp(text);
    if (time !== null) {
      const best = this.#time;
      const order = best === null ? 0 : time === best.value ? compareBytes(text, best.text) : time < best.value ? -1 : 1;
      if (best === null || this.#sign * order < 0) this.#time = { ...this.#kept(best, text, item), value: time };
    } else if (this.#other === null || this.#sign * compareNatural(text, this.#other.text) < 0)
      this.#other = this.#kept(this.#other, text, item);
  }

  #kept(
    before: { readonly text: string; readonly item: Item } | null,
    text: string,
    item: Item,
  ): { readonly text: string; readonly item: Item } {
    this.#hold(text.length + this.#sizeOf(item) - (before === null ? 0 : before.text.length + this.#sizeOf(before.item)));
    return { text, item };
  }

  /** The winner of all; null where nothing was offered. */
  get best(): { readonly text: string; readonly item: Item } | null {
    const [first, ...rest] = [this.#number, this.#time, this.#other].filter((each) => each !== null);
    if (first === undefined) return null;
    return rest.reduce<{ readonly text: string; readonly item: Item }>(
      (best, each) => (this.#sign * compareValues(each.text, best.text) < 0 ? each : best),
      first,
    );
  }
}

/** What compares as a number. */
function numberOf(text: string): number | null {
  const value = parseNumber(text);
  if (value !== null) return value;
  const whole = parseInteger(text) ?? parseUint(text);
  return whole === null ? null : Number(whole);
}

/** By size without rounding, then by bytes. */
const compareNumbers = (a: string, x: number, b: string, y: number): number => compareExactly(a, x, b, y) || compareBytes(a, b);

/** Different values in their order: by bytes first, so that the same values always come the same way. Throws LogsqlLimitError. */
export const inOrder = (values: Iterable<string>, memory: QueryMemory): string[] =>
  memory.sort(memory.sort([...values], compareBytes), compareValues);

/** The value at place ⌊phi·n⌋ of n, given how many there are of each; '' where there is none. */
export function valueAt(phi: number, counts: ReadonlyMap<string, number>, memory: QueryMemory): string {
  let size = 0;
  for (const count of counts.values()) size += count;
  let left = Math.min(size - 1, Math.floor(phi * size));
  for (const text of inOrder(counts.keys(), memory)) {
    left -= counts.get(text) ?? 0;
    if (left < 0) return text;
  }
  return '';
}
