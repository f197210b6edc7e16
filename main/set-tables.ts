import type { ColdTier } from '../pipeline/core/config-cold.ts';
import { FIRST_SET, type StoreSet } from '../pipeline/core/config-sets.ts';
import type { Store } from '../pipeline/store/client.ts';
import { makeFrontTables, refuseShard } from '../pipeline/store/front-tables.ts';
import { giveServerId } from '../pipeline/store/server-id.ts';
import { makeTables, type StoredSignal } from './signals.ts';

/** The signals whose tables are made, when their old rows move (null: nothing is changed), and whether the set is one of several: its server gets an id then. */
export type Tables = { readonly stored: readonly StoredSignal[]; readonly cold: ColdTier | null; readonly isOneOfSeveral: boolean };

/** Makes the tables of a set in one of its shards, and those through which all are read. Safe to repeat, and at once from several nodes. */
export async function makeShardTables(
  { name, cluster, clickhouse: { front } }: StoreSet,
  shard: Store,
  { stored, cold, isOneOfSeveral }: Tables,
): Promise<void> {
  if (cluster === null && name !== FIRST_SET) {
    // the query below runs in the database, which a new set does not have yet
    await shard.createDatabase();
    await refuseShard(shard);
  }
  await makeTables(shard, stored, cold);
  if (cluster === null && isOneOfSeveral) await giveServerId(shard);
  if (cluster !== null && front !== undefined) await makeFrontTables(shard, front, cluster);
}
