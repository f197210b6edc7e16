/**
 * `npm run bench:bodies -- --other CLONE`: what an entry costs in bodies of few and of many entries, and in other formats, in an instance of
 * this clone and one of another (of the commit before), in turns on one machine. The other clone must be built (`npm start` once).
 *   npm run bench:bodies -- --other ../before [--rounds 3] [--connections 8] [--partitions 2]
 * CPU is that of all processes from the first request until ClickHouse has merged what came. Prints a Markdown table of medians.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { compress } from 'snappyjs';
import type { Instance, InstanceOptions } from '../test/e2e/instance.ts';
import { ask, merged } from './instance-load.ts';
import { sendAll } from './load.ts';
import { cpuSeconds } from './processes.ts';
import { labelledBodies } from './wire/bodies.ts';

const { values: flags } = parseArgs({
  options: {
    other: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
    partitions: { type: 'string', default: '2' },
  },
});

type Case = {
  readonly label: string;
  readonly path: string;
  readonly contentType: string;
  readonly entries: number;
  readonly requests: number;
  /** As clients of this format send it. */
  readonly pack?: (body: Buffer) => Buffer;
};

const bulk = { label: 'Elasticsearch bulk', path: '/_bulk', contentType: 'application/x-ndjson' };
const protobuf = { contentType: 'application/x-protobuf', entries: 200, requests: 1000 };
const CASES: readonly Case[] = [
  { ...bulk, entries: 1, requests: 10_000 },
  { ...bulk, entries: 20, requests: 5000 },
  { ...bulk, entries: 200, requests: 1000 },
  { ...bulk, entries: 2000, requests: 200 },
  { ...protobuf, label: 'Loki protobuf', path: '/loki/api/v1/push', pack: (body) => Buffer.from(compress(body)) },
  { ...protobuf, label: 'OTLP protobuf', path: '/v1/logs' },
];
/** Bodies are made before, and sent in turns. */
const BODIES = 50;

type Run = { readonly acknowledged: number; readonly searchable: number; readonly cpu: ReadonlyMap<string, number> };
type Side = { readonly name: string; readonly instance: Instance };

async function start(clone: string, name: string): Promise<Side> {
  const file = pathToFileURL(path.join(clone, 'test/e2e/instance.ts')).href;
  const { startInstance } = (await import(file)) as { startInstance: (options: InstanceOptions) => Promise<Instance> };
  return { name, instance: await startInstance({ env: { LOGWEIR_LOG_PARTITIONS: flags.partitions } }) };
}

const rows = async (instance: Instance): Promise<number> => Number(await ask(instance, 'SELECT count() FROM logs'));

async function load({ name, instance }: Side, one: Case, bodies: readonly Buffer[]): Promise<Run> {
  const processes = [...instance.processes()].filter(([role]) => role !== 'supervisor').map(([role, { pid }]) => [role, pid] as const);
  const before = new Map(processes.map(([role, pid]) => [role, cpuSeconds(pid)]));
  const total = one.entries * one.requests;
  const wanted = (await rows(instance)) + total;
  const { key, ingest } = instance;
  const request = { url: `${ingest}${one.path}`, key, contentType: one.contentType };
  const began = performance.now();
  await sendAll({
    count: one.requests,
    connections: Number(flags.connections),
    request: (number) => ({ ...request, body: bodies[number % bodies.length] as Buffer }),
  });
  const acknowledged = performance.now() - began;
  while ((await rows(instance)) < wanted) await new Promise((resolve) => setTimeout(resolve, 50));
  const searchable = performance.now() - began;
  await merged(instance);
  const cpu = new Map(processes.map(([role, pid]) => [role, (1e6 * (cpuSeconds(pid) - (before.get(role) ?? 0))) / total]));
  const run = { acknowledged: (1000 * total) / acknowledged, searchable: (1000 * total) / searchable, cpu };
  console.error(`${name}: ${one.label}, ${String(one.entries)}: ${run.searchable.toFixed(0)} searchable/s, ${sum(run).toFixed(1)} µs`);
  return run;
}

const sum = ({ cpu }: Run): number => [...cpu.values()].reduce((total, value) => total + value, 0);

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1] ?? NaN;

function row(one: Case, before: readonly Run[], after: readonly Run[]): string {
  const pair = (of: (run: Run) => number, digits: number): string => {
    const [then, now] = [median(before.map(of)), median(after.map(of))];
    const ratio = median(after.map((run, index) => of(run) / of(before[index] as Run)));
    return `${then.toFixed(digits)} → ${now.toFixed(digits)} (${ratio.toFixed(2)})`;
  };
  const roles = [...(after[0]?.cpu.keys() ?? [])];
  const byRole = roles.map((role) => `${role} ${median(after.map(({ cpu }) => cpu.get(role) ?? NaN)).toFixed(1)}`).join(', ');
  return `| ${one.label} | ${String(one.entries)} | ${pair(({ acknowledged }) => acknowledged, 0)} | ${pair(({ searchable }) => searchable, 0)} | ${pair(sum, 1)} | ${byRole} |`;
}

async function main(): Promise<void> {
  if (flags.other === undefined) throw new Error('--other must name a clone of the commit before.');
  const before = await start(path.resolve(flags.other), 'before');
  const after = await start(path.resolve(import.meta.dirname, '..'), 'after');
  try {
    console.log('| format | entries a body | acknowledged/s | searchable/s | CPU µs an entry | after, by process |');
    console.log('|---|---|---|---|---|---|');
    for (const one of CASES) {
      const bodies = labelledBodies(one.label, BODIES, one.entries, Date.now()).map(one.pack ?? ((body) => body));
      const runs = { before: [] as Run[], after: [] as Run[] };
      for (let round = 0; round < Number(flags.rounds); round++)
        for (const side of round % 2 === 0 ? (['before', 'after'] as const) : (['after', 'before'] as const))
          runs[side].push(await load(side === 'before' ? before : after, one, bodies));
      console.log(row(one, runs.before, runs.after));
    }
  } finally {
    await Promise.all([before.instance.stop(), after.instance.stop()]);
  }
}

await main();
process.exit(0);
