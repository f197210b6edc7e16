import { mixId } from '../../core/mix.ts';

/** Words of a group's key: tenant, kind, both halves of the stream's id, time, level. */
const WORDS = 6;
const [TENANT, KIND, HIGH, LOW, TIME, LEVEL] = [0, 1, 2, 3, 4, 5] as const;
const FIRST_GROUPS = 32;
/** Slots for each group that fits. */
const SLOTS = 2;

/**
 * Counts by group, in typed arrays: 40 bytes a group and 8 for its slots, up to double of it after a growth. Groups have numbers from 0 on
 * in the order in which they were first counted, which is a function of what was counted; where they lie in the slots is not.
 */
export class GroupTable {
  size = 0;
  #words = new Uint32Array(FIRST_GROUPS * WORDS);
  /** Entries and bytes of each group. */
  #counts = new Float64Array(FIRST_GROUPS * 2);
  /** A group's number and one; 0 is free. */
  #slots = new Uint32Array(FIRST_GROUPS * SLOTS);
  #mask = FIRST_GROUPS * SLOTS - 1;

  /** The number of a group, which is a new one, without entries, where it was not there. */
  at(tenant: number, kind: number, high: number, low: number, time: number, level: number): number {
    const slot = this.#seek(tenant, kind, high, low, time, level);
    const found = this.#slots[slot] as number;
    if (found !== 0) return found - 1;
    const words = this.#words;
    const group = this.size;
    if (group * WORDS === words.length) {
      this.#grow();
      return this.at(tenant, kind, high, low, time, level);
    }
    const at = group * WORDS;
    words[at + TENANT] = tenant;
    words[at + KIND] = kind;
    words[at + HIGH] = high;
    words[at + LOW] = low;
    words[at + TIME] = time;
    words[at + LEVEL] = level;
    this.#counts[2 * group] = 0;
    this.#counts[2 * group + 1] = 0;
    this.#slots[slot] = group + 1;
    this.size = group + 1;
    return group;
  }

  /** The number of a group; -1 where it is not there. */
  find(tenant: number, kind: number, high: number, low: number, time: number, level: number): number {
    return (this.#slots[this.#seek(tenant, kind, high, low, time, level)] as number) - 1;
  }

  add(group: number, entries: number, bytes: number): void {
    const counts = this.#counts;
    counts[2 * group] = (counts[2 * group] as number) + entries;
    counts[2 * group + 1] = (counts[2 * group + 1] as number) + bytes;
  }

  /** Forgets all groups, in as much time as there are some. */
  clear(): void {
    const slots = this.#slots;
    for (let group = 0; group < this.size; group++) {
      let slot = this.#hashOf(group) & this.#mask;
      while (slots[slot] !== group + 1) slot = (slot + 1) & this.#mask;
      slots[slot] = 0;
    }
    this.size = 0;
  }

  tenant(group: number): number {
    return this.#words[group * WORDS + TENANT] as number;
  }

  kind(group: number): number {
    return this.#words[group * WORDS + KIND] as number;
  }

  high(group: number): number {
    return this.#words[group * WORDS + HIGH] as number;
  }

  low(group: number): number {
    return this.#words[group * WORDS + LOW] as number;
  }

  /** Signed. */
  time(group: number): number {
    return (this.#words[group * WORDS + TIME] as number) | 0;
  }

  level(group: number): number {
    return this.#words[group * WORDS + LEVEL] as number;
  }

  entries(group: number): number {
    return this.#counts[2 * group] as number;
  }

  bytes(group: number): number {
    return this.#counts[2 * group + 1] as number;
  }

  /** The slot of a group, or the free one where it would be. */
  #seek(tenant: number, kind: number, high: number, low: number, time: number, level: number): number {
    const words = this.#words;
    const slots = this.#slots;
    const mask = this.#mask;
    let slot = slotHash(tenant, kind, high, low, time, level) & mask;
    for (let found = slots[slot] as number; found !== 0; found = slots[slot] as number) {
      const at = (found - 1) * WORDS;
      if (
        words[at + LOW] === low >>> 0 &&
        words[at + HIGH] === high >>> 0 &&
        words[at + TIME] === time >>> 0 &&
        words[at + LEVEL] === level &&
        words[at + TENANT] === tenant &&
        words[at + KIND] === kind
      )
        return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #hashOf(group: number): number {
    return slotHash(this.tenant(group), this.kind(group), this.high(group), this.low(group), this.time(group), this.level(group));
  }

  #grow(): void {
    const words = new Uint32Array(this.#words.length * 2);
    words.set(this.#words);
    this.#words = words;
    const counts = new Float64Array(this.#counts.length * 2);
    counts.set(this.#counts);
    this.#counts = counts;
    const slots = new Uint32Array(this.#slots.length * 2);
    this.#slots = slots;
    this.#mask = slots.length - 1;
    for (let group = 0; group < this.size; group++) {
      let slot = this.#hashOf(group) & this.#mask;
      while (slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      slots[slot] = group + 1;
    }
  }
}

const slotHash = (tenant: number, kind: number, high: number, low: number, time: number, level: number): number =>
  mixId(mixId(high, low) ^ time, Math.imul(level, 0x9e3779b1) ^ Math.imul(tenant, 0x85ebca77) ^ kind);
