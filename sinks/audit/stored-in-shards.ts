import type { Stored } from './compare.ts';
import { recordKey, type StoredPositions } from './stored.ts';

/** The positions of all shards of a set as those of one table: what lies in two of them is there twice. */
export function positionsInShards(shards: readonly StoredPositions[]): StoredPositions {
  const [only] = shards;
  if (shards.length === 1 && only !== undefined) return only;
  const each = <Found>(look: (shard: StoredPositions) => Promise<Found>): Promise<Found[]> => Promise.all(shards.map(look));
  return {
    between: async (partition, first, last) => {
      const records = new Map<string, Stored>();
      for (const stored of (await each((shard) => shard.between(partition, first, last))).flat()) {
        const key = recordKey(stored);
        const other = records.get(key);
        records.set(key, other === undefined ? stored : together(other, stored));
      }
      return [...records.values()].sort((a, b) => a.offset - b.offset || a.timestamp - b.timestamp);
    },
    copies: async (partition, offsets) => {
      const all = new Map<string, Map<number, number>>();
      for (const [key, copies] of (await each((shard) => shard.copies(partition, offsets))).flatMap((found) => [...found])) {
        const known = all.get(key) ?? new Map<number, number>();
        for (const [index, count] of copies) known.set(index, count + (known.get(index) ?? 0));
        all.set(key, known);
      }
      return all;
    },
    firstBefore: async (partition, before, from) => {
      const found = (await each((shard) => shard.firstBefore(partition, before, from))).filter((offset) => offset !== null);
      return found.length === 0 ? null : Math.min(...found);
    },
    highest: async (partition) => Math.max(...(await each((shard) => shard.highest(partition)))),
  };
}

/** A record of which two shards have rows: how many of them differ, `copies` shows. */
const together = (one: Stored, other: Stored): Stored => ({
  ...one,
  rows: one.rows + other.rows,
  distinct: Math.max(one.distinct, other.distinct),
  last: Math.max(one.last, other.last),
});
