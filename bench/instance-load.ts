import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Instance } from '../test/e2e/instance.ts';

/** Runs a program of the benchmark folder; resolves with what it printed. */
export function python(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('python3', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`python3 ${args[0] ?? ''} ended with ${String(code)}`))));
  });
}

/** Runs a statement on the instance's ClickHouse, as its owner. */
export async function ask(instance: Instance, statement: string): Promise<string> {
  const read = (name: string): string => readFileSync(path.join(instance.dataDir, 'clickhouse', name), 'utf8').trim();
  const { password } = JSON.parse(read('secrets.json')) as { password: string };
  const headers = { 'X-ClickHouse-User': 'logweir', 'X-ClickHouse-Key': password, 'X-ClickHouse-Database': 'logweir' };
  return (await (await fetch(read('url'), { method: 'POST', body: statement, headers })).text()).trim();
}

/** Waits until ClickHouse has merged what a load left behind, so that what follows is measured alone. */
export async function merged(instance: Instance): Promise<void> {
  for (let quiet = 0; quiet < 4;) {
    quiet = (await ask(instance, 'SELECT count() FROM system.merges')) === '0' ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

export type Tenant = { readonly id: number; readonly key: string };

/** Makes a tenant without limits. */
export async function newTenant(instance: Instance): Promise<Tenant> {
  const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
  const tenant = { name: `bench ${String(Math.random())}`, plan: 'unlimited' };
  const { body } = await instance.call('POST', `${instance.admin}/admin/tenants`, tenant, { Authorization: `Bearer ${token}` });
  const { tenant_id: id, key } = body as { readonly tenant_id: number; readonly key: string };
  return { id, key };
}

/** Makes tenants without limits; gives a key of each. */
export async function createTenants(instance: Instance, count: number): Promise<string[]> {
  const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
  const keys: string[] = [];
  const create = async (): Promise<void> => {
    while (keys.length < count) {
      const at = keys.push('') - 1;
      const body = { name: `t${String(at)}`, plan: 'unlimited' };
      const answer = await instance.call('POST', `${instance.admin}/admin/tenants`, body, { Authorization: `Bearer ${token}` });
      if (answer.status > 299) throw new Error(`No tenant was created: ${JSON.stringify(answer.body)}`);
      keys[at] = (answer.body as { key: string }).key;
      if (at % 1000 === 999) console.error(`${String(at + 1)} tenants`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, create));
  return keys;
}
