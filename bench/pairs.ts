/**
 * `npm run bench:pairs -- --other CLONE`: loads the same entries into an instance of this clone and one of another (of the commit before), in
 * turns on one machine, and compares them pair by pair. The other clone must be built (`npm start` once).
 *   npm run bench:pairs -- --other ../before [--pairs 6] [--entries 1000000] [--partitions 2] [--queries ROUNDS]
 *     [--other-node NODE] [--out FILE]
 * CPU is that of all processes from the first request until ClickHouse has merged what came. `--queries`: the queries of the benchmark folder in
 * turns too, so many rounds after the first pair and as many at the end, when all parts are merged into one. Prints Markdown tables.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Instance, InstanceOptions } from '../test/e2e/instance.ts';
import { ask, merged, python } from './instance-load.ts';
import { cpuSeconds } from './processes.ts';

const root = path.resolve(import.meta.dirname, '..');
const shared = path.resolve(root, process.env['LOGWEIR_SHARED'] ?? '../shared', 'bench');
const { values: flags } = parseArgs({
  options: {
    other: { type: 'string' },
    pairs: { type: 'string', default: '6' },
    entries: { type: 'string', default: '1000000' },
    partitions: { type: 'string', default: '2' },
    queries: { type: 'string', default: '0' },
    'other-node': { type: 'string' },
    out: { type: 'string' },
  },
});

type Side = { readonly name: string; readonly instance: Instance; readonly runs: Run[] };
type Run = {
  readonly acked: number;
  readonly searchable: number;
  readonly cpu: ReadonlyMap<string, number>;
  readonly rss: ReadonlyMap<string, number>;
};

const processesOf = ({ instance }: Side): [string, number][] => [...instance.processes()].map(([role, { pid }]) => [role, pid]);

/** `node`: what its processes run on. */
async function start(clone: string, name: string, node: string): Promise<Side> {
  const own = process.execPath;
  const file = pathToFileURL(path.join(clone, 'test/e2e/instance.ts')).href;
  const { startInstance } = (await import(file)) as { startInstance: (options: InstanceOptions) => Promise<Instance> };
  process.execPath = node; // which an instance is started with, of whatever clone
  try {
    return { name, instance: await startInstance({ env: { LOGWEIR_LOG_PARTITIONS: flags.partitions } }), runs: [] };
  } finally {
    process.execPath = own;
  }
}

async function load(side: Side, bodies: string): Promise<void> {
  const { instance } = side;
  const before = new Map(processesOf(side).map(([role, pid]) => [role, cpuSeconds(pid)]));
  const window = new URLSearchParams({ query: '*', start: '-30h', end: 'now', step: '1d' });
  const output = await python([
    ...[path.join(shared, 'load.py'), bodies, '--url', `${instance.ingest}/insert/elasticsearch/_bulk`, '--key', instance.key],
    ...['--concurrency', '4', '--count-url', `${instance.app}/api/v1/tenants/1/hits?${window.toString()}`],
  ]);
  const result = JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Record<string, number>;
  if (result['failed'] !== 0 || result['searchable'] !== result['entries']) throw new Error(`The load is not whole: ${output}`);
  await merged(instance);
  const perEntry = (role: string, pid: number): number => (1e6 * (cpuSeconds(pid) - (before.get(role) ?? 0))) / (result['entries'] ?? NaN);
  side.runs.push({
    acked: result['acked_per_s'] ?? NaN,
    searchable: result['searchable_per_s'] ?? NaN,
    cpu: new Map(processesOf(side).map(([role, pid]) => [role, perEntry(role, pid)])),
    rss: new Map(processesOf(side).map(([role, pid]) => [role, residentMb(pid)])),
  });
  console.error(`${side.name}: ${describeRun(side.runs.at(-1) as Run)}`);
}

const residentMb = (pid: number): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1] ?? 0) / 1024);

const total = ({ cpu }: Run): number => [...cpu.values()].reduce((sum, value) => sum + value, 0);
const describeRun = (run: Run): string =>
  `${String(run.acked)} acknowledged/s, ${String(run.searchable)} searchable/s, ${total(run).toFixed(1)} µs (${[...run.cpu].map(([role, value]) => `${role} ${value.toFixed(1)}`).join(', ')})`;

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? NaN) + (sorted[sorted.length >> 1] ?? NaN)) / 2;
};

function table(before: Side, after: Side): string[] {
  const ratios = (of: (run: Run) => number): number[] => after.runs.map((run, index) => of(run) / of(before.runs[index] as Run));
  const row = (what: string, of: (run: Run) => number, digits: number): string => {
    const all = ratios(of);
    const range = `${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)}`;
    return `| ${what} | ${median(before.runs.map(of)).toFixed(digits)} | ${median(after.runs.map(of)).toFixed(digits)} | ${median(all).toFixed(2)} (${range}) |`;
  };
  const roles = [...(after.runs[0]?.cpu.keys() ?? [])].filter((role) => role !== 'supervisor');
  return [
    `${String(after.runs.length)} pairs of ${flags.entries} entries, ${flags.partitions} partitions; medians, the ratio of each pair`,
    '',
    '| | before | after | after / before |',
    '|---|---|---|---|',
    row('acknowledged/s', ({ acked }) => acked, 0),
    row('searchable/s', ({ searchable }) => searchable, 0),
    row('CPU of all processes, µs an entry', total, 1),
    ...roles.map((role) => row(`– ${role}`, ({ cpu }) => cpu.get(role) ?? NaN, 1)),
    ...roles.map((role) => row(`RSS at most, ${role}, MB`, ({ rss }) => rss.get(role) ?? NaN, 0)),
  ];
}

type Times = Readonly<Record<string, { readonly median_ms?: number }>>;

/** Milliseconds of each query, the median of its runs. */
async function times({ name, instance }: Side, bodies: string): Promise<ReadonlyMap<string, number>> {
  const out = path.join(root, '.bench', `queries-${name}.json`);
  const meta = path.join(bodies, 'meta.json');
  await python([path.join(shared, 'query.py'), meta, '--api', instance.app, '--tenant', '1', '--key', instance.key, '--out', out]);
  const read = JSON.parse(readFileSync(out, 'utf8')) as Times;
  return new Map(Object.entries(read).map(([query, { median_ms: ms }]) => [query, ms ?? NaN]));
}

/** The ratio of each query, the median of the rounds; and their geometric mean. */
async function queries(when: string, before: Side, after: Side, bodies: string): Promise<string[]> {
  const rounds = Number(flags.queries);
  const ratios = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    const measured = new Map<Side, ReadonlyMap<string, number>>();
    for (const side of round % 2 === 0 ? [before, after] : [after, before]) measured.set(side, await times(side, bodies));
    for (const [query, ms] of measured.get(after) ?? [])
      ratios.set(query, [...(ratios.get(query) ?? []), ms / (measured.get(before)?.get(query) ?? NaN)]);
  }
  if (rounds === 0) return [];
  const medians = [...ratios].map(([query, all]) => [query, median(all)] as const);
  const mean = Math.exp(medians.reduce((sum, [, ratio]) => sum + Math.log(ratio), 0) / medians.length);
  const slowest = medians.sort(([, one], [, other]) => other - one).map(([query, ratio]) => `${query} ${ratio.toFixed(2)}`);
  return ['', `queries ${when}, after / before: geometric mean ${mean.toFixed(2)}; ${slowest.join(', ')}`];
}

/** Merges all parts into one for each partition of the table. */
async function mergeAll({ instance }: Side): Promise<void> {
  await ask(instance, 'OPTIMIZE TABLE logs FINAL');
  await merged(instance);
}

/** What the entries take on disk and on Kafka. */
async function sizes({ name, instance, runs }: Side): Promise<string> {
  const [disk = '', parts = ''] = (
    await ask(instance, "SELECT round(sum(bytes_on_disk) / sum(rows), 1), count() FROM system.parts WHERE active AND table = 'logs'")
  ).split('\t');
  const folder = path.join(instance.dataDir, 'kafka');
  const segments = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /logs\.v1-\d+\/\d+\.log$/.test(file));
  const bytes = segments.reduce((sum, file) => sum + statSync(path.join(folder, file)).size, 0);
  const onKafka = (bytes / (runs.length * Number(flags.entries))).toFixed(0);
  return `${name}: ${onKafka} B an entry on Kafka, ${disk} B on disk in ${parts} parts`;
}

async function main(): Promise<void> {
  if (flags.other === undefined) throw new Error('--other must name a clone of the commit before.');
  const bodies = path.join(root, '.bench', `bodies-${flags.entries}-${new Date().toISOString().slice(0, 13)}`);
  if (!existsSync(path.join(bodies, 'meta.json'))) {
    mkdirSync(bodies, { recursive: true });
    execFileSync('python3', [path.join(shared, 'gen_logs.py'), bodies, '--entries', flags.entries]);
  }
  const before = await start(path.resolve(flags.other), 'before', flags['other-node'] ?? process.execPath);
  const after = await start(root, 'after', process.execPath);
  const fresh: string[] = [];
  try {
    for (let pair = 0; pair < Number(flags.pairs); pair++) {
      for (const side of pair % 2 === 0 ? [before, after] : [after, before]) await load(side, bodies);
      if (pair === 0) fresh.push(...(await queries('on data that is minutes old', before, after, bodies)));
    }
    const lines = [...table(before, after), '', await sizes(before), await sizes(after), ...fresh];
    if (Number(flags.queries) > 0) await Promise.all([before, after].map(mergeAll));
    lines.push(...(await queries('on merged data', before, after, bodies)));
    console.log(lines.join('\n'));
    if (flags.out !== undefined) writeFileSync(flags.out, lines.join('\n') + '\n');
  } finally {
    await Promise.all([before.instance.stop(), after.instance.stop()]);
  }
}

await main();
