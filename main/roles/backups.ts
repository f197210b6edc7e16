import type { AdminRoute } from '../../api/admin/admin-routes.ts';
import { backupRoutes } from '../../api/backups/routes.ts';
import { kafkaSinkGroups } from '../../api/backups/sink-groups.ts';
import type { BackupSources } from '../../api/backups/sources.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { Store } from '../../pipeline/store/client.ts';
import { newestMigration } from '../../pipeline/store/migrations.ts';
import { makeTables, sinksOf, type StoredSignal } from '../signals.ts';

import type { RoleContext } from './role.ts';
import { sinkGroup } from './sink-group.ts';

/** A database that every server has: the one of the tables is replaced by a restore. */
const ALWAYS_THERE = 'system';

/** The routes that back up and restore the tables of all signals. */
export function createBackupRoutes({ config, log }: RoleContext, stored: readonly StoredSignal[]): AdminRoute[] {
  const { clickhouse, backups } = config;
  const using = async (database: string, use: (store: Store) => Promise<void>): Promise<void> => {
    const store = new Store({ ...clickhouse, database });
    try {
      await use(store);
    } finally {
      await store.close();
    }
  };
  const filled = sinksOf(stored).map(({ name, table, signal }) => ({
    sink: name,
    table,
    topic: signal.topic.name,
    groupId: sinkGroup(name),
  }));
  const open = async (): Promise<BackupSources> => ({
    groups: kafkaSinkGroups(createKafka({ ...config.kafka, clientId: 'logweir-backup', log }), filled),
    filled,
    log: log.child({ component: 'backup' }),
    database: clickhouse.database,
    server: new Store({ ...clickhouse, database: ALWAYS_THERE }),
    newestSchema: await newestMigration(),
    prepare: (database) => using(database, (store) => makeTables(store, stored)),
  });
  let opened: Promise<BackupSources> | null = null;
  return backupRoutes(() => (opened ??= open()), backups.s3);
}
