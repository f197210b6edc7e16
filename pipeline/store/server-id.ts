import { ClickHouseError } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import type { Store } from './client.ts';

/** Tells the only server of a set from others: a table without rows whose definition has the id, since an owner need not have the right to make views. */
const OF_ONE = 'server_id';
/** Tells a shard from others: a view of one row, its id, which is read over all shards. */
export const OF_SHARD = 'shard_id';
/** The id that a database has been given, by what defines it. One that was alone before it became a shard keeps its id. */
const ID = `SELECT extract(create_table_query, '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}') FROM system.tables
  WHERE database = {database:String} AND name IN ('${OF_SHARD}', '${OF_ONE}') ORDER BY name DESC LIMIT 1`;

/** Statements run in the database, which a server that is new, or has lost its disk, does not have. */
const UNKNOWN_DATABASE = '81';

/** Gives the only server of a set an id, unless it has one: the first who makes it chooses. Safe to repeat, and at once from several nodes. */
export const giveServerId = (store: Pick<Store, 'command'>): Promise<void> =>
  store.command(`CREATE TABLE IF NOT EXISTS ${OF_ONE} (id String DEFAULT '${randomUUID()}') ENGINE = Null`);

/** As `giveServerId`, of a shard. */
export async function giveShardId(store: Pick<Store, 'database' | 'command' | 'ownerRows'>): Promise<void> {
  const known = await serverId(store);
  await store.command(`CREATE VIEW IF NOT EXISTS ${OF_SHARD} AS SELECT '${known === '' ? randomUUID() : known}' AS id`);
}

/** The ids of servers, in their order; empty for one that has none: it is new, or has lost its tables. */
export const serverIds = (stores: readonly Pick<Store, 'database' | 'ownerRows'>[], signal?: AbortSignal): Promise<readonly string[]> =>
  Promise.all(stores.map((store) => serverId(store, signal)));

async function serverId(store: Pick<Store, 'database' | 'ownerRows'>, signal?: AbortSignal): Promise<string> {
  try {
    const [row] = await store.ownerRows(ID, { database: store.database }, signal);
    return row === undefined ? '' : String(row[0]);
  } catch (error) {
    if (error instanceof ClickHouseError && error.code === UNKNOWN_DATABASE) return '';
    throw error;
  }
}
