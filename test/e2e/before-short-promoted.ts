import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Store } from '../../pipeline/store/client.ts';
import { until } from './instance.ts';

const LOGS = readFileSync(path.join(import.meta.dirname, '../../pipeline/store/schema/002_logs.sql'), 'utf8');
const COLUMNS = [...LOGS.matchAll(/f_(\w+) LowCardinality\(String\) MATERIALIZED fields\['\w+'\] CODEC\(ZSTD\(1\)\)/g)];
const COUNTS = /PROJECTION hourly \([^()]*(?:\([^()]*(?:\([^()]*\))?[^()]*\)[^()]*)*\)/.exec(LOGS)?.[0] ?? 'absent';

/** Makes the table of entries what it was before 014_short_promoted.sql: promoted columns have values of any length. */
export async function layBeforeShortPromoted(store: Store): Promise<void> {
  const columns = COLUMNS.flatMap(([column, name = '']) => [`MODIFY COLUMN ${column}`, `DROP COLUMN l_${name}`]);
  await store.command(`ALTER TABLE logs DROP PROJECTION hours, ${columns.join(', ')}, ADD ${COUNTS}`, { mutations_sync: '2' });
  await store.command('ALTER TABLE migrations DELETE WHERE number >= 14 SETTINGS mutations_sync = 2');
}

/** Waits until stored parts are as the table is. */
export async function untilMutated(store: Store): Promise<void> {
  const left = "SELECT count() FROM system.mutations WHERE table = 'logs' AND database = currentDatabase() AND NOT is_done";
  await until('the parts of before', async () => Number((await store.ownerRows(left))[0]?.[0]), (count) => count === 0); // prettier-ignore
}

/** Bytes, without compression, of a promoted column in all parts, and of the counts. */
export async function promotedBytes(store: Store, field: string): Promise<{ readonly column: number; readonly counts: number }> {
  const of = async (what: string): Promise<number> => Number((await store.ownerRows(`SELECT ${what} AND active AND table = 'logs' AND database = currentDatabase()`))[0]?.[0]); // prettier-ignore
  return {
    column: await of(`sum(column_data_uncompressed_bytes) FROM system.parts_columns WHERE column = 'f_${field}'`),
    counts: await of('sum(data_uncompressed_bytes) FROM system.projection_parts WHERE 1'),
  };
}
