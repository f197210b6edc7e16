/**
 * `npm run bench:tenants`: what many active tenants cost the processors. Each sends a small request again and again, for so many minutes; then
 * the sizes of topics and states, the memory of processes, and how long each takes to be back after a SIGKILL.
 *   npm run bench:tenants -- [--tenants 10000] [--minutes 10] [--partitions 12] [--streams 1] [--rate 400]
 * `--streams`: how many streams a tenant has; `--rate`: requests a second, of 5 entries each. Prints Markdown tables.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startInstance, type Instance } from '../test/e2e/instance.ts';
import { createTenants } from './instance-load.ts';
import { LoadConnections } from './load.ts';
import { cpuSeconds } from './processes.ts';

const { values: flags } = parseArgs({
  options: {
    tenants: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '10' },
    partitions: { type: 'string', default: '12' },
    streams: { type: 'string', default: '1' },
    rate: { type: 'string', default: '400' },
  },
});
const [tenants, streams, rate] = [Number(flags.tenants), Number(flags.streams), Number(flags.rate)];
const LOAD_MS = Number(flags.minutes) * 60_000;
const ENTRIES = 5;
const CONNECTIONS = 16;
const TURN_MS = 50;
const LEVELS = ['info', 'warn', 'error'];
/** Longer than any restart should take. Milliseconds. */
const MOST_MS = 60_000;

type Status = { readonly processor: string; readonly partition: number; readonly lag: number; readonly snapshot_bytes: number };

const tokenOf = (instance: Instance): string => readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();

async function statuses(instance: Instance): Promise<readonly Status[]> {
  const answer = await fetch(`${instance.admin}/admin/processors`, { headers: { Authorization: `Bearer ${tokenOf(instance)}` } });
  return (await answer.json()) as readonly Status[];
}

function bodyOf(round: number): Buffer {
  const lines = Array.from(
    { length: ENTRIES },
    (_none, n) =>
    JSON.stringify({ _msg: `request ${String(round)} took ${String(n)} ms`, app: `app-${String((round + n) % streams)}`, level: LEVELS[n % 3], status: 200 }), // prettier-ignore
  );
  return Buffer.from(`${lines.join('\n')}\n`);
}

/** Sends `rate` requests a second, each of the next tenant; gives how many entries were taken, and how many requests were not. */
async function load(instance: Instance, keys: readonly string[]): Promise<{ entries: number; refused: number; seconds: number }> {
  const connections = new LoadConnections(CONNECTIONS);
  const [began, sending] = [performance.now(), new Set<Promise<void>>()];
  let [number, entries, refused] = [0, 0, 0];
  const send = async (round: number): Promise<void> => {
    const key = keys[round % keys.length] as string;
    const { status } = await connections.send({ url: `${instance.ingest}/api/v1/ingest`, key, contentType: 'application/x-ndjson', body: bodyOf(Math.floor(round / keys.length) * 7 + round) }); // prettier-ignore
    if (status === 200) entries += ENTRIES;
    else refused += 1;
  };
  for (let told = 0; performance.now() < began + LOAD_MS;) {
    for (const wanted = ((performance.now() - began) / 1000) * rate; number < wanted && sending.size < 4 * CONNECTIONS;) {
      const one = send(number++).finally(() => sending.delete(one));
      sending.add(one);
    }
    if (performance.now() > began + (told + 1) * 60_000) console.error(`${String(++told)} min, ${entries.toLocaleString('en')} entries`);
    await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  }
  await Promise.all(sending);
  connections.close();
  return { entries, refused, seconds: (performance.now() - began) / 1000 };
}

/** How long until a look is as it should be, milliseconds. */
async function until(look: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await look().catch(() => false))) {
    if (performance.now() - began > MOST_MS) return Infinity;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return performance.now() - began;
}

/** Megabytes of the topics on disk. */
function topicSizes(instance: Instance): Map<string, number> {
  const root = path.join(instance.dataDir, 'kafka', 'data');
  const sizes = new Map<string, number>();
  for (const name of readdirSync(root)) {
    const topic = /^(.*)-\d+$/.exec(name)?.[1];
    if (topic === undefined || topic.startsWith('__')) continue;
    const folder = path.join(root, name);
    // indexes are preallocated
    const bytes = readdirSync(folder).reduce((sum, file) => sum + (file.endsWith('.log') ? statSync(path.join(folder, file)).size : 0), 0);
    sizes.set(topic, (sizes.get(topic) ?? 0) + bytes / 1_000_000);
  }
  return sizes;
}

const instance = await startInstance({ env: { LOGWEIR_LOG_PARTITIONS: flags.partitions } });
try {
  const keys = await createTenants(instance, tenants);
  const cpuOf = (): Map<string, number> => new Map([...instance.processes()].map(([role, { pid }]) => [role, cpuSeconds(pid)]));
  const before = cpuOf();
  const { entries, refused, seconds } = await load(instance, keys);
  await until(async () => (await statuses(instance)).every(({ lag }) => lag === 0));
  console.log(`${String(tenants)} tenants with ${String(streams)} streams each, ${flags.partitions} partitions: ${entries.toLocaleString('en')} entries in ${seconds.toFixed(0)} s, ${String(refused)} requests refused.\n`); // prettier-ignore
  console.log('| process | CPU, µs an entry | RSS, MB |\n|---|---|---|');
  for (const [role, { pid }] of instance.processes()) {
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1] ?? 0);
    console.log(
      `| ${role} | ${(((cpuSeconds(pid) - (before.get(role) ?? 0)) * 1e6) / entries).toFixed(2)} | ${(kilobytes / 1024).toFixed(0)} |`,
    );
  }
  const states = await statuses(instance);
  console.log('\n| processor | state of all partitions, KB | of the largest, KB |\n|---|---|---|');
  for (const name of new Set(states.map(({ processor }) => processor))) {
    const sizes = states.filter(({ processor }) => processor === name).map(({ snapshot_bytes }) => snapshot_bytes / 1000);
    console.log(`| ${name} | ${sizes.reduce((sum, size) => sum + size, 0).toFixed(0)} | ${Math.max(...sizes).toFixed(0)} |`);
  }
  console.log('\n| topic | MB |\n|---|---|');
  for (const [topic, megabytes] of [...topicSizes(instance)].sort()) console.log(`| ${topic} | ${megabytes.toFixed(1)} |`);

  console.log('\n| killed | back after, s |\n|---|---|');
  const kill = (role: string): number => {
    const { pid = 0, restarts = 0 } = instance.processes().get(role) ?? {};
    process.kill(pid, 'SIGKILL');
    return restarts;
  };
  const isNew = (role: string, restarts: number): boolean => (instance.processes().get(role)?.restarts ?? 0) > restarts;
  const key = keys[0] as string;
  const send = async (): Promise<boolean> => (await fetch(`${instance.ingest}/api/v1/ingest`, { method: 'POST', headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }, body: '{"_msg":"after a restart"}' })).status === 200; // prettier-ignore
  const looks: readonly (readonly [string, () => Promise<boolean>])[] = [
    ['app', async () => (await instance.call('GET', `${instance.app}/api/v1/tenants/1/streams?query=*`)).status === 200],
    ['ingest', send],
    ['sink', async () => (await send()) && (await fetch(`${instance.admin}/ready`)).status === 200],
    ['processors', async () => { const all = await statuses(instance); return all.length >= states.length && all.every(({ lag }) => lag === 0); }], // prettier-ignore
  ];
  for (const [role, look] of looks) {
    const restarts = kill(role);
    const ms = await until(async () => isNew(role, restarts) && (await look()));
    console.log(`| ${role} | ${(ms / 1000).toFixed(1)} |`);
  }
} finally {
  await instance.stop();
}
