/**
 * `npm run bench:partitions`: what an entry costs with many tenants over few and many partitions, and how soon it is searchable.
 *   npm run bench:partitions -- [--partitions 2,12,48] [--rate 20000] [--body 200] [--tenants 200] [--seconds 30] [--warm 20] [--clone .]
 * `--rate`: entries/s, or `full` for eight connections that send as fast as they are answered. CPU is that of all processes from the first
 * request until ClickHouse has merged what came. Freshness: from a request's answer until the table has its entry, one probe after the other
 * on an idle key, looked for every 20 ms. `--warm`: seconds of the same load before that, so that V8 and the JVM have compiled. Prints a Markdown table.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Instance, InstanceOptions } from '../test/e2e/instance.ts';
import { ask, createTenants, merged } from './instance-load.ts';
import { LoadConnections } from './load.ts';
import { cpuSeconds } from './processes.ts';

const { values: flags } = parseArgs({
  options: {
    partitions: { type: 'string', default: '2,12,48' },
    rate: { type: 'string', default: '20000' },
    body: { type: 'string', default: '200' },
    tenants: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '30' },
    warm: { type: 'string', default: '20' },
    clone: { type: 'string', default: path.resolve(import.meta.dirname, '..') },
  },
});
const [bodySize, seconds] = [Number(flags.body), Number(flags.seconds)];
const CONNECTIONS = 8;

type Measured = { readonly entries: number; readonly refused: number; readonly seconds: number; readonly acknowledged: readonly number[] };

const connections = new LoadConnections(256);

const post = (url: string, key: string, body: Buffer): Promise<number> =>
  connections.send({ url, key, contentType: 'application/json', body }).then(({ status }) => status);

const WORDS = ['checkout', 'payment', 'cart', 'inventory', 'session', 'upstream', 'timeout', 'retry', 'accepted', 'rejected'];

/** A body of entries of some 300 bytes, of a few streams. */
function bodyOf(tenant: number, round: number): Buffer {
  const lines: string[] = [];
  for (let index = 0; index < bodySize; index++) {
    const n = round * bodySize + index;
    const word = WORDS[n % WORDS.length] ?? '';
    lines.push(
      JSON.stringify({
        _time: new Date().toISOString(),
        _msg: `request ${String(n)} of ${word} for user ${String((n * 7919) % 100_000)} took ${String(n % 997)} ms, status ${String(200 + (n % 5))}`,
        level: n % 17 === 0 ? 'error' : 'info',
        service: WORDS[tenant % WORDS.length],
        host: `host-${String(n % 8)}`,
        trace_id: ((n * 2_654_435_761) >>> 0).toString(16).padStart(32, '0'),
        path: `/api/v1/${word}/${String(n % 50)}`,
        user_id: `user-${String((n * 31) % 5000)}`,
      }),
    );
  }
  return Buffer.from(lines.join('\n'));
}

/** Bodies are made once for each tenant and sent again and again: making them must not cost what is measured. */
async function load(instance: Instance, keys: readonly string[], forSeconds = seconds): Promise<Measured> {
  const bodies = keys.slice(0, 200).map((_, tenant) => bodyOf(tenant, tenant));
  const acknowledged: number[] = [];
  let [entries, refused, next] = [0, 0, 0];
  const began = performance.now();
  const sendOne = async (): Promise<void> => {
    const tenant = next++ % keys.length;
    const at = performance.now();
    const status = await post(`${instance.ingest}/api/v1/ingest`, keys[tenant] ?? '', bodies[tenant % bodies.length] as Buffer);
    acknowledged.push(performance.now() - at);
    if (status === 200) entries += bodySize;
    else refused += 1;
  };
  const until = began + forSeconds * 1000;
  if (flags.rate === 'full') {
    const connection = async (): Promise<void> => {
      while (performance.now() < until) await sendOne();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  } else {
    const perSecond = Number(flags.rate) / bodySize;
    const open = new Set<Promise<void>>();
    for (let sent = 0; performance.now() < until;) {
      const due = ((performance.now() - began) / 1000) * perSecond;
      for (; sent < due; sent++) {
        const one = sendOne().finally(() => open.delete(one));
        open.add(one);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await Promise.all(open);
  }
  return { entries, refused, seconds: (performance.now() - began) / 1000, acknowledged };
}

/** Milliseconds from an answer until the table has the entry, while `isOver` is false. */
async function probe(instance: Instance, isOver: () => boolean): Promise<number[]> {
  const delays: number[] = [];
  for (let n = 0; !isOver(); n++) {
    const name = `probe-${String(process.pid)}-${String(n)}`;
    await post(
      `${instance.ingest}/api/v1/ingest`,
      instance.key,
      Buffer.from(JSON.stringify({ _time: new Date().toISOString(), _msg: name, app: 'probe' })),
    );
    const at = performance.now();
    const found = (): Promise<string> =>
      ask(instance, `SELECT count() FROM logs WHERE tenant_id = 1 AND _time > now() - 60 AND _msg = '${name}'`);
    while ((await found()) === '0' && performance.now() - at < 30_000) await new Promise((resolve) => setTimeout(resolve, 20));
    delays.push(performance.now() - at);
  }
  return delays;
}

const percentile = (values: readonly number[], share: number): string =>
  values.length === 0
    ? '–'
    : ([...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] as number).toFixed(0);

async function measure(partitions: string): Promise<string> {
  const file = pathToFileURL(path.join(path.resolve(flags.clone), 'test/e2e/instance.ts')).href;
  const { startInstance } = (await import(file)) as { startInstance: (options: InstanceOptions) => Promise<Instance> };
  const instance = await startInstance({ env: { LOGWEIR_LOG_PARTITIONS: partitions } });
  try {
    const keys = await createTenants(instance, Number(flags.tenants));
    await load(instance, keys, Number(flags.warm));
    await merged(instance);
    const processes = [...instance.processes()].map(([role, { pid }]) => [role, pid] as const);
    const before = new Map(processes.map(([role, pid]) => [role, cpuSeconds(pid)]));
    const result = await load(instance, keys);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await merged(instance);
    const cpu = processes.map(([role, pid]) => [role, cpuSeconds(pid) - (before.get(role) ?? 0)] as const);
    const total = cpu.reduce((sum, [, used]) => sum + used, 0);
    const [inserts = '', parts = ''] = (
      await ask(
        instance,
        "SELECT (SELECT value FROM system.events WHERE event = 'InsertQuery'), (SELECT count() FROM system.parts WHERE active AND table = 'logs')",
      )
    ).split('\t');
    let isOver = false;
    const [, delays] = await Promise.all([
      load(instance, keys).then((again) => {
        isOver = true;
        return again;
      }),
      probe(instance, () => isOver),
    ]);
    const perEntry = (used: number): string => ((1e6 * used) / result.entries).toFixed(1);
    return `| ${[
      partitions,
      (result.entries / result.seconds).toFixed(0),
      String(result.refused),
      perEntry(total),
      cpu
        .filter(([role]) => role !== 'supervisor')
        .map(([role, used]) => `${role} ${perEntry(used)}`)
        .join(', '),
      `${((100 * total) / result.seconds).toFixed(0)} %`,
      `${percentile(result.acknowledged, 0.5)} / ${percentile(result.acknowledged, 0.99)}`,
      `${percentile(delays, 0.5)} / ${percentile(delays, 0.99)} (${String(delays.length)})`,
      inserts,
      parts,
    ].join(' | ')} |`;
  } finally {
    await instance.stop();
  }
}

console.log(`${flags.rate} entries/s, bodies of ${flags.body}, ${flags.tenants} tenants, ${flags.seconds} s after ${flags.warm} s\n`);
console.log(
  '| partitions | acknowledged/s | refused | CPU µs an entry | by process | of a core | acknowledged after, ms, p50 / p99 | searchable after that | inserts | parts |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|');
for (const partitions of flags.partitions.split(',')) console.log(await measure(partitions));
process.exit(0);
