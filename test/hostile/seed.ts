import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sendAll } from '../../bench/load.ts';
import { until, type Instance } from '../e2e/instance.ts';
import type { Target } from './attack.ts';
import type { DoorUrls } from './doors.ts';

export type Tenant = { readonly id: number; readonly key: string };

const BATCH = 4000;
const CONNECTIONS = 4;
const HOUR_MS = 3_600_000;
/** What is sent lies within so long before now, or before the range of its kind. */
const SPREAD_MS = 1_800_000;
const LARGE_ENTRIES = 60;
const WIDE_ENTRIES = 400;
const WIDE_FIELDS = 500;

/** A request of the admin routes. Throws where it was refused. */
async function admin<Body>(instance: Instance, method: string, at: string, body: object): Promise<Body> {
  const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
  const answer = await instance.call(method, `${instance.admin}/admin${at}`, body, { Authorization: `Bearer ${token}` });
  if (answer.status > 299) throw new Error(`${method} ${at} was answered ${String(answer.status)}: ${JSON.stringify(answer.body)}`);
  return answer.body as Body;
}

/** A tenant without limits. */
export async function createTenant(instance: Instance, name: string): Promise<Tenant> {
  const made = await admin<{ tenant_id: number; key: string }>(instance, 'POST', '/tenants', { name, plan: 'unlimited' });
  return { id: made.tenant_id, key: made.key };
}

/** Puts a tenant on a plan. */
export const setPlan = (instance: Instance, { id }: Tenant, plan: string): Promise<unknown> =>
  admin(instance, 'PUT', `/tenants/${String(id)}/plan`, { plan });

const small = (index: number, at: number): object => ({
  _time: new Date(at).toISOString(),
  _msg: `request ${String(index)} of checkout for user u${String(index % 997)} took ${String(index % 89)} ms`,
  app: `a${String(index % 7)}`,
  level: index % 50 === 0 ? 'error' : 'info',
  n: index,
  // a value of its own for each entry
  u: String(index),
});
const words = (count: number): string => Array.from({ length: count }, (_none, index) => `w${String(index)}=1`).join(' ');
const parts = (index: number, at: number): object => ({
  _time: new Date(at).toISOString(),
  _msg: `parts ${String(index)}`,
  ...(index % 3 === 0
    ? { j: `[${'1,'.repeat(900_000)}1]` }
    : index % 3 === 1
      ? { o: `{${Array.from({ length: 150_000 }, (_none, name) => `"${String(name)}":1`).join(',')}}` }
      : { w: words(180_000) }),
});
const wide = (index: number, at: number): object =>
  Object.fromEntries<unknown>([
    ['_time', new Date(at).toISOString()],
    ['_msg', `wide ${String(index)}`],
    ...Array.from({ length: WIDE_FIELDS }, (_none, field) => [`f${String(index % 20)}_${String(field)}`, String(index)] as const),
  ]);
const large = (index: number, at: number): object => ({
  _time: new Date(at).toISOString(),
  _msg: `large ${String(index)} ${'some words of a large message '.repeat(63_000)}`,
  n: index,
});

/** Writes entries of a kind, so many a body, and waits until they are found. */
async function write(
  instance: Instance,
  tenant: Tenant,
  made: { count: number; batch: number; hoursAgo: number; entry: typeof small },
): Promise<void> {
  const { count, batch, hoursAgo, entry } = made;
  const began = Date.now() - hoursAgo * HOUR_MS;
  const at = (index: number): number => began - SPREAD_MS + Math.floor((SPREAD_MS * index) / count);
  await sendAll({
    count: Math.ceil(count / batch),
    connections: CONNECTIONS,
    request: (number) => ({
      url: `${instance.ingest}/api/v1/ingest`,
      key: tenant.key,
      contentType: 'application/x-ndjson',
      body: Buffer.from(
        Array.from({ length: Math.min(batch, count - number * batch) }, (_none, index) => {
          const own = number * batch + index;
          return JSON.stringify(entry(own, at(own)));
        }).join('\n'),
      ),
    }),
  });
}

/** How many entries of a query a tenant finds. */
export async function count(instance: Instance, { id, key }: Tenant, query: string): Promise<number> {
  const asked = { query: `${query} | count() as n`, start: '-1d', end: 'now', limit: 1 };
  const { status, body } = await instance.call('POST', `${instance.app}/api/v1/tenants/${String(id)}/search`, asked, {
    Authorization: `Bearer ${key}`,
  });
  if (status !== 200) throw new Error(`A count was answered ${String(status)}: ${JSON.stringify(body)}`);
  return (body as { logs: { n: number }[] }).logs[0]?.n ?? 0;
}

/** Gives the attacker its entries: many small ones, large ones, ones with many parts, ones with many names. */
export async function seedAttacker(instance: Instance, tenant: Tenant, entries: number): Promise<Omit<Target, keyof DoorUrls>> {
  await write(instance, tenant, { count: entries, batch: BATCH, hoursAgo: 0, entry: small });
  await write(instance, tenant, { count: LARGE_ENTRIES, batch: 1, hoursAgo: 3.5, entry: large });
  await write(instance, tenant, { count: 6, batch: 1, hoursAgo: 5.5, entry: parts });
  await write(instance, tenant, { count: WIDE_ENTRIES, batch: 100, hoursAgo: 7.5, entry: wide });
  const all = entries + LARGE_ENTRIES + 6 + WIDE_ENTRIES;
  await until(
    'the entries of the attacker',
    () => count(instance, tenant, '*'),
    (found) => found === all,
  );
  return { app: instance.app, ingest: instance.ingest, key: tenant.key, tenantId: tenant.id, entries };
}

/** Gives the quiet tenant some entries to find. */
export async function seedQuiet(instance: Instance, tenant: Tenant): Promise<void> {
  await write(instance, tenant, { count: BATCH, batch: BATCH, hoursAgo: 0, entry: small });
  await until(
    'the entries of the quiet tenant',
    () => count(instance, tenant, '*'),
    (found) => found === BATCH,
  );
}
