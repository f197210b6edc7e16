import type { AdminRoute } from '../../api/admin/admin-routes.ts';
import { backupRoutes } from '../../api/backups/routes.ts';
import { kafkaSinkGroups } from '../../api/backups/sink-groups.ts';
import type { BackupSources } from '../../api/backups/sources.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import { replaceServer } from '../../api/control/set-servers.ts';
import { shardsOf } from '../../api/control/shard-map.ts';
import { takeTurn } from '../../pipeline/bus/consumer/turn.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { FIRST_SET, type ClickHouseAccess, type StoreSet } from '../../pipeline/core/config-sets.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { Store } from '../../pipeline/store/client.ts';
import { newestMigration } from '../../pipeline/store/migrations.ts';
import { giveServerId } from '../../pipeline/store/server-id.ts';
import { makeTables, sinksOf, type StoredSignal } from '../signals.ts';
import type { RoleContext } from './role.ts';
import { idsOf } from './set-servers.ts';
import { sinkGroup } from './sink-group.ts';

/** A database that every server has: the one of the tables is replaced by a restore. */
const ALWAYS_THERE = 'system';

/** The routes that back up and restore the tables of all signals, of any set, also of one that is out. */
export function createBackupRoutes(context: RoleContext, stored: readonly StoredSignal[], control: ControlStore): AdminRoute[] {
  const { knownSets, backups } = context.config;
  const opened = new Map<string, Promise<BackupSources>>();
  const sourcesOf = (name = FIRST_SET): Promise<BackupSources> => {
    const set = knownSets.find((one) => one.name === name);
    if (set === undefined)
      throw invalidParameter(`There is no set ${JSON.stringify(name)}; there is ${knownSets.map((one) => one.name).join(', ')}.`);
    if (set.shards.length > 1)
      throw invalidParameter(
        `The set ${name} has shards, which a backup does not hold together: back up another set, or each ClickHouse by itself.`,
      );
    const sources = opened.get(name) ?? sourcesOfSet(context, set, stored, control);
    opened.set(name, sources);
    return sources;
  };
  return backupRoutes(sourcesOf, { ...backups.named, disk: backups.disk });
}

async function sourcesOfSet(
  { config, log }: RoleContext,
  { name, clickhouse }: StoreSet,
  stored: readonly StoredSignal[],
  control: ControlStore,
): Promise<BackupSources> {
  const filled = sinksOf(stored).map(({ name: sink, table, signal }) => ({
    ...{ sink, table, topic: signal.topic.name },
    groupId: sinkGroup(sink, name),
  }));
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-backup', log });
  return {
    groups: kafkaSinkGroups(kafka, filled),
    takeTurn: () =>
      takeTurn(kafka, { groupId: `logweir-backup-${name}`, taken: `Another node backs up or restores the set ${name}: one at a time.` }),
    filled,
    log: log.child({ component: 'backup' }),
    database: clickhouse.database,
    server: new Store({ ...clickhouse, database: ALWAYS_THERE }),
    newestSchema: await newestMigration(),
    prepare: (database) => within({ ...clickhouse, database }, (store) => makeTables(store, stored, config.cold.tier)),
    identify: (database) =>
      within({ ...clickhouse, database }, async (store) => {
        // of one set alone no server is known, unless it was one of several
        if (config.knownSets.length === 1 && shardsOf(control, name) === undefined) return;
        await giveServerId(store);
        const [id = ''] = await idsOf([store]);
        await replaceServer(control, name, id);
      }),
  };
}

/** What is done in a database that is there for it. */
async function within(access: ClickHouseAccess, use: (store: Store) => Promise<void>): Promise<void> {
  const store = new Store(access);
  try {
    await use(store);
  } finally {
    await store.close();
  }
}
