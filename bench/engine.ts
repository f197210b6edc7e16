import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '../test/e2e/instance.ts';

/** Runs a statement on the instance's ClickHouse, as its owner. */
export async function ask(instance: Pick<Instance, 'dataDir'>, statement: string): Promise<string> {
  const read = (name: string): string => readFileSync(path.join(instance.dataDir, 'clickhouse', name), 'utf8').trim();
  const { password } = JSON.parse(read('secrets.json')) as { password: string };
  const headers = { 'X-ClickHouse-User': 'logweir', 'X-ClickHouse-Key': password, 'X-ClickHouse-Database': 'logweir' };
  return (await (await fetch(read('url'), { method: 'POST', body: statement, headers })).text()).trim();
}

/** Resolves when ClickHouse has nothing more to merge. */
export async function merged(instance: Pick<Instance, 'dataDir'>): Promise<void> {
  for (let quiet = 0; quiet < 4;) {
    quiet = (await ask(instance, 'SELECT count() FROM system.merges')) === '0' ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
