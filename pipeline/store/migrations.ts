import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../core/package-root.ts';
import type { Store } from './client.ts';

const FILE = /^(\d{3})_[a-z0-9_]+\.sql$/;

/**
 * Creates the database and applies the files of `schema/` that it has not seen, in the order of their numbers. Each file is one
 * statement and safe to repeat, so two nodes may migrate at once. Returns the numbers applied.
 */
export async function migrate(store: Store): Promise<number[]> {
  await store.createDatabase();
  await store.command(
    'CREATE TABLE IF NOT EXISTS migrations (number UInt16, name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY number',
  );
  const done = new Set((await store.ownerRows('SELECT number FROM migrations')).map(([number]) => Number(number)));
  const applied: number[] = [];
  const folder = path.join(packageRoot(), 'pipeline/store/schema');
  for (const file of (await readdir(folder)).sort()) {
    const number = Number(FILE.exec(file)?.[1] ?? NaN);
    if (!Number.isInteger(number) || done.has(number)) continue;
    await store.command(await readFile(path.join(folder, file), 'utf8'));
    await store.command(`INSERT INTO migrations (number, name) VALUES (${String(number)}, '${file}')`);
    applied.push(number);
  }
  return applied;
}
