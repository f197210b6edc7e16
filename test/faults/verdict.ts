import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Cluster } from './cluster.ts';
import type { LoadTotals } from './load.ts';
import type { Memory } from './monitor.ts';

/** Something that must not be, how often, and some of it. */
export type Violation = { readonly check: string; readonly count: number; readonly examples: readonly unknown[] };

/** What the recount says (recount/recount.py). */
export type Recounted = { readonly figures: Readonly<Record<string, number | null>>; readonly violations: readonly Violation[] };

const RECOUNT = path.join(import.meta.dirname, 'recount', 'recount.py');
const RECOUNT_TIMEOUT_MS = 900_000;
const MAX_MEMORY_MIB = 350;

/** Runs the recount over a cluster on which everything runs and nothing is sent any more. */
export async function recount(cluster: Cluster, ledger: string, settleSeconds = 180): Promise<Recounted> {
  const file = path.join(cluster.dataDir, 'recount.json');
  const { kafka, clickhouse, apis, adminToken, key } = cluster;
  writeFileSync(file, JSON.stringify({ ledger, kafka, clickhouse, apis, adminToken, key, settleSeconds }), { mode: 0o600 });
  return JSON.parse(await python([RECOUNT, file])) as Recounted;
}

/** Runs a Python program without leaving compiled files behind; resolves with what it printed. */
export function python(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('python3', ['-B', ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: RECOUNT_TIMEOUT_MS });
    let [printed, complaint] = ['', ''];
    child.stdout.on('data', (part: Buffer) => (printed += part.toString()));
    child.stderr.on('data', (part: Buffer) => (complaint += part.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(printed);
      else reject(new Error(`The recount failed (${String(code)}): ${complaint.slice(-2000)}`));
    });
  });
}

/** What the service did wrong in its answers, its memory and its logs. */
export function serviceFaults(totals: LoadTotals, memory: Readonly<Record<string, Memory>>, logs: string): Violation[] {
  const large = Object.entries(memory).filter(([, { max }]) => max > MAX_MEMORY_MIB);
  const rejections = unhandled(logs);
  const found: Violation[] = [];
  const add = (check: string, examples: readonly unknown[]): void => {
    if (examples.length > 0) found.push({ check, count: examples.length, examples: examples.slice(0, 20) });
  };
  add('an answer that the contract does not allow', totals.oddAnswers);
  add('a promise was rejected and nobody looked', rejections);
  add(`a process took more than ${String(MAX_MEMORY_MIB)} MiB`, large);
  return found;
}

/**
 * What the process that kept most took up at rest after the run, % of what it took up at most in its first minute of load; null where the run
 * was too short. Measured, and no violation: V8 and glibc give back late what a backlog has taken, which came to 160 % and to 200 MiB.
 */
export function percentAtRest(memory: Readonly<Record<string, Memory>>): number | null {
  const shares = Object.values(memory).flatMap(({ warm, end }) => (warm === null || warm === 0 ? [] : [(100 * end) / warm]));
  return shares.length === 0 ? null : Math.max(...shares);
}

/** The lines of the service's own logs that speak of a bug. */
function unhandled(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'))
    .filter((line) => /Unhandled promise rejection|BUG:|A record is stored more than once/.test(line))
    .map((line) => line.slice(0, 600));
}
