import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../core/package-root.ts';
import type { Store } from './client.ts';

const FILE = /^(\d{3})_[a-z0-9_]+\.sql$/;

/**
 * Creates the database and applies the files of `schema/` that it has not seen, in the order of their numbers. Each file is one
 * statement and safe to repeat, so two nodes may migrate at once. Returns the numbers applied. A database whose tables come from other
 * files under the same numbers is refused with a sentence, and nothing in it is changed. `last`: the file to stop behind, as an earlier version does.
 */
export async function migrate(store: Store, last = Infinity): Promise<number[]> {
  const files = await schemaFiles();
  await store.createDatabase();
  await store.command(
    'CREATE TABLE IF NOT EXISTS migrations (number UInt16, name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY number',
  );
  const rows = await store.ownerRows('SELECT number, name FROM migrations');
  const done = new Map(rows.map(([number, name]) => [Number(number), String(name)]));
  const other = files.find(({ number, name }) => done.has(number) && done.get(number) !== name);
  if (other !== undefined) throw new Error(otherLayout(store.database, done.get(other.number) ?? ''));
  const fresh = files.filter(({ number }) => number <= last && !done.has(number));
  for (const { number, name } of fresh) {
    await store.command(await readFile(path.join(schemaFolder(), name), 'utf8'));
    await store.command(`INSERT INTO migrations (number, name) VALUES (${String(number)}, '${name}')`);
  }
  return fresh.map(({ number }) => number);
}

/** The tables of a database: whether all files of `schema/` were applied, and when the first one was (milliseconds); null: no tables. */
export async function migrated(
  store: Pick<Store, 'ownerRows'>,
  signal: AbortSignal,
): Promise<{ readonly isWhole: boolean; readonly since: number | null }> {
  const rows = await store.ownerRows('SELECT number, toUnixTimestamp(applied_at) FROM migrations', {}, signal);
  const done = new Map(rows.map(([number, at]) => [Number(number), Number(at) * 1000]));
  const isWhole = (await schemaFiles()).every(({ number }) => done.has(number));
  return { isWhole, since: done.size === 0 ? null : Math.min(...done.values()) };
}

const schemaFolder = (): string => path.join(packageRoot(), 'pipeline/store/schema');

async function schemaFiles(): Promise<readonly { readonly number: number; readonly name: string }[]> {
  return (await readdir(schemaFolder())).sort().flatMap((name) => {
    const number = FILE.exec(name)?.[1];
    return number === undefined ? [] : [{ number: Number(number), name }];
  });
}

/** The number of the last file of this version. */
export const newestMigration = async (): Promise<number> => (await schemaFiles()).at(-1)?.number ?? 0;

const otherLayout = (database: string, name: string): string =>
  `The ClickHouse database ${database} has the tables of an earlier layout (${name}), which this version does not read; start with an empty data directory (LOGWEIR_DATA_DIR), or name an empty database in LOGWEIR_CLICKHOUSE_DATABASE.`;
