/**
 * `npm run bench:safety`: entries/s and CPU for each entry with the parts that make "acknowledged" mean "stored exactly once", and without.
 *   npm run bench:safety -- [--without all|NAME,NAME] [--entries 300000] [--rounds 6] [--connections 8] [--batch 200] [--at-once] [--out FILE]
 * Two clusters stand side by side, one of a program whose parts are off (bench/safety-parts.ts), and are measured in turns: what
 * one API process acknowledges while the sink stands still, how one sink stores what then lies there, and both at once. So a machine
 * that drifts favours neither. Two rounds that do not count come first, to warm both up. `--at-once` measures both at the same time instead: for the
 * difference of their CPU on a machine with much other work; the rates then mean nothing.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../main/install.mjs';
import { HOST_NAMES, startCluster, type Cluster, type ProcessName } from '../test/faults/cluster.ts';
import { faultPreload } from '../test/faults/fault-points.ts';
import { sendAll, type LoadRequest } from './load.ts';
import { bulkBodies } from './wire/bodies.ts';
import { cpuSeconds } from './processes.ts';
import { SAFETY_PARTS, type SafetyPart } from './safety-parts.ts';
import { safetyTable, type Figures, type Round } from './safety-table.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const { values: flags } = parseArgs({
  options: {
    without: { type: 'string', default: 'all' },
    entries: { type: 'string', default: '300000' },
    rounds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '8' },
    batch: { type: 'string', default: '200' },
    'at-once': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const [batch, connections, rounds] = [Number(flags.batch), Number(flags.connections), Number(flags.rounds)];
const requests = Math.ceil(Number(flags.entries) / batch);
/** Rounds of half the requests that do not count: both programs and both engines are compiled at run time. */
const WARM_UP_ROUNDS = 2;
const MEASURED = ['api-1', 'kafka', 'sink-1', 'clickhouse'] as const satisfies readonly ProcessName[];
const POLL_MS = 200;
const PATIENCE_MS = 180_000;
/** ClickHouse is at rest when no merge was seen in so many looks, one after the other. */
const QUIET_LOOKS = 6;

const say = (line: string): void => {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
};

function chosenParts(list: string): readonly SafetyPart[] {
  if (list === 'all') return SAFETY_PARTS;
  return list.split(',').map((name) => {
    const part = SAFETY_PARTS.find((one) => one.name === name);
    if (part === undefined)
      throw new Error(`There is no part ${name}; there are ${SAFETY_PARTS.map((one) => one.name).join(', ')}, and all.`);
    return part;
  });
}

/** A statement as the owner of ClickHouse; its answer as text. */
async function ask({ clickhouse: { url, user, password, database } }: Cluster, statement: string): Promise<string> {
  const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password, 'X-ClickHouse-Database': database };
  const response = await fetch(url, { method: 'POST', body: statement, headers });
  const text = (await response.text()).trim();
  if (!response.ok) throw new Error(text);
  return text;
}

/** Asks again and again until the answer is the one wanted, `times` in a row. */
async function untilAnswer(cluster: Cluster, statement: string, wanted: string, times = 1): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let seen = 0; seen < times;) {
    const answer = await ask(cluster, statement);
    seen = answer === wanted ? seen + 1 : 0;
    if (seen === times) return;
    if (Date.now() > deadline) throw new Error(`${statement} answered ${answer}, not ${wanted}, for ${String(PATIENCE_MS)} ms.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const untilStored = (cluster: Cluster, rows: number): Promise<void> =>
  untilAnswer(cluster, "SELECT sum(rows) FROM system.parts WHERE active AND database = currentDatabase() AND table = 'logs'", String(rows));
const untilQuiet = (cluster: Cluster): Promise<void> => untilAnswer(cluster, 'SELECT count() FROM system.merges', '0', QUIET_LOOKS);

async function emptyTables(cluster: Cluster): Promise<void> {
  const tables = await ask(
    cluster,
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT LIKE '%migration%'",
  );
  for (const table of tables.split('\n')) await ask(cluster, `TRUNCATE TABLE ${table}`);
}

type Variant = { readonly cluster: Cluster; readonly bodies: readonly Buffer[]; readonly send: (requests: number) => Promise<void> };

const PHASES: Readonly<Record<Figures['phase'], (variant: Variant, requests: number) => Promise<() => Promise<void>>>> = {
  /** The sink stands still. Over when all is acknowledged. */
  ingest({ cluster, send }, count) {
    cluster.process('sink-1').pause();
    return Promise.resolve(() => send(count));
  },
  /** Takes what the phase before has left on the log. Over when all is stored. */
  async sink({ cluster }, count) {
    await emptyTables(cluster);
    return () => {
      cluster.process('sink-1').resume();
      return untilStored(cluster, count * batch);
    };
  },
  /** Over when all is stored. */
  async whole({ cluster, send }, count) {
    await emptyTables(cluster);
    return async () => {
      await send(count);
      await untilStored(cluster, count * batch);
    };
  },
};

async function measure(phase: Figures['phase'], variant: Variant, count: number): Promise<Figures> {
  const { cluster } = variant;
  const run = await PHASES[phase](variant, count);
  const cpu = (): number[] => MEASURED.map((name) => cpuSeconds(cluster.process(name).pid));
  const before = cpu();
  const began = performance.now();
  await run();
  const seconds = (performance.now() - began) / 1000;
  // what is merged later is a cost of what was stored
  if (phase !== 'ingest') await untilQuiet(cluster);
  const entries = count * batch;
  const micros = cpu().map((after, index) => (1e6 * (after - (before[index] ?? 0))) / entries);
  return { phase, perSecond: entries / seconds, micros: Object.fromEntries(MEASURED.map((name, index) => [name, micros[index] ?? NaN])) };
}

/** One round: each phase for both, the one that began last time second. */
async function round(number: number, both: Readonly<Record<keyof Round, Variant>>, count: number): Promise<Round> {
  const figures: { with: Figures[]; without: Figures[] } = { with: [], without: [] };
  const order = Math.abs(number) % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
  for (const phase of ['ingest', 'sink', 'whole'] as const) {
    const one = async (name: keyof Round): Promise<void> => {
      const measured = await measure(phase, both[name], count);
      figures[name].push(measured);
      const all = Object.values(measured.micros).reduce((sum, value) => sum + value, 0);
      say(`round ${String(number)}: ${phase} ${name}: ${measured.perSecond.toFixed(0)} entries/s, ${all.toFixed(2)} µs of CPU an entry`);
    };
    if (flags['at-once']) await Promise.all(order.map(one));
    else for (const name of order) await one(name);
  }
  return figures;
}

/** A cluster of one API process and one sink, without these parts. */
async function start(without: readonly SafetyPart[]): Promise<Variant> {
  const off = without.flatMap((part) => part.off);
  const cluster = await startCluster({ log: () => undefined, ...(off.length === 0 ? {} : { preload: faultPreload({ off }) }) });
  const unused = without.some(({ isFolded }) => isFolded === true) ? HOST_NAMES : [];
  await Promise.all([...(['api-2', 'sink-2'] as const), ...unused].map((name) => cluster.process(name).stop()));
  const bodies = bulkBodies(100, batch, Date.now());
  const bulk = { url: `${cluster.apis[0]?.ingestUrl ?? ''}/_bulk`, key: cluster.key, contentType: 'application/x-ndjson' };
  const send = async (count: number): Promise<void> => {
    const request = (number: number): LoadRequest => ({ ...bulk, body: bodies[number % bodies.length] as Buffer });
    const refused = await sendAll({ count, connections, request });
    if (refused > 0) say(`${String(refused)} requests were refused and sent again`);
  };
  return { cluster, bodies, send };
}

async function main(): Promise<void> {
  const parts = chosenParts(flags.without);
  await ensureBuilt({ root: ROOT, log: say, signal: new AbortController().signal });
  const clusters: Cluster[] = [];
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopping ??= Promise.all(clusters.map((cluster) => cluster.stop())).then(() => undefined));
  // what is under way fails then, and waits below for the same end
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void stop());
  try {
    say(`starting a cluster with everything, and one without ${parts.map(({ name }) => name).join(', ')}`);
    const whole = await start([]);
    clusters.push(whole.cluster);
    const bare = await start(parts);
    clusters.push(bare.cluster);
    const both = { with: whole, without: bare };
    for (let number = 1 - WARM_UP_ROUNDS; number <= 0; number++) await round(number, both, Math.ceil(requests / 2));
    const measured: Round[] = [];
    for (let number = 1; number <= rounds; number++) measured.push(await round(number, both, requests));
    const table = safetyTable(measured).join('\n');
    process.stdout.write(`${table}\n`);
    if (flags.out !== undefined) writeFileSync(flags.out, `${table}\n`);
  } finally {
    await stop();
  }
}

await main();
