import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from './instance.ts';

/** Runs a statement on the ClickHouse of an instance, as its owner: the rows of its result as texts. */
export async function askClickHouse(instance: Instance, statement: string): Promise<string[][]> {
  const read = (name: string): string => readFileSync(path.join(instance.dataDir, 'clickhouse', name), 'utf8').trim();
  const { password } = JSON.parse(read('secrets.json')) as { password: string };
  const headers = { 'X-ClickHouse-User': 'logweir', 'X-ClickHouse-Key': password, 'X-ClickHouse-Database': 'logweir' };
  const response = await fetch(read('url'), { method: 'POST', body: statement, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => line.split('\t'));
}
