/** A mark that is not the slot of any pattern. */
export const ABSENT = -1;

/**
 * Strings that are looked up by their bytes, each with a number of 64 bits, in arrays of fixed size: nothing is allocated for a lookup, and
 * a full table accepts no more.
 */
export class ShapeTable {
  readonly #slots: Int32Array;
  readonly #hashes: Int32Array;
  /** Where each string begins in `#texts`, its length in bytes, and its number as two halves. */
  readonly #starts: Int32Array;
  readonly #lengths: Int32Array;
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly #texts: Int32Array;
  readonly #maxItems: number;
  #used = 0;
  size = 0;

  /** Holds `maxItems` strings (a power of two) of `words` times four bytes together. */
  constructor(maxItems: number, words: number) {
    this.#maxItems = maxItems;
    this.#slots = new Int32Array(2 * maxItems).fill(ABSENT);
    this.#hashes = new Int32Array(maxItems);
    this.#starts = new Int32Array(maxItems);
    this.#lengths = new Int32Array(maxItems);
    this.high = new Uint32Array(maxItems);
    this.low = new Uint32Array(maxItems);
    this.#texts = new Int32Array(words);
  }

  clear(): void {
    this.#slots.fill(ABSENT);
    this.#used = 0;
    this.size = 0;
  }

  /** The item of a string of `length` bytes, given as words whose last one is filled up with zeros; `ABSENT` where there is none. */
  find(words: Int32Array, length: number, hash: number): number {
    const mask = this.#slots.length - 1;
    const count = (length + 3) >> 2;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const item = this.#slots[slot] as number;
      if (item === ABSENT) return ABSENT;
      if (this.#hashes[item] !== hash || this.#lengths[item] !== length) continue;
      const start = this.#starts[item] as number;
      let index = 0;
      while (index < count && this.#texts[start + index] === words[index]) index += 1;
      if (index === count) return item;
    }
  }

  /** Adds a string that is absent; `ABSENT` where the table is full. */
  add(words: Int32Array, length: number, hash: number, high: number, low: number): number {
    const count = (length + 3) >> 2;
    if (this.size === this.#maxItems || this.#used + count > this.#texts.length) return ABSENT;
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== ABSENT) slot = (slot + 1) & mask;
    const item = this.size;
    this.#slots[slot] = item;
    this.#hashes[item] = hash;
    this.#starts[item] = this.#used;
    this.#lengths[item] = length;
    this.high[item] = high;
    this.low[item] = low;
    for (let index = 0; index < count; index += 1) this.#texts[this.#used + index] = words[index] as number;
    this.#used += count;
    this.size += 1;
    return item;
  }
}
