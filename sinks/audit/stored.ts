import type { Store } from '../../pipeline/store/client.ts';
import type { Stored } from './compare.ts';

/** Offsets of which the rows are listed one by one in one statement. */
const LISTED = 200;

/** What identifies a record: offsets are reused after log truncation, at a later time. */
export const recordKey = ({ offset, timestamp }: { readonly offset: number; readonly timestamp: number }): string =>
  `${String(offset)}@${String(timestamp)}`;

/** What a table has of a topic's positions. Offsets are inclusive. */
export type StoredPositions = {
  /** Of each record of a partition that has rows, in the order of the offsets; several where an offset was given to several. */
  between(partition: number, first: number, last: number): Promise<Stored[]>;
  /** How often each index of the records of these offsets is stored, by `recordKey`. */
  copies(partition: number, offsets: readonly number[]): Promise<Map<string, Map<number, number>>>;
  /** The first offset of the rows that arrived from a time on (milliseconds) and are of records before an offset, for each partition. */
  firstBefore(partition: number, before: number, from: number): Promise<number | null>;
  /** The highest offset that has rows. */
  highest(partition: number): Promise<number>;
};

/** The positions in a table of ClickHouse, by its audit key. */
export function storedPositions(store: Store, table: string): StoredPositions {
  const rows = (select: string, where: string, params: Record<string, unknown>): ReturnType<Store['ownerRows']> =>
    store.ownerRows(`SELECT ${select} FROM ${table} WHERE kafka_part = {part:UInt16} AND ${where}`, params);
  return {
    between: async (partition, first, last) => {
      const found = await rows(
        'kafka_off, count(), uniqExact(kafka_idx), max(kafka_idx), toUnixTimestamp64Milli(arrived)',
        'kafka_off BETWEEN {first:UInt64} AND {last:UInt64} GROUP BY kafka_off, arrived ORDER BY kafka_off, arrived',
        { part: partition, first, last },
      );
      return found.map((row) => {
        const [offset = 0, all = 0, distinct = 0, highest = 0, timestamp = 0] = row.map(Number);
        return { offset, rows: all, distinct, last: highest, timestamp };
      });
    },
    copies: async (partition, offsets) => {
      const copies = new Map<string, Map<number, number>>();
      for (let at = 0; at < offsets.length; at += LISTED) {
        const found = await rows(
          'kafka_off, toUnixTimestamp64Milli(arrived), kafka_idx, count()',
          'kafka_off IN {offsets:Array(UInt64)} GROUP BY kafka_off, arrived, kafka_idx',
          { part: partition, offsets: offsets.slice(at, at + LISTED) },
        );
        for (const row of found) {
          const [offset = 0, timestamp = 0, index = 0, count = 0] = row.map(Number);
          const key = recordKey({ offset, timestamp });
          const known = copies.get(key) ?? new Map<number, number>();
          copies.set(key, known.set(index, count));
        }
      }
      return copies;
    },
    firstBefore: async (partition, before, from) => {
      const [row] = await rows(
        'min(kafka_off), count()',
        "kafka_off < {before:UInt64} AND arrived >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')",
        { part: partition, before, from },
      );
      return Number(row?.[1] ?? 0) === 0 ? null : Number(row?.[0]);
    },
    highest: async (partition) => {
      const [row] = await rows('max(kafka_off), count()', '1', { part: partition });
      return Number(row?.[1] ?? 0) === 0 ? -1 : Number(row?.[0]);
    },
  };
}
