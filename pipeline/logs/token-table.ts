import { hashBytes } from '../core/byte-map.ts';

const FIRST_ITEMS = 256;
const FIRST_BYTES = 16_384;
/** Numbers of an item: where its bytes begin, how many they are, the halves of its id and those of its mark; side by side for the cache. */
const OFFSET = 0;
const LENGTH = 1;
const HIGH = 2;
const LOW = 3;
const MARK_HIGH = 4;
const MARK_LOW = 5;
const WIDTH = 6;
const TWO_32 = 4_294_967_296;
/** A slot holds the index of an item, counted from 1, and above it bits of the hash that the slot's place does not determine. */
const INDEX_BITS = 22;
const INDEX_MASK = 2 ** INDEX_BITS - 1;

export type Item = { readonly high: number; readonly low: number; readonly mark: number };

/** A multiplication brings all bits of the hash into the upper ones. */
const tagOf = (hash: number): number => Math.imul(hash, 0x9e3779b1) & ~INDEX_MASK;

/**
 * A hash table from byte sequences to an id of 64 bits and a mark, all in a few typed arrays: a million items need no object that the
 * garbage collector visits, and take 32 bytes each in addition to their own. Open addressing; never holds two items with equal bytes.
 * At most 4,194,303 items.
 */
export class TokenTable {
  size = 0;
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  #items = new Int32Array(FIRST_ITEMS * WIDTH);
  #slots = new Int32Array(FIRST_ITEMS * 2);

  /** The index of the item whose bytes are `bytes[start..end)`, or -1. `hash`: theirs, by `hashBytes`. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const items = this.#items;
    const tag = tagOf(hash);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const held = slots[slot] as number;
      if (held === 0) return -1;
      // of an item with another hash neither its numbers nor its bytes are looked at, which are mostly in no cache
      if ((held & ~INDEX_MASK) !== tag) continue;
      const index = (held & INDEX_MASK) - 1;
      const at = index * WIDTH;
      if (items[at + LENGTH] === end - start && this.#same(items[at + OFFSET] as number, bytes, start, end)) return index;
    }
  }

  /** Adds an item that is not in the table yet; gives its index. */
  add(bytes: Uint8Array, start: number, end: number, hash: number, { high, low, mark }: Item): number {
    const index = this.size;
    const length = end - start;
    if ((index + 1) * WIDTH > this.#items.length) this.#growItems();
    if (this.#used + length > this.#bytes.length) this.#growBytes(length);
    const own = this.#bytes;
    for (let from = start, to = this.#used; from < end; from++, to++) own[to] = bytes[from] as number;
    const at = index * WIDTH;
    this.#items[at + OFFSET] = this.#used;
    this.#items[at + LENGTH] = length;
    this.#items[at + HIGH] = high;
    this.#items[at + LOW] = low;
    this.setMark(index, mark);
    this.#used += length;
    this.size += 1;
    this.#put(index, hash);
    return index;
  }

  /** The upper half of an item's id, signed. */
  high(index: number): number {
    return this.#items[index * WIDTH + HIGH] as number;
  }

  /** The lower half. */
  low(index: number): number {
    return this.#items[index * WIDTH + LOW] as number;
  }

  /** The mark of an item. */
  mark(index: number): number {
    const at = index * WIDTH;
    return (this.#items[at + MARK_HIGH] as number) * TWO_32 + ((this.#items[at + MARK_LOW] as number) >>> 0);
  }

  setMark(index: number, mark: number): void {
    this.#items[index * WIDTH + MARK_HIGH] = Math.floor(mark / TWO_32);
    this.#items[index * WIDTH + MARK_LOW] = mark | 0;
  }

  /** Forgets all items and keeps the memory. */
  clear(): this {
    this.size = 0;
    this.#used = 0;
    this.#slots.fill(0);
    return this;
  }

  #same(offset: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#bytes;
    for (let at = start, to = offset; at < end; at++, to++) if (own[to] !== bytes[at]) return false;
    return true;
  }

  #put(index: number, hash: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = tagOf(hash) | (index + 1);
  }

  #growItems(): void {
    const items = new Int32Array(this.#items.length * 2);
    items.set(this.#items);
    this.#items = items;
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let index = 0; index < this.size; index++) {
      const offset = items[index * WIDTH + OFFSET] as number;
      this.#put(index, hashBytes(this.#bytes, offset, offset + (items[index * WIDTH + LENGTH] as number)));
    }
  }

  #growBytes(more: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#used + more));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}
