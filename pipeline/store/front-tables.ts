import type { Store } from './client.ts';
import { giveShardId, OF_SHARD } from './server-id.ts';

/** Columns of what reaches over shards: the tables that have rows of tenants, and ids, by table: what a query may name. */
const COLUMNS = `SELECT table, toString(cityHash64(groupArray((name, type, default_kind, default_expression)))) FROM
  (SELECT * FROM system.columns WHERE database = {database:String} ORDER BY table, position)
  GROUP BY table HAVING has(groupArray(name), 'tenant_id') OR table = '${OF_SHARD}' ORDER BY table`;
/** Types of columns are those of the table, however unusual. */
const AS_THEY_ARE = { allow_suspicious_low_cardinality_types: 1 } as const;
/** What ClickHouse knows of the tables that reach over shards. */
const KNOWN = 'SELECT name, engine_full FROM system.tables WHERE database = {database:String}';

/**
 * Makes a database in which each table has the rows of all shards: where the reader of a set runs its queries, so that they are the same with one shard
 * and with several. Each shard has it: what it is sent may name such a table. Safe to repeat, and at once from several nodes; what is as it must be is left alone.
 */
export async function makeFrontTables(
  store: Pick<Store, 'database' | 'ownerRows' | 'command'>,
  front: string,
  cluster: string,
): Promise<void> {
  await store.command(`CREATE DATABASE IF NOT EXISTS ${front}`);
  await giveShardId(store);
  const columns = async (database: string): Promise<Map<string, string>> =>
    new Map((await store.ownerRows(COLUMNS, { database })).map(([table, hash]) => [String(table), String(hash)]));
  const [own, made, known] = await Promise.all([columns(store.database), columns(front), store.ownerRows(KNOWN, { database: front })]);
  const engines = new Map(known.map(([table, engine]) => [String(table), String(engine)]));
  for (const [table, hash] of own) {
    const engine = `Distributed('${cluster}', '${store.database}', '${table}')`;
    if (made.get(table) !== hash || engines.get(table) !== engine)
      await store.command(`CREATE OR REPLACE TABLE ${front}.${table} AS ${store.database}.${table} ENGINE = ${engine}`, AS_THEY_ARE);
  }
}

const idsIn = async (store: Pick<Store, 'ownerRows'>, front: string, signal: AbortSignal): Promise<readonly string[]> =>
  (await store.ownerRows(`SELECT id FROM ${front}.${OF_SHARD}`, {}, signal)).map(([id]) => String(id));

/** Throws where a server that is named alone is one of several shards: partitions that lie in others would be stored twice. */
export async function refuseShard(store: Pick<Store, 'database' | 'ownerRows'>): Promise<void> {
  const [row] = await store.ownerRows(`SELECT count() FROM system.tables WHERE database = {database:String} AND name = '${OF_SHARD}'`, {
    database: store.database,
  });
  if (Number(row?.[0]) > 0) throw new Error('it is one of several shards, and LOGWEIR_CLICKHOUSE_SETS_FILE names it alone');
}

/**
 * What is wrong with the clusters through which shards are read, as the end of a sentence about the set; null: each has just these shards, and each once.
 * With another one, rows would be missing, or be there twice. `ids`: those of the shards; `front`: the database that reaches over all.
 */
export async function clusterFault(
  shards: readonly Pick<Store, 'ownerRows'>[],
  ids: readonly string[],
  front: string,
  signal: AbortSignal,
): Promise<string | null> {
  const clusters = await Promise.all(shards.map((shard) => idsIn(shard, front, signal)));
  if (new Set(ids).size < ids.length) return 'has two shards that are the same server';
  const other = clusters.findIndex((servers) => servers.length !== ids.length || ids.some((id) => !servers.includes(id)));
  return other < 0 ? null : `is read through a cluster that has other servers than its shards, in shard ${String(other + 1)}`;
}
