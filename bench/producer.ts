/**
 * `npm run bench:producer`: CPU of an entry in the process that sends and in Kafka, and how long an acknowledgement takes, by how many
 * partitions the topic has: records of one entry, of 10,000 tenants, at a steady rate into an embedded Kafka. With `--other` the same of
 * another clone (of the commit before, for instance), in turns.
 *   npm run bench:producer -- [--partitions 2,48,480] [--rate 5000] [--seconds 20] [--rounds 3] [--gap 5] [--other ../before]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { startKafka } from '../compose/embedded/kafka.ts';
import { createKafka } from '../pipeline/bus/connection/kafka.ts';
import { ensureTopics } from '../pipeline/bus/records/topics.ts';
import type * as Intakes from '../pipeline/logs/logs-intake.ts';
import type * as Publishers from '../pipeline/intake/signal-publisher.ts';
import { logsSignal } from '../pipeline/logs/logs-signal.ts';
import { cpuSeconds } from './processes.ts';

const { values: flags } = parseArgs({
  options: {
    partitions: { type: 'string', default: '2,48,480' },
    rate: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    other: { type: 'string' },
    gap: { type: 'string', default: '5' },
    clone: { type: 'string' },
    brokers: { type: 'string' },
  },
});
const TENANTS = 10_000;
const WARM_SECONDS = 5;
const TICK_MS = 2;
const log = pino({ level: 'silent' });
const root = path.resolve(import.meta.dirname, '..');

type Sent = { readonly us: number; readonly p50: number; readonly p99: number; readonly sends: number; readonly refused: number };
type Run = Sent & { readonly kafkaUs: number };

const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? NaN;
const median = (values: readonly number[]): number =>
  at(
    [...values].sort((a, b) => a - b),
    0.5,
  );

/** Publishes at the rate, first to warm up, then to measure; says on stdout when that begins, and what came out. */
async function send(clone: string, brokers: string, rate: number, seconds: number): Promise<void> {
  const { createLogsIntake } = (await import(pathToFileURL(path.join(clone, 'pipeline/logs/logs-intake.ts')).href)) as typeof Intakes;
  const { SignalPublisher } = (await import(
    pathToFileURL(path.join(clone, 'pipeline/intake/signal-publisher.ts')).href
  )) as typeof Publishers;
  let sends = 0;
  const publisher = new SignalPublisher(createLogsIntake(), {
    kafka: createKafka({ brokers: [brokers], clientId: 'bench', log }),
    log,
    onSent: () => (sends += 1),
    gapMs: Number(flags.gap),
  });
  await publisher.start();
  let refused = 0;
  const waits: number[] = [];
  let n = 0;
  const one = (): void => {
    const began = performance.now();
    const receivedAt = BigInt(Date.now()) * 1_000_000n;
    const writer = publisher.writer({
      tenantId: 1 + ((n++ * 48_271) % TENANTS),
      shards: 1,
      retentionDays: 0,
      receivedAt,
      ...{ streamsPerDay: Infinity, seriesPerDay: Infinity, utf8Names: false, maxRowBytes: Infinity, expectedBytes: 120 },
      envelope: { header: () => '', query: new URLSearchParams('_stream_fields=app') },
    });
    writer.add({
      _msg: `request ${String(n)} finished for user u${String(n % 977)} after 4123 ms`,
      app: `app${String(n % 7)}`,
      level: 'info',
    });
    publisher.publish(writer, 120).then(
      () => void waits.push(performance.now() - began),
      () => (refused += 1),
    );
  };
  const during = async (ms: number): Promise<void> => {
    const start = performance.now();
    for (let [now, done] = [start, 0]; now - start < ms; now = performance.now()) {
      for (const due = ((now - start) / 1000) * rate; done < due; done++) one();
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  };
  await during(WARM_SECONDS * 1000);
  process.stdout.write('begin\n');
  [waits.length, refused, sends] = [0, 0, 0];
  const before = process.cpuUsage();
  await during(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  waits.sort((a, b) => a - b);
  const entries = rate * seconds;
  process.stdout.write(
    `${JSON.stringify({ us: (user + system) / entries, p50: at(waits, 0.5), p99: at(waits, 0.99), sends: sends / seconds, refused })}\n`,
  );
  await publisher.stop();
  process.exit(0);
}

async function measure(clone: string, brokers: string, kafkaPid: number): Promise<Run> {
  const args = [import.meta.filename, '--clone', clone, '--brokers', brokers];
  const child = spawn(process.execPath, [...args, '--rate', flags.rate, '--seconds', flags.seconds, '--gap', flags.gap], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let before = 0;
  for await (const line of createInterface(child.stdout)) {
    if (line === 'begin') before = cpuSeconds(kafkaPid);
    else
      return {
        ...(JSON.parse(line) as Sent),
        kafkaUs: (1e6 * (cpuSeconds(kafkaPid) - before)) / (Number(flags.rate) * Number(flags.seconds)),
      };
  }
  throw new Error('The sender ended without a result.');
}

async function compare(partitions: number, clones: readonly string[]): Promise<void> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'logweir-bench-'));
  const broker = await startKafka({ dataDir });
  try {
    await ensureTopics(createKafka({ brokers: [broker.brokers], clientId: 'bench', log }), [logsSignal.topic], { partitions });
    const runs = clones.map((): Run[] => []);
    for (let round = 0; round < Number(flags.rounds); round++) {
      const order = clones.map((clone, index) => ({ clone, index }));
      for (const { clone, index } of round % 2 === 0 ? order : order.reverse())
        runs[index]?.push(await measure(clone, broker.brokers, broker.pid));
    }
    clones.forEach((clone, index) => {
      const of = (key: keyof Run): number => median((runs[index] ?? []).map((run) => run[key]));
      const name = clone === root ? 'this' : path.basename(clone);
      const cells = [
        of('us').toFixed(1),
        of('kafkaUs').toFixed(1),
        of('p50').toFixed(1),
        of('p99').toFixed(1),
        of('sends').toFixed(0),
        of('refused'),
      ];
      process.stdout.write(`| ${String(partitions)} | ${name} | ${cells.join(' | ')} |\n`);
    });
  } finally {
    await broker.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (flags.clone !== undefined && flags.brokers !== undefined) {
  await send(flags.clone, flags.brokers, Number(flags.rate), Number(flags.seconds));
} else {
  const clones = flags.other === undefined ? [root] : [path.resolve(flags.other), root];
  process.stdout.write('| partitions | clone | sender, µs an entry | Kafka, µs an entry | p50, ms | p99, ms | answers/s | refused |\n');
  process.stdout.write('|---|---|---|---|---|---|---|---|\n');
  for (const partitions of flags.partitions.split(',')) await compare(Number(partitions), clones);
}
