import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../pipeline/core/time.ts';
import { findTarget, request, TARGET_FLAGS, TARGET_HELP, type Env, type Target } from './client.ts';
import { demoEntries, type DemoEntry } from './demo-logs.ts';
import { asksForHelp, readFlags } from './flags.ts';
import { EXIT, printable, UsageError, type Output } from './output.ts';

const HELP = `Usage: logweir demo [flags]
Sends the logs of a made-up shop: first those of the last minutes, then on and on until Ctrl-C.

  --rate N        entries a second (default 20)
  --backfill D    how far back the first ones reach (default 15m; 0s: none)
  --count N       end after so many entries
  --seed N        the same seed sends the same entries (default 1)
${TARGET_HELP}`;

/** Longest wait for a service that asks to wait. */
const MAX_WAIT_SECONDS = 10;
/** Entries in one request while catching up. */
const BATCH = 1000;

type Plan = { readonly rate: number; readonly backfillMs: number; readonly count: number; readonly seed: number };

/** `logweir demo`: a repeatable stream of logs of several services. */
export async function demoCommand(argv: readonly string[], env: Env, output: Output): Promise<number> {
  if (asksForHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const { values } = readFlags(argv, { values: [...TARGET_FLAGS, 'rate', 'backfill', 'count', 'seed'] }, HELP);
  const backfill = parseDuration(values.backfill ?? '15m');
  const plan = {
    rate: Number(values.rate ?? 20),
    backfillMs: Number((backfill ?? -1n) / 1_000_000n),
    count: Number(values.count ?? Infinity),
    seed: Number(values.seed ?? 1),
  };
  if (!(plan.rate > 0 && plan.rate <= 10_000)) throw new UsageError('--rate is a number of at most 10000.');
  if (backfill === null) throw new UsageError('--backfill is a duration such as 15m.');
  if (!(plan.count >= 1) || !Number.isInteger(plan.seed)) throw new UsageError('--count and --seed are integers.');
  await sendAll(plan, findTarget(values, env), output);
  return EXIT.ok;
}

async function sendAll(plan: Plan, target: Target, output: Output): Promise<void> {
  const source = demoEntries(plan.seed);
  const began = Date.now();
  /** Entry i belongs to this time; the first ones lie in the past. */
  const timeOf = (index: number): number => began - plan.backfillMs + (index / plan.rate) * 1000;
  for (let sent = 0; sent < plan.count;) {
    const due = Math.floor(((Date.now() - began + plan.backfillMs) * plan.rate) / 1000) + 1;
    const batch: string[] = [];
    while (sent + batch.length < Math.min(due, plan.count, sent + BATCH)) batch.push(lineOf(source, timeOf(sent + batch.length)));
    if (batch.length > 0) {
      await send(batch, target, output);
      sent += batch.length;
      output.err(`\rlogweir demo: ${String(sent)} entries sent, up to ${new Date(timeOf(sent - 1)).toISOString()} `);
    }
    if (batch.length < BATCH && sent < plan.count) await sleep(500);
  }
  output.err('\n');
}

function lineOf(source: Generator<DemoEntry>, time: number): string {
  const entry = source.next().value as DemoEntry;
  return JSON.stringify({ _time: new Date(time).toISOString(), ...entry });
}

/** Sends a batch; where the service asks to wait, says why, waits and sends it again. */
async function send(batch: readonly string[], target: Target, output: Output): Promise<void> {
  for (let told = ''; ;) {
    try {
      await request(`${target.ingestUrl}/api/v1/ingest`, target.key, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-ndjson' },
        body: batch.join('\n'),
      });
      return;
    } catch (error) {
      const { status, retryAfter, message } = error as Error & { status?: number; retryAfter?: number };
      if (status !== 429) throw error;
      const seconds = Math.min(MAX_WAIT_SECONDS, Math.max(0.1, retryAfter ?? 1));
      if (message !== told) output.err(`\nlogweir demo: ${printable(message)} It is sent again every ${String(seconds)} s.\n`);
      told = message;
      await sleep(seconds * 1000);
    }
  }
}
