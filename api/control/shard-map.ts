import { storeUnavailable } from '../../pipeline/core/errors.ts';
import type { ControlStore } from './control-store.ts';
import { shardsKey, type ShardsRecord } from './records.ts';

export type ShardMapOptions = {
  readonly control: Pick<ControlStore, 'ready' | 'record' | 'write'>;
  readonly set: string;
  /** How many the set has. */
  readonly shards: number;
  /** Partitions of which something was stored before the set had several shards: in the first one. */
  readonly stored: () => Promise<ReadonlySet<number>>;
  /** The ids of the shards' servers, in their order. */
  readonly servers: () => Promise<readonly string[]>;
};

/**
 * In which shard of a set each partition of the log's topics is stored. A partition gets its shard before anything of it is stored, by whichever sink
 * reads it first, and keeps it for ever: a new shard gets partitions that are added, and what is stored stays where it is.
 */
export class ShardMap {
  readonly #options: ShardMapOptions;

  constructor(options: ShardMapOptions) {
    this.#options = options;
  }

  /** The shard of a partition, counted from 0. Throws HttpError 503 where that cannot be known now, and an Error where the set has it no more. */
  async shardOf(partition: number): Promise<number> {
    const { shards, set } = this.#options;
    const shard = this.#record?.partitions[partition] ?? (await this.#place(partition));
    if (shard >= shards) throw new Error(shardLeftOut(set, shard + 1, shards));
    return shard;
  }

  get #record(): ShardsRecord | undefined {
    return shardsOf(this.#options.control, this.#options.set);
  }

  async #place(partition: number): Promise<number> {
    const { control, set, shards, stored, servers } = this.#options;
    if (!control.ready) throw storeUnavailable();
    const [before, ids] = await Promise.all([stored(), servers()]);
    const { partitions } = await control.write<ShardsRecord>(
      shardsKey(set),
      () => this.#record,
      (current) => {
        const placedBefore = current?.partitions ?? [];
        // what is stored already is placed with the first one; later ones do not look at it
        const last = placedBefore.length === 0 ? Math.max(partition, ...before) : partition;
        const all = placed(placedBefore, last, shards, before);
        const known = current?.servers ?? [];
        return { set, partitions: all, servers: [...known, ...ids.slice(known.length, Math.max(...all) + 1)] };
      },
    );
    return partitions[partition] ?? 0;
  }
}

/** The shards of partitions up to this one: of those that have none, what is stored already says it; else it is the shard with the fewest. */
function placed(known: readonly number[], last: number, shards: number, stored: ReadonlySet<number>): readonly number[] {
  const all = [...known];
  const counts = Array.from({ length: shards }, (_none, shard) => known.filter((one) => one === shard).length);
  for (let partition = all.length; partition <= last; partition++) {
    const shard = stored.has(partition) ? 0 : counts.indexOf(Math.min(...counts));
    counts[shard] = (counts[shard] ?? 0) + 1;
    all.push(shard);
  }
  return all;
}

/** What is known of a set's servers; undefined where nothing is. */
export const shardsOf = (control: Pick<ControlStore, 'record'>, set: string): ShardsRecord | undefined =>
  control.record(shardsKey(set)) as ShardsRecord | undefined;

/** How many shards have partitions: those that the file must name. */
export const shardsInUse = (control: Pick<ControlStore, 'record'>, set: string): number =>
  Math.max(0, ...(shardsOf(control, set)?.partitions ?? [])) + 1;

/** Whether partitions of a set have their shards. One that has always had a single server has none that do. */
export const hasPlaced = (control: Pick<ControlStore, 'record'>, set: string): boolean =>
  (shardsOf(control, set)?.partitions ?? []).length > 0;

/** The sentence about a set whose file has fewer shards than have partitions. */
export const shardLeftOut = (set: string, shard: number, shards: number): string =>
  `The set ${set} has partitions in its shard ${String(shard)}, and LOGWEIR_CLICKHOUSE_SETS_FILE names ${String(shards)}: a shard that has partitions cannot be left out.`;
