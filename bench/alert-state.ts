/**
 * `npm run bench:alert-state`: the state of `alerting` at 100,000 streams, in ten partitions of 10,000 that have learned for five hours: bytes in memory and in
 * snapshots, CPU of a snapshot, and how long the event loop is blocked while the snapshots of two partitions, 20,000 streams, are due at once.
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pino } from 'pino';
import { encodeSnapshot } from '../pipeline/bus/state/state-snapshot.ts';
import { HostedPartition } from '../pipeline/processors/host/hosted-partition.ts';
import type { MergerInput } from '../pipeline/processors/merge/merger.ts';
import { SnapshotBudget } from '../pipeline/processors/host/snapshot-budget.ts';
import { WriteQueue } from '../pipeline/processors/host/write-queue.ts';
import { cpuUs, hosted, watched } from './service/watched.ts';

const STREAMS = 10_000;
const PARTITIONS = 10;
const AT_ONCE = 2;
const ROUNDS = 5;
const KB = 1024;

const inMemory = (): number => {
  global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const restored = (bytes: Buffer): NonNullable<ReturnType<typeof hosted.restore>> => {
  const state = hosted.restore(bytes);
  if (state === null) throw new Error('A snapshot cannot be read.');
  return state;
};

/** CPU time of this thread, without those that compress: `/proc/PID/task/TID/schedstat`, milliseconds. */
const threadMs = (): number => {
  const pid = String(process.pid);
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
};

/** The longest turn of the event loop while all partitions save what they have, by CPU time and by the clock, and when they had: milliseconds. */
async function saveAtOnce(bytes: Buffer): Promise<Record<'cpu' | 'blocked' | 'took', number>> {
  const log = pino({ level: 'silent' });
  const budget = new SnapshotBudget();
  let [ahead, saved] = [0, 0];
  const states = {
    load: () => Promise.resolve(new Map()),
    save: async (_partition: number, next: number, taken: Buffer) => {
      await encodeSnapshot('bench', { next, bytes: taken });
      saved += 1;
    },
  };
  const partitions = Array.from({ length: AT_ONCE }, (_none, partition) => {
    const writes = new WriteQueue({ write: () => Promise.resolve(), log });
    const snapshots = new Map([[hosted.name, { next: 0, bytes }]]);
    return new HostedPartition<MergerInput>({ partition, hosted: [{ processor: hosted, states }], snapshots, writes, budget, log, now: () => performance.now() + ahead }); // prettier-ignore
  });
  for (const partition of partitions) partition.skipTo(1);
  global.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let [longest, last] = [0, threadMs()];
  const turn = (): void => {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (saved < AT_ONCE) setImmediate(turn);
  };
  turn();
  const began = performance.now();
  ahead = 60_000;
  while (saved < AT_ONCE) {
    for (const partition of partitions) partition.look();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  delay.disable();
  return { cpu: longest, blocked: delay.max / 1e6, took: performance.now() - began };
}

const load = (): string => os.loadavg().map((value) => value.toFixed(1)).join(' '); // prettier-ignore

console.error(`load of the machine: ${load()}`);
const { snapshot, perMinute } = watched(STREAMS);
const before = inMemory();
const states = Array.from({ length: PARTITIONS }, () => restored(snapshot));
const held = (inMemory() - before) / (STREAMS * PARTITIONS);
const spent = Math.min(
  ...states.map((state) => {
    const start = cpuUs();
    hosted.snapshot(state);
    return cpuUs() - start;
  }),
);
const packed = (await encodeSnapshot('bench', { next: 0, bytes: snapshot })).chunks.reduce(
  (sum, { value }) => sum + (value?.length ?? 0),
  0,
);
states.splice(0);
const saves: Awaited<ReturnType<typeof saveAtOnce>>[] = [];
for (let round = 0; round < ROUNDS; round++) saves.push(await saveAtOnce(snapshot));
const least = (of: keyof Awaited<ReturnType<typeof saveAtOnce>>): string => Math.min(...saves.map((save) => save[of])).toFixed(0);
console.log('| | |\n| --- | --- |');
console.log(`| memory of a stream, of ${String(STREAMS * PARTITIONS)} | ${(held / KB).toFixed(2)} KiB |`);
console.log(`| snapshot of a stream; compressed, as it is written | ${(snapshot.length / STREAMS / KB).toFixed(2)} KiB; ${(packed / STREAMS / KB).toFixed(2)} KiB |`); // prettier-ignore
console.log(`| CPU of a stream and minute; of a stream in a snapshot | ${perMinute.toFixed(1)} µs; ${(spent / STREAMS).toFixed(1)} µs |`);
console.log(
  `| snapshots of ${String(AT_ONCE * STREAMS)} streams at once, least of ${String(ROUNDS)}: longest turn, CPU; by the clock; all saved after | ${least('cpu')} ms; ${least('blocked')} ms; ${least('took')} ms |`,
);
console.error(`load of the machine: ${load()}`);
