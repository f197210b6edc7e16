import { tableName, type BackupSources } from './sources.ts';

/** As many as a topic has partitions at most: partitions of a log that no longer exists are counted behind those. */
const MOST_PARTITIONS = 2048;
/** A table has rows of all its partitions. */
const SETTINGS = { max_partitions_per_insert_block: '5000', max_execution_time: 0 };

/** Tables whose rows count segments of a log's partitions, by the table whose log that is. */
const COUNTS: Readonly<Record<string, string>> = { pattern_counts: 'logs', span_counts: 'spans' };

/**
 * Sets apart, in a restored database, what counts the segments of a log that is another one now, whose segments begin at 0 again: readers take
 * segments of one number for the same. `others`: the topics of such logs.
 * Rows of patterns and spans become those of partitions that the log does not have. `volume` is emptied, since it is compared with positions of the
 * log, and for the time of the entries that are there each tenant has a row that has them counted themselves (scope 4).
 */
export async function setApart({ server, filled }: BackupSources, database: string, others: readonly string[]): Promise<void> {
  const isOther = (table: string): boolean => filled.some((one) => one.table === table && others.includes(one.topic));
  for (const [table, counted] of Object.entries(COUNTS)) {
    if (!isOther(counted) || !filled.some((one) => one.table === table)) continue;
    const [name, fresh] = [tableName(database, table), tableName(database, `${table}_apart`)];
    await server.command(`CREATE TABLE ${fresh} AS ${name}`);
    await server.command(
      `INSERT INTO ${fresh} SELECT * REPLACE (log_part + ${String(MOST_PARTITIONS)} AS log_part) FROM ${name}`,
      SETTINGS,
    );
    await server.command(`EXCHANGE TABLES ${name} AND ${fresh}`);
    await server.command(`DROP TABLE ${fresh} SYNC`);
  }
  if (!isOther('logs')) return;
  const [volume, logs] = [tableName(database, 'volume'), tableName(database, 'logs')];
  await server.command(`TRUNCATE TABLE ${volume} SYNC`);
  await server.command(
    `INSERT INTO ${volume} (tenant_id, scope, span, time, stream_id, retention_days, entries, arrived, kafka_idx)
SELECT 0, 4, 60, toStartOfMinute(max(_time)), tenant_id, if(min(retention_days) = 0, 0, max(retention_days)),
  dateDiff('second', toStartOfMinute(min(_time)), toStartOfMinute(max(_time))), now64(3), rowNumberInAllBlocks() FROM ${logs} GROUP BY tenant_id`,
    SETTINGS,
  );
}
