import type { Range, RangeStore, Stored } from '../pipeline/bus/consumer/range.ts';

export type ShardedWriterOptions = {
  /** One for each shard, in their order. */
  readonly writers: readonly RangeStore[];
  /** The shard of a partition, counted from 0; from the first answer on the same for ever. */
  readonly shardOf: (partition: number) => Promise<number>;
};

/**
 * Stores each range in the shard of its partition. An insert of several partitions is one for each shard, under the same id: a range is in one of
 * them alone, and it is fenced there.
 */
export class ShardedWriter implements RangeStore {
  readonly #options: ShardedWriterOptions;

  constructor(options: ShardedWriterOptions) {
    this.#options = options;
  }

  async store(range: Range, again: boolean): Promise<Stored> {
    return (await this.#writerOf(range.partition)).store(range, again);
  }

  async joins(): Promise<boolean> {
    return (await Promise.all(this.#options.writers.map((writer) => writer.joins()))).every(Boolean);
  }

  async storeJointly(id: string, ranges: readonly Range[]): Promise<void> {
    const parts = new Map<RangeStore, Range[]>();
    for (const range of ranges) {
      const writer = await this.#writerOf(range.partition);
      parts.set(writer, [...(parts.get(writer) ?? []), range]);
    }
    const results = await Promise.allSettled([...parts].map(([writer, own]) => writer.storeJointly(id, own)));
    // what other shards have stored is in doubt too, and found there by those who repeat it
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async fence(id: string, partition: number): Promise<void> {
    return (await this.#writerOf(partition)).fence(id, partition);
  }

  async highest(partition: number, from: number, since: number | null): Promise<number> {
    return (await this.#writerOf(partition)).highest(partition, from, since);
  }

  async #writerOf(partition: number): Promise<RangeStore> {
    const shard = await this.#options.shardOf(partition);
    const writer = this.#options.writers[shard];
    if (writer === undefined)
      throw new Error(`BUG: Partition ${String(partition)} lies in shard ${String(shard + 1)}, which there is none.`);
    return writer;
  }
}
