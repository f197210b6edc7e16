import { runEngineBackup, withSettings } from '../../pipeline/store/engine-backup.ts';
import { countTables, type Work } from './backup.ts';
import { readManifest, type Manifest } from './manifest.ts';
import { setApart } from './other-log.ts';
import type { Place } from './place.ts';
import { resumeFrom, type Expired, type Resumption } from './positions.ts';
import { IN_BACKUP, inTurn, tableName, withDatabase, type BackupSources, type Report } from './sources.ts';

/** What `samples` is made with; a backup does not have it. */
const RESTORE_SETTINGS = { allow_suspicious_low_cardinality_types: '1' };
/** Tables that have rows of no tenant, and may have some in a database that counts as empty. */
const OWN_TABLES = ['migrations', 'insert_fences'];

/** What a restore has brought, and what the sinks do next. */
export type Restored = {
  readonly manifest: Manifest;
  readonly rows: number;
  readonly bytes: number;
  /** How many records the sinks read again. */
  readonly again: number;
  /** How many records Kafka has no more that are not in the backup either; some may have had no rows. */
  readonly lost: number;
  /** Sentences about the log. */
  readonly notes: readonly string[];
};

/**
 * Restores a backup into a database without rows, while no sink runs. All is done beside that database, which is replaced last; before that, the
 * sinks' groups are put back to where they stood when the backup began. So whatever ends this early, the log has what is not stored, and the
 * restore can be repeated. Rejects with a sentence.
 */
export const restore = (sources: BackupSources, place: Place, report: Report): Promise<Restored> =>
  inTurn(sources, (turn) => restoreTables(sources, { place, report, turn }));

async function restoreTables(sources: BackupSources, { place, report, turn }: Work): Promise<Restored> {
  const { server, database, groups, filled, log } = sources;
  report('reading the manifest');
  const manifest = await readManifestAt(sources, place);
  report('looking at what is there');
  await assertCanBegin(sources);
  const scratch = `${database}_restoring`;
  await server.command(`DROP DATABASE IF EXISTS \`${scratch}\` SYNC`);
  await server.command(`CREATE DATABASE \`${scratch}\``);
  const copied = manifest.tables.map(({ name }) => `TABLE ${tableName(IN_BACKUP, name)} AS ${tableName(scratch, name)}`).join(', ');
  report('copying the tables');
  const settings = withSettings({ ...place.settings, ...RESTORE_SETTINGS });
  await runEngineBackup(server, `RESTORE ${copied} FROM ${place.of('tables')}${settings}`, ({ doneBytes, bytes }) => {
    report('copying the tables', { bytes: doneBytes, of: bytes });
  });
  await turn.confirm();
  report('bringing the tables to this version');
  await sources.prepare(scratch);
  const tables = [...(await countTables(server, scratch)).values()];
  report('putting the sinks back to where they stood');
  const resumption = resumeFrom(filled, manifest, await groups.logs());
  const { lost, notes } = await lossesOf(sources, scratch, manifest, resumption);
  await setApart(sources, scratch, resumption.otherLogs);
  await assertCanBegin(sources);
  await turn.confirm();
  await sources.identify(scratch);
  report('replacing the database');
  // in this order: a sink that begins in between can store nothing, and has Kafka refuse the positions
  await server.command(`DROP DATABASE IF EXISTS \`${database}\` SYNC`);
  await groups.put(resumption.groups);
  await server.command(`RENAME DATABASE \`${scratch}\` TO \`${database}\``);
  const sum = (of: (table: (typeof tables)[number]) => number): number => tables.reduce((total, table) => total + of(table), 0);
  const restored = { manifest, rows: sum(({ rows }) => rows), bytes: sum(({ bytes }) => bytes), again: resumption.again, lost, notes };
  log.info({ rows: restored.rows, again: restored.again, lost, notes }, 'A backup was restored.');
  return restored;
}

/** Reads the manifest where it lies; what lies elsewhere, or was not ended, has none. */
async function readManifestAt({ server, database, newestSchema }: BackupSources, place: Place): Promise<Manifest> {
  const view = `${database}_backup`;
  const row = await withDatabase(server, view, { place, part: 'manifest' }, async () => {
    const [found] = await server.ownerRows(`SELECT text, digest FROM ${tableName(view, 'manifest')}`);
    return found;
  }).catch((error: unknown) => {
    throw new Error(`There is no whole backup of Logweir: its manifest cannot be read (${sentenceOf(error)}).`, { cause: error });
  });
  return readManifest(String(row?.[0]), String(row?.[1]), newestSchema);
}

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).trim().replace(/\.$/, '');

/** Throws an Error with a sentence unless nothing can be overwritten: the database has no rows, and no sink runs that could write some. */
async function assertCanBegin({ groups, server, database }: BackupSources): Promise<void> {
  const running = await groups.running();
  if (running.length > 0)
    throw new Error(
      `Sinks run (${running.join(', ')}): a backup is restored while none does. Stop all instances with the role sink, and start one with --role ingest,app,processors, or take out the set that is restored (docs/sets.md); a sink that was killed counts as running for 10 s more.`,
    );
  const filledTables = [...(await countTables(server, database)).values()].filter(
    ({ name, rows }) => rows > 0 && !OWN_TABLES.includes(name),
  );
  const first = filledTables[0];
  if (first !== undefined)
    throw new Error(
      `The database ${database} is not empty: ${first.name} has ${String(first.rows)} rows. A backup is restored into an empty one: name another in LOGWEIR_CLICKHOUSE_DATABASE, or drop this one.`,
    );
}

/** What an operator must know of the log: what of it is gone, and what is another one. */
async function lossesOf(
  sources: BackupSources,
  scratch: string,
  { cluster }: Manifest,
  { expired, otherLogs }: Resumption,
): Promise<Pick<Restored, 'lost' | 'notes'>> {
  let lost = 0;
  const notes: string[] = [];
  for (const gap of expired) {
    const [all, stored] = [gap.to - gap.from, await storedOf(sources, scratch, gap)];
    lost += all - stored;
    notes.push(
      `Kafka has no more the records ${String(gap.from)} to ${String(gap.to - 1)} of ${gap.topic}, partition ${String(gap.partition)}: ${String(stored)} of ${String(all)} are in the backup.`,
    );
  }
  if (otherLogs.length > 0)
    notes.push(
      `The log of ${otherLogs.join(', ')} is not that of the backup (Kafka cluster ${cluster}): positions start again at its beginning, and what is on it is compared by append time, so offsets that are used again are not taken for stored.`,
    );
  return { lost, notes };
}

/** How many of these records have rows. */
async function storedOf({ server }: BackupSources, scratch: string, { table, partition, from, to }: Expired): Promise<number> {
  const [row] = await server.ownerRows(
    `SELECT toString(uniqExact(kafka_off)) FROM ${tableName(scratch, table)} WHERE kafka_part = {partition:UInt16} AND kafka_off >= {from:UInt64} AND kafka_off < {to:UInt64}`,
    { partition, from, to },
  );
  return Number(row?.[0] ?? 0);
}
