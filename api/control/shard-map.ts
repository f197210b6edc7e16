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
        // what is stored already is placed with the first record; later ones do not look at it
        const last = current === undefined ? Math.max(partition, ...before) : partition;
        const all = placed(current?.partitions ?? [], last, shards, before);
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

/** What is known of a set's shards; undefined where it has never had several. */
export const shardsOf = (control: Pick<ControlStore, 'record'>, set: string): ShardsRecord | undefined =>
  control.record(shardsKey(set)) as ShardsRecord | undefined;

/** How many shards have partitions: those that the file must name. */
export const shardsInUse = (control: Pick<ControlStore, 'record'>, set: string): number =>
  Math.max(0, ...(shardsOf(control, set)?.partitions ?? [])) + 1;

/** What is wrong with the servers of a set, by their ids, as the end of a sentence about it; null: those that have partitions are where they were. */
export function serversFault(control: Pick<ControlStore, 'record'>, set: string, ids: readonly string[]): string | null {
  const servers = shardsOf(control, set)?.servers ?? [];
  const other = servers.findIndex((id, shard) => id !== ids[shard]);
  return other < 0
    ? null
    : `has another server as its shard ${String(other + 1)} than the one that stores its partitions, whose shard_id is ${String(servers[other])}: the file names the shards in another order, or that server has lost its tables`;
}

/** The sentence about a set whose file has fewer shards than have partitions. */
export const shardLeftOut = (set: string, shard: number, shards: number): string =>
  `The set ${set} has partitions in its shard ${String(shard)}, and LOGWEIR_CLICKHOUSE_SETS_FILE names ${String(shards)}: a shard that has partitions cannot be left out.`;
