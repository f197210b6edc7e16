import type { Name } from './names.ts';

/** What describes the fields of a draft, index by index. */
export type FieldTable = {
  readonly fieldNames: readonly Name[];
  readonly kinds: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly inArena: Uint8Array;
};

/** The fields that every entry of a group begins with, as they were when the group began. */
export class HeldFields {
  count = 0;
  /** How much of the arena they use. */
  arenaLength = 0;
  problem = '';
  readonly #kinds: Uint8Array;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #inArena: Uint8Array;

  /** `size`: the most fields. */
  constructor(size: number) {
    this.#kinds = new Uint8Array(size);
    this.#starts = new Int32Array(size);
    this.#ends = new Int32Array(size);
    this.#inArena = new Uint8Array(size);
  }

  /** Takes the first `count` fields. */
  keep(table: FieldTable, count: number, arenaLength: number, problem: string): void {
    this.count = count;
    this.arenaLength = arenaLength;
    this.problem = problem;
    this.#kinds.set(table.kinds.subarray(0, count));
    this.#starts.set(table.starts.subarray(0, count));
    this.#ends.set(table.ends.subarray(0, count));
    this.#inArena.set(table.inArena.subarray(0, count));
  }

  /** Puts them back as the first fields of the entry with this running number. */
  restore(table: FieldTable, entry: number): void {
    for (let i = 0; i < this.count; i++) {
      const name = table.fieldNames[i] as Name;
      name.seen = entry;
      name.index = i;
      table.kinds[i] = this.#kinds[i] as number;
      table.starts[i] = this.#starts[i] as number;
      table.ends[i] = this.#ends[i] as number;
      table.inArena[i] = this.#inArena[i] as number;
    }
  }
}
