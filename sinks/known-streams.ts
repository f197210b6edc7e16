import { Generations } from '../pipeline/core/generations.ts';
import { mixId } from '../pipeline/core/mix.ts';

/** What a stream is written under, in addition to its id. */
export type StreamScope = { readonly tenantId: number; readonly retentionDays: number; readonly day: number };

/** A hash of a scope that is never 0. */
export const scopeHash = ({ tenantId, retentionDays, day }: StreamScope): number =>
  mix(mix(mix(tenantId) ^ retentionDays) ^ day) >>> 0 || 1;

/** Keys in each of two generations: of this number of streams that are sent repeatedly none is written twice. */
const MAX_KEYS = 1_250_000;
const [FIRST_SLOTS, WORDS] = [1024, 3];

/** Keys of 96 bits, which take 24 to 48 bytes each. The third word is never 0. */
class KeyTable {
  size = 0;
  #slots: Uint32Array;
  #mask: number;

  constructor(slots = FIRST_SLOTS) {
    this.#slots = new Uint32Array(slots * WORDS);
    this.#mask = slots - 1;
  }

  has(high: number, low: number, rest: number): boolean {
    return this.#slots[this.#find(high, low, rest) + 2] !== 0;
  }

  add(high: number, low: number, rest: number): void {
    if ((this.size + 1) * 2 > this.#mask + 1) this.#grow();
    const at = this.#find(high, low, rest);
    if (this.#slots[at + 2] === 0) this.size += 1;
    this.#put(at, high, low, rest);
  }

  /** Where the key is, or would be: the place of its first word. */
  #find(high: number, low: number, rest: number): number {
    const slots = this.#slots;
    for (let slot = mixId(high, low ^ rest) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = slot * WORDS;
      const found = slots[at + 2];
      if (found === 0 || (found === rest && slots[at + 1] === low >>> 0 && slots[at] === high >>> 0)) return at;
    }
  }

  #put(at: number, high: number, low: number, rest: number): void {
    this.#slots[at] = high;
    this.#slots[at + 1] = low;
    this.#slots[at + 2] = rest;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    this.#mask = this.#mask * 2 + 1;
    for (let at = 0; at < before.length; at += WORDS) {
      const [high, low, rest] = [before[at] as number, before[at + 1] as number, before[at + 2] as number];
      if (rest !== 0) this.#put(this.#find(high, low, rest), high, low, rest);
    }
  }
}

/**
 * Streams that this process has written lately; to write one again does no harm. They are identified by their id (64 bits, as two halves)
 * and a hash of 32 bits of their scope.
 */
export class KnownStreams {
  readonly #tables: Generations<KeyTable>;

  constructor(maxKeys = MAX_KEYS) {
    this.#tables = new Generations(() => new KeyTable(), maxKeys);
  }

  /** Whether it is known; it counts as used now. */
  has(high: number, low: number, scope: number): boolean {
    if (this.#tables.young.has(high, low, scope)) return true;
    if (!this.#tables.old.has(high, low, scope)) return false;
    this.add(high, low, scope);
    return true;
  }

  add(high: number, low: number, scope: number): void {
    this.#tables.tableFor().add(high, low, scope);
  }
}

/** The finalizer of MurmurHash3. */
function mix(number: number): number {
  let hash = number | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
