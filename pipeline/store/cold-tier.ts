import { COLD_VOLUME, type ColdTier } from '../core/config-cold.ts';
import type { Store } from './client.ts';

/** The tables that grow with what comes, and when a row of each came. */
const TABLES: readonly { readonly table: string; readonly came: string }[] = [
  { table: 'logs', came: 'arrived' },
  { table: 'spans', came: 'arrived' },
  { table: 'samples', came: "fromUnixTimestamp64Milli(toInt64(arrived_ms), 'UTC')" },
  { table: 'replay_chunks', came: 'arrived' },
];

/** How ClickHouse writes the rules of a table: its retention, and behind it the one that moves rows. */
const RULES = /\bTTL (.+?) SETTINGS /s;

/**
 * Makes the tables of a store move what came so many days ago to the cold volume of a storage policy, or none of it any more (0 days): safe to
 * repeat, and at once from several nodes. Age is counted from when rows came, not from their own time: what a sink may still look for, to know
 * whether it is stored, is on the disk. Rejects with a sentence where the server has no such policy.
 */
export async function moveOldRows(store: Pick<Store, 'ownerRows' | 'command'>, { policy, afterDays }: ColdTier): Promise<void> {
  if (afterDays > 0) await checkPolicy(store, policy);
  for (const { table, came } of TABLES) {
    const [row] = await store.ownerRows(
      'SELECT storage_policy, create_table_query FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
      { table },
    );
    const [known, created] = [String(row?.[0]), String(row?.[1])];
    const rules = RULES.exec(created)?.[1];
    if (rules === undefined) throw new Error(`BUG: the table ${table} has no retention: ${created}`);
    const age = `, toDateTime(${came}, 'UTC') + toIntervalDay(`;
    const [retention = ''] = rules.split(age);
    const rule = afterDays === 0 ? '' : `${age}${String(afterDays)}) TO VOLUME '${COLD_VOLUME}'`;
    if (rules === retention + rule) continue;
    // the parts that are there are given the times of the new rule, without being written anew
    const policyOf = afterDays === 0 || known === policy ? '' : `, storage_policy = '${policy}'`;
    await store.command(`ALTER TABLE ${table} MODIFY SETTING materialize_ttl_recalculate_only = 1${policyOf}`);
    await store.command(`ALTER TABLE ${table} MODIFY TTL ${retention}${rule}`);
  }
}

async function checkPolicy(store: Pick<Store, 'ownerRows'>, policy: string): Promise<void> {
  const rows = await store.ownerRows(
    'SELECT volume_name FROM system.storage_policies WHERE policy_name = {policy:String} ORDER BY volume_priority',
    { policy },
  );
  const volumes = rows.map(([name]) => String(name));
  if (volumes[0] === 'default' && volumes.includes(COLD_VOLUME)) return;
  const has = volumes.length === 0 ? 'it has no such policy' : `its volumes are ${volumes.join(', ')}`;
  throw new Error(
    `Rows cannot be moved to a cold volume: the storage policy ${policy} (LOGWEIR_STORAGE_POLICY) of ClickHouse needs "default" as its first volume, and one "${COLD_VOLUME}"; ${has} (docs/tiers.md).`,
  );
}
