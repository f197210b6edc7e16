import type { ControlStore } from '../../api/control/control-store.ts';
import { hasPlaced, ShardMap } from '../../api/control/shard-map.ts';
import { queryOnce } from '../../pipeline/bus/connection/admin-connection.ts';
import type { Kafka } from '../../pipeline/bus/connection/kafka.ts';
import { committedBy } from '../../pipeline/bus/reading/group-positions.ts';
import type { StoreSet } from '../../pipeline/core/config-sets.ts';
import type { Store } from '../../pipeline/store/client.ts';
import type { Sink } from '../../sinks/sink.ts';
import { idsOf } from './set-servers.ts';
import { sinkGroup } from './sink-group.ts';

/** How long Kafka may take to return what the sinks of a set have stored. Milliseconds. */
const DEADLINE_MS = 10_000;

export type SetShardsOptions = {
  readonly set: StoreSet;
  readonly sinks: readonly Sink[];
  readonly kafka: Kafka;
  readonly control: ControlStore;
  /** Of each shard. */
  readonly stores: readonly Store[];
};

/** Gives each partition its shard of a set: the first one where the set has something of it from before there was a map. */
export function setShards({ set, sinks, kafka, control, stores }: SetShardsOptions): (partition: number) => Promise<number> {
  const committed = async (): Promise<readonly number[]> => {
    const all = await queryOnce(kafka, DEADLINE_MS, (admin) =>
      Promise.all(sinks.map(({ name, signal }) => committedBy(admin, sinkGroup(name, set.name), signal.topic.name))),
    );
    return all.flatMap((one) => [...one].flatMap(([partition, { offset }]) => (offset < 0 ? [] : [partition])));
  };
  // Kafka forgets what a group has committed that was away for long
  const inTables = async (): Promise<readonly number[]> => {
    const first = stores.slice(0, 1).flatMap((store) => sinks.map(({ table }) => ({ store, table })));
    const rows = await Promise.all(first.map(({ store, table }) => store.ownerRows(`SELECT DISTINCT kafka_part FROM ${table}`)));
    return rows.flat().map(([partition]) => Number(partition));
  };
  const stored = async (): Promise<ReadonlySet<number>> =>
    hasPlaced(control, set.name) ? new Set() : new Set((await Promise.all([committed(), inTables()])).flat());
  const servers = (): Promise<readonly string[]> => idsOf(stores);
  const map = new ShardMap({ control, set: set.name, shards: set.shards.length, stored, servers });
  return (partition) => map.shardOf(partition);
}
