/**
 * `npm run bench:live`: from the acknowledgement of an entry to its frame, at some rates and with some tails; and the CPU of the live worker for
 * entries of a tenant that nobody follows; and 500 clients that do not read, beside 50 that do. `npm run bench:live -- slow` does the last alone,
 * `-- unfollowed` the CPU of the live worker, and `-- alerts` the time from a record of `alerts.v1` to the frames of clients that follow alerts.
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { timeText } from '../pipeline/alerting/book/shown-alert.ts';
import { alertTeller } from '../test/e2e/alert-source.ts';
import { startInstance, until, type Instance } from '../test/e2e/instance.ts';
import { TailClient } from '../test/e2e/tail-client.ts';
import { alert } from '../test/fakes/alerts-record.ts';
import { newTenant, type Tenant } from './instance-load.ts';

/** Entries of a request. */
const BATCH = 200;
const SECONDS = Number(process.env['SECONDS_EACH'] ?? 15);
/** Clock ticks of /proc. */
const TICK_MS = 10;

const cpuMs = (pid: number): number => {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'latin1')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

function liveWorker(instance: Instance): number {
  const { pid = 0 } = instance.processes().get('app') ?? {};
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'latin1').trim().split(' ').map(Number); // prettier-ignore
  return children.find((child) => readFileSync(`/proc/${String(child)}/cmdline`, 'latin1').includes('live-worker')) ?? 0;
}

/** Sends so many entries a second; each request has one with a mark of its own. Gives when each mark was acknowledged. */
async function load(instance: Instance, { key }: Tenant, rate: number): Promise<Map<string, number>> {
  const acked = new Map<string, number>();
  const began = performance.now();
  const sending: Promise<void>[] = [];
  const requests = Math.floor((rate * SECONDS) / BATCH);
  for (let at = 0; at < requests; at++) {
    const mark = `m${String(began).replace('.', '')}x${String(at)}`;
    const entries = Array.from({ length: BATCH }, (_none, index) => ({
      _msg: index === 0 ? `marked ${mark}` : `GET /cart/${String(index)} took ${String(index % 90)} ms`,
      level: index === 0 ? 'error' : 'info',
      service: 'web',
    }));
    sending.push(
      fetch(`${instance.ingest}/api/v1/ingest`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}` },
        body: JSON.stringify(entries),
      }).then((answer) => {
        if (answer.ok) acked.set(mark, performance.now());
      }),
    );
    const waitMs = began + ((at + 1) * 1000 * BATCH) / rate - performance.now();
    if (waitMs > 0) await sleep(waitMs);
  }
  await Promise.all(sending);
  return acked;
}

const quantile = (sorted: readonly number[], q: number): string => (sorted[Math.floor(q * (sorted.length - 1))] ?? NaN).toFixed(0);

async function latencies(instance: Instance, tenant: Tenant, rate: number, tails: number): Promise<void> {
  const came = new Map<string, number[]>();
  const url = `${instance.app}/ws/livetail/${String(tenant.id)}`;
  const clients: TailClient[] = [];
  // one after the other: a tenant has few queries running and waiting at once, and each tail begins with one
  for (let at = 0; at < tails; at++) {
    const client = await TailClient.open(url, tenant.key, { query: 'level:error marked', control: true });
    await client.control('ready');
    clients.push(client);
  }
  for (const client of clients) {
    client.socket.on('message', (data: Buffer) => {
      const at = performance.now();
      const mark = /marked (\w+)/.exec(data.toString())?.[1];
      if (mark !== undefined) came.set(mark, [...(came.get(mark) ?? []), at]);
    });
  }
  const worker = liveWorker(instance);
  const before = cpuMs(worker);
  const acked = await load(instance, tenant, rate);
  await until('all frames', () => Promise.resolve([...acked.keys()].filter((mark) => came.get(mark)?.length !== tails).length), (left) => left === 0, 30_000).catch(() => undefined); // prettier-ignore
  const cpu = cpuMs(worker) - before;
  const took = [...acked].flatMap(([mark, at]) => (came.get(mark) ?? []).map((frame) => Math.max(0, frame - at))).sort((a, b) => a - b);
  const missing = acked.size * tails - took.length;
  console.log(`| ${String(rate)} | ${String(tails)} | ${quantile(took, 0.5)} | ${quantile(took, 0.99)} | ${String(missing)} | ${((cpu * 1000) / (acked.size * BATCH)).toFixed(2)} |`); // prettier-ignore
  for (const client of clients) client.close();
}

async function unfollowed(instance: Instance): Promise<void> {
  const [followed, other] = [await newTenant(instance), await newTenant(instance)];
  const client = await TailClient.open(`${instance.app}/ws/livetail/${String(followed.id)}`, followed.key, { query: '*', control: true });
  await client.control('ready');
  const worker = liveWorker(instance);
  await sleep(2000);
  console.log('\nCPU of the live worker for entries of a tenant that nobody follows, 20,000/s, in turns with rest:\n');
  console.log('| at rest, ms a second | beside them, ms a second | µs for each entry |\n| --- | --- | --- |');
  for (let round = 0; round < 3; round++) {
    const before = cpuMs(worker);
    await sleep(SECONDS * 1000);
    const idle = cpuMs(worker) - before;
    const start = cpuMs(worker);
    const acked = await load(instance, other, 20_000);
    const busy = cpuMs(worker) - start;
    const perEntry = ((busy - idle) * 1000) / (acked.size * BATCH);
    console.log(`| ${(idle / SECONDS).toFixed(1)} | ${(busy / SECONDS).toFixed(1)} | ${perEntry.toFixed(3)} |`);
  }
  client.close();
}

const MB = 1024 * 1024;
const residentMb = (pid: number): number => (Number(readFileSync(`/proc/${String(pid)}/statm`, 'latin1').split(' ')[1]) * 4096) / MB;

/** Records of the log that the sink has not stored, of all partitions. */
async function lag(instance: Instance): Promise<number> {
  const text = String((await instance.call('GET', `${instance.admin}/metrics`)).body);
  const found = [...text.matchAll(/^logweir_consumer_lag\{[^}]*topic="logs\.v1"[^}]*\} (\d+)/gm)];
  return found.reduce((sum, [, records]) => sum + Number(records), 0);
}

/** Looks at an instance again and again until it is stopped: the most that each figure was. */
function watched(instance: Instance): { stop(): Promise<Readonly<Record<'app' | 'worker' | 'lag', number>>> } {
  const most = { app: 0, worker: 0, lag: 0 };
  const over = new AbortController();
  const looks = (async () => {
    while (!over.signal.aborted) {
      most.app = Math.max(most.app, residentMb(instance.processes().get('app')?.pid ?? 0));
      most.worker = Math.max(most.worker, residentMb(liveWorker(instance)));
      most.lag = Math.max(most.lag, await lag(instance));
      await sleep(200);
    }
  })();
  return {
    stop: async () => {
      over.abort();
      await looks;
      return most;
    },
  };
}

/** More keys of a tenant: one key has a hundred tails. */
async function keysOf(instance: Instance, { id }: Tenant, count: number): Promise<string[]> {
  const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
  const made: string[] = [];
  while (made.length < count) {
    const { body } = await instance.call('POST', `${instance.admin}/admin/tenants/${String(id)}/keys`, { scopes: ['read'] }, { Authorization: `Bearer ${token}` }); // prettier-ignore
    made.push((body as { readonly key: string }).key);
  }
  return made;
}

/** Fifty clients follow what is marked, beside so many that follow everything and read nothing. */
async function beside(instance: Instance, slow: number): Promise<void> {
  const tenant = await newTenant(instance);
  const keys = await keysOf(instance, tenant, 6);
  const url = `${instance.app}/ws/livetail/${String(tenant.id)}`;
  const clients: TailClient[] = [];
  const open = async (query: string): Promise<TailClient> => {
    const client = await TailClient.open(url, keys[Math.floor(clients.length / 95)] ?? tenant.key, { query, control: true });
    clients.push(client);
    await client.control('ready');
    return client;
  };
  for (let at = 0; at < slow; at++) (await open('*')).socket.pause();
  const fast: TailClient[] = [];
  for (let at = 0; at < 50; at++) fast.push(await open('level:error marked'));
  const came: number[] = [];
  const sent = new Map<string, number[]>();
  for (const client of fast)
    client.socket.on('message', (data: Buffer) => {
      const mark = /marked (\w+)/.exec(data.toString())?.[1];
      if (mark !== undefined) sent.set(mark, [...(sent.get(mark) ?? []), performance.now()]);
    });
  const watch = watched(instance);
  const acked = await load(instance, tenant, 1000);
  await until('all frames', () => Promise.resolve([...acked.keys()].filter((mark) => sent.get(mark)?.length !== fast.length).length), (left) => left === 0, 30_000).catch(() => undefined); // prettier-ignore
  const most = await watch.stop();
  for (const [mark, at] of acked) for (const frame of sent.get(mark) ?? []) came.push(Math.max(0, frame - at));
  came.sort((a, b) => a - b);
  console.log(`| ${String(slow)} | ${quantile(came, 0.5)} | ${quantile(came, 0.99)} | ${String(acked.size * fast.length - came.length)} | ${most.app.toFixed(0)} | ${most.worker.toFixed(0)} | ${String(most.lag)} |`); // prettier-ignore
  for (const client of clients) client.close();
}

async function slowReaders(instance: Instance): Promise<void> {
  console.log('\nFifty clients that read, at 1,000 entries/s, beside clients that follow everything and read nothing:\n');
  console.log(
    '| clients that do not read | median, ms | p99, ms | frames missing | app, MB | live worker, MB | most records behind |\n| --- | --- | --- | --- | --- | --- | --- |',
  );
  for (const slow of [0, 500]) await beside(instance, slow);
}

/** From the acknowledgement of an alert's record to its frame, with so many clients. */
async function alertFrames(instance: Instance, count: number): Promise<void> {
  const tenant = await newTenant(instance);
  const teller = alertTeller(instance);
  const clients: TailClient[] = [];
  for (let at = 0; at < count; at++) clients.push(await TailClient.open(`${instance.app}/ws/alerts/${String(tenant.id)}`, tenant.key));
  const now = Math.floor(Date.now() / 1000);
  const evidence = JSON.stringify({ opened_at: timeText(now) });
  const firing = (id: number) => alert({ tenantId: tenant.id, id, firedAt: now, updatedAt: now, evidence });
  await until('the reader', async () => {
    await teller.tell(firing(1e9 + tenant.id), 1);
    return clients.every(({ entries }) => entries.length > 0);
  }, Boolean); // prettier-ignore
  const took: number[] = [];
  const acked = new Map<number, number>();
  const frames: [id: number, at: number][] = [];
  for (const client of clients)
    client.socket.on('message', (data: Buffer) => {
      const { alert: shown } = JSON.parse(data.toString()) as { readonly alert?: { readonly id: number } };
      if (shown !== undefined) frames.push([shown.id, performance.now()]);
    });
  for (let at = 0; at < 100; at++) {
    const id = 2e9 + 1000 * tenant.id + at;
    await teller.tell(firing(id), 1);
    acked.set(id, performance.now());
    await sleep(50 + Math.random() * 100);
  }
  await sleep(2000);
  for (const [id, at] of frames) {
    const since = acked.get(id);
    if (since !== undefined) took.push(Math.max(0, at - since));
  }
  took.sort((a, b) => a - b);
  console.log(
    `| ${String(count)} | ${quantile(took, 0.5)} | ${quantile(took, 0.99)} | ${quantile(took, 1)} | ${String(acked.size * count - took.length)} |`,
  );
  await teller.close();
  for (const client of clients) client.close();
}

async function alerts(instance: Instance): Promise<void> {
  console.log('\nFrom the record of an alert to its frame:\n');
  console.log('| clients | median, ms | p99, ms | longest, ms | frames missing |\n| --- | --- | --- | --- | --- |');
  for (const count of [1, 50]) await alertFrames(instance, count);
}

const instance = await startInstance();
try {
  console.log(
    `Load of the machine: ${os
      .loadavg()
      .map((value) => value.toFixed(1))
      .join(' ')}\n`,
  );
  if (process.argv.includes('slow')) await slowReaders(instance);
  else if (process.argv.includes('unfollowed')) await unfollowed(instance);
  else if (process.argv.includes('alerts')) await alerts(instance);
  else await all(instance);
} finally {
  await instance.stop();
}

async function all(instance: Instance): Promise<void> {
  console.log(
    '| entries/s | tails | median, ms | p99, ms | frames missing | µs of the live worker for each entry |\n| --- | --- | --- | --- | --- | --- |',
  );
  const tenant = await newTenant(instance);
  for (const rate of [1000, 20_000]) for (const tails of [1, 50]) await latencies(instance, tenant, rate, tails);
  await unfollowed(instance);
  await alerts(instance);
  await slowReaders(instance);
}
