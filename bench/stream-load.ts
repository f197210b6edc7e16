/**
 * `npm run bench:stream-load`: CPU of an entry over the whole path, from its request until ClickHouse has merged it, of a million known
 * streams and 100,000 new ones an hour, against 200 streams.   npm run bench:stream-load -- [--rounds 4] [--entries 400000] [--per-body 20]
 * Each line of a body has another stream by chance; with `--per-body` they share so many, as those that an agent sends.
 * One fresh instance; first each of the million comes once, then rounds of both in turns, as fast as they are answered. Prints Markdown:
 * medians, and the ratio of each round.
 */
import { parseArgs } from 'node:util';
import { startInstance, type Instance } from '../test/e2e/instance.ts';
import { ask, merged } from './instance-load.ts';
import { cpuSeconds } from './processes.ts';
import { Body, FEW, LINES, MANY_AND_NEW, manyByAgents, MILLION, NAME_OF_FEW, randomFrom, type Draw } from './stream-bodies.ts';

const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '4' }, entries: { type: 'string', default: '400000' }, 'per-body': { type: 'string' } },
});
const CONNECTIONS = 4;
const RETRY_MS = 200;

/** CPU of each role, µs an entry. */
type Cost = ReadonlyMap<string, number>;

async function post(instance: Instance, body: Buffer): Promise<void> {
  for (;;) {
    const headers = { Authorization: `Bearer ${instance.key}`, 'Content-Type': 'application/x-ndjson' };
    const response = await fetch(`${instance.ingest}/api/v1/ingest`, { method: 'POST', headers, body });
    const text = await response.text();
    if (response.ok) return;
    if (response.status !== 429) throw new Error(`${String(response.status)}: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Sends so many entries, and waits until they are stored and merged. */
async function load(instance: Instance, entries: number, next: () => number): Promise<Cost> {
  const processes = [...instance.processes()].map(([role, { pid }]) => [role, pid, cpuSeconds(pid)] as const);
  const stored = async (): Promise<number> => Number(await ask(instance, 'SELECT count() FROM logs'));
  const target = (await stored()) + entries;
  let left = entries;
  const connection = async (): Promise<void> => {
    const body = new Body(new Date().toISOString().slice(0, 19));
    while (left > 0) {
      left -= LINES;
      body.draw(next);
      await post(instance, body.bytes);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  while ((await stored()) < target) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  await merged(instance);
  return new Map(processes.map(([role, pid, before]) => [role, (1e6 * (cpuSeconds(pid) - before)) / entries]));
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
const total = (cost: Cost): number => [...cost.values()].reduce((sum, one) => sum + one, 0);

function print(few: readonly Cost[], many: readonly Cost[]): void {
  const row = (what: string, of: (cost: Cost) => number): string => {
    const ratios = many.map((cost, round) => of(cost) / of(few[round] as Cost));
    const figures = [few, many].map((costs) => median(costs.map(of)).toFixed(1));
    return `| ${[what, ...figures, median(ratios).toFixed(2), ratios.map((ratio) => ratio.toFixed(2)).join(', ')].join(' | ')} |`;
  };
  const roles = [...(few[0]?.keys() ?? [])].filter((role) => role !== 'supervisor');
  process.stdout.write(
    [
      `| CPU µs an entry | ${NAME_OF_FEW} | 1,000,000 and new ones | × | × of each round |`,
      '|---|---|---|---|---|',
      row('all processes', total),
      ...roles.map((role) => row(`– ${role}`, (cost) => cost.get(role) ?? NaN)),
      '',
    ].join('\n'),
  );
}

const entries = Math.ceil(Number(flags.entries) / LINES) * LINES;
const random = randomFrom(7);
const instance = await startInstance();
try {
  let known = 0;
  await load(instance, MILLION, () => known++);
  const drawMany = flags['per-body'] === undefined ? MANY_AND_NEW : manyByAgents(Number(flags['per-body']));
  const round = (draw: Draw): Promise<Cost> => load(instance, entries, () => draw(random));
  await round(FEW);
  const [few, many]: [Cost[], Cost[]] = [[], []];
  for (let turn = 0; turn < Number(flags.rounds); turn++) {
    few.push(await round(FEW));
    many.push(await round(drawMany));
  }
  print(few, many);
} finally {
  await instance.stop();
}
