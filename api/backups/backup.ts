import { randomUUID } from 'node:crypto';
import type { Turn } from '../../pipeline/bus/consumer/turn.ts';
import { packageVersion } from '../../pipeline/core/package-root.ts';
import { runEngineBackup, withSettings } from '../../pipeline/store/engine-backup.ts';
import { FORMAT, renderManifest, type BackedUpTable, type Manifest } from './manifest.ts';
import type { Place } from './place.ts';
import { IN_BACKUP, inTurn, tableName, withDatabase, type BackupSources, type Report, type Statements } from './sources.ts';

/** What is done in a turn, and where. */
export type Work = { readonly place: Place; readonly report: Report; readonly turn: Turn };

/** Engines whose tables one server has whole. */
const OWN_ENGINES = ['MergeTree', 'ReplacingMergeTree'];

/**
 * Backs the tables up while all goes on. First it is noted what the sinks have stored, then the tables are copied, then the copy is opened and
 * counted, and last the manifest is written: what has none is no backup, and nothing of it is restored. Rejects with a sentence.
 */
export const backUp = (sources: BackupSources, place: Place, report: Report): Promise<Manifest> =>
  inTurn(sources, (turn) => copyTables(sources, { place, report, turn }));

async function copyTables(sources: BackupSources, { place, report, turn }: Work): Promise<Manifest> {
  const { groups, server, database } = sources;
  report('noting what the sinks have stored');
  const { cluster, positions } = await groups.note();
  const madeAt = new Date().toISOString();
  const names = await tablesOf(server, database);
  const [row] = await server.ownerRows(`SELECT max(number) FROM ${tableName(database, 'migrations')}`);
  const copied = names.map((name) => `TABLE ${tableName(database, name)} AS ${tableName(IN_BACKUP, name)}`).join(', ');
  report('copying the tables');
  await runEngineBackup(server, `BACKUP ${copied} TO ${place.of('tables')}${withSettings(place.settings)}`, ({ doneBytes, bytes }) => {
    report('copying the tables', { bytes: doneBytes, of: bytes });
  });
  await turn.confirm();
  report('opening the copy');
  const view = `${database}_backup`;
  const tables = await withDatabase(server, view, { place, part: 'tables' }, () => countTables(server, view));
  const manifest: Manifest = {
    ...{ format: FORMAT, program: packageVersion(), schema: Number(row?.[0]), database, madeAt, cluster },
    tables: names.map((name) => tables.get(name) ?? { name, rows: 0, bytes: 0, parts: 0 }),
    positions,
  };
  await turn.confirm();
  report('writing the manifest');
  await writeManifest(server, view, place, manifest);
  return manifest;
}

/** What the tables of a database have, of those that have anything. */
export async function countTables(server: Statements, database: string): Promise<Map<string, BackedUpTable>> {
  const rows = await server.ownerRows(
    'SELECT table, toString(sum(rows)), toString(sum(bytes_on_disk)), toString(count()) FROM system.parts WHERE database = {database:String} AND active GROUP BY table',
    { database },
  );
  return new Map(rows.map(([name, ...numbers]) => {
    const [count = 0, bytes = 0, parts = 0] = numbers.map(Number);
    return [String(name), { name: String(name), rows: count, bytes, parts }];
  })); // prettier-ignore
}

/** The tables with rows; a trial table of a sink has none. Throws where a server does not have its tables alone. */
async function tablesOf(server: Statements, database: string): Promise<string[]> {
  const rows = await server.ownerRows(
    "SELECT name, engine FROM system.tables WHERE database = {database:String} AND engine LIKE '%MergeTree' ORDER BY name",
    { database },
  );
  const shared = rows.find(([, engine]) => !OWN_ENGINES.includes(String(engine)));
  if (shared !== undefined)
    throw new Error(
      `The table ${String(shared[0])} is ${String(shared[1])}, which servers share: back it up with the server's own BACKUP … ON CLUSTER (docs/operations.md).`,
    );
  if (rows.length === 0) throw new Error(`The database ${database} has no tables.`);
  return rows.map(([name]) => String(name));
}

/** A backup of its own, of a table with one row: it is there whole or not at all, on a disk as on S3. */
async function writeManifest(server: Statements, database: string, place: Place, manifest: Manifest): Promise<void> {
  const { text, digest } = renderManifest(manifest);
  await withDatabase(server, database, null, async () => {
    const table = tableName(database, 'manifest');
    await server.command(`CREATE TABLE ${table} (text String, digest String) ENGINE = MergeTree ORDER BY tuple()`);
    await server.insert(`INSERT INTO ${table} FORMAT JSONEachRow`, [Buffer.from(`${JSON.stringify({ text, digest })}\n`)], {
      queryId: `manifest-${randomUUID()}`,
      settings: { async_insert: 0 },
    });
    const copied = `TABLE ${table} AS ${tableName(IN_BACKUP, 'manifest')}`;
    await runEngineBackup(server, `BACKUP ${copied} TO ${place.of('manifest')}${withSettings(place.settings)}`);
  });
}
