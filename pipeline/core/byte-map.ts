/** Something that is known by its bytes. */
export type Keyed = { readonly token: Uint8Array };

/**
 * A hash table from byte sequences to objects, looked up in place in a larger buffer: no string is made for a key that is
 * already known. Open addressing; never holds two items with equal bytes.
 */
export class ByteMap<Item extends Keyed> {
  #slots: (Item | undefined)[];
  #mask: number;
  size = 0;

  constructor(capacity = 64) {
    this.#slots = new Array<Item | undefined>(capacity).fill(undefined);
    this.#mask = capacity - 1;
  }

  /** The item whose bytes are `bytes[start..end)`, or undefined. */
  find(bytes: Uint8Array, start: number, end: number): Item | undefined {
    const length = end - start;
    let slot = hashBytes(bytes, start, end) & this.#mask;
    for (;;) {
      const item = this.#slots[slot];
      if (item === undefined) return undefined;
      if (item.token.length === length && sameBytes(item.token, bytes, start)) return item;
      slot = (slot + 1) & this.#mask;
    }
  }

  /** Adds an item that is not in the table yet. */
  add(item: Item): void {
    if (this.size * 2 >= this.#slots.length) this.#grow();
    this.#put(item);
    this.size += 1;
  }

  #put(item: Item): void {
    let slot = hashBytes(item.token, 0, item.token.length) & this.#mask;
    while (this.#slots[slot] !== undefined) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = item;
  }

  #grow(): void {
    const items = this.#slots;
    this.#slots = new Array<Item | undefined>(items.length * 2).fill(undefined);
    this.#mask = this.#slots.length - 1;
    for (const item of items) if (item !== undefined) this.#put(item);
  }
}

/** A seed of this process, so that no client can choose keys that collide. */
const SEED = Math.floor(Math.random() * 0x7fffffff) | 1;

/** What a hash is before its first byte. */
export const HASH_START = SEED;

/** The hash of one byte more; for who looks at each byte anyway. */
export const hashStep = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

/** The hash after its last byte. */
export const hashEnd = (hash: number): number => hash ^ (hash >>> 15);

/** The hash of a byte sequence, the same within this process. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = HASH_START;
  for (let at = start; at < end; at++) hash = hashStep(hash, bytes[at] as number);
  return hashEnd(hash);
}

/** Whether `bytes` has these of `token` from `start` on. */
export function sameBytes(token: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < token.length; at++) if (token[at] !== bytes[start + at]) return false;
  return true;
}
