import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../pipeline/core/time.ts';
import { findTarget, request, TARGET_FLAGS, TARGET_HELP, type Env, type Target } from './client.ts';
import { Shop, type Timed } from './shop/shop.ts';
import { wantsHelp, readFlags } from './flags.ts';
import { EXIT, outputOf, UsageError, type Output, type Sink } from './output.ts';

const HELP = `Usage: logweir demo [flags]
Sends the logs of a made-up shop: those of the last day, so that the service learns what is usual, and then what happens, until Ctrl-C. Soon after that
something fails in the shop. The alerts show what, and docs/cli.md how to find the cause.

  --rate N             entries a second, averaged over a day (default 4)
  --backfill D         how far back the first ones reach (default 25h, with --count as far as its entries reach; 0s: none)
  --incident-after D   when something fails, after the past is sent (default 2m); -3m: three minutes before now, which fires at once
  --incident-for D     for how long (default 15m)
  --no-incident        nothing fails
  --only-backfill      end when the past is sent
  --count N            end after N entries
  --seed N             the same seed makes the same shop (default 1)
${TARGET_HELP}`;

/** Longest wait for a service that answers with `Retry-After`. */
const MAX_WAIT_SECONDS = 10;
/** Entries in one request while catching up. */
const BATCH = 1000;
const VALUES = [...TARGET_FLAGS, 'rate', 'backfill', 'incident-after', 'incident-for', 'count', 'seed'] as const;

type Plan = {
  readonly rate: number;
  readonly backfillMs: number;
  readonly count: number;
  readonly seed: number;
  readonly isPastAlone: boolean;
  /** When something fails: after the past is sent, or, where `afterMs` is negative, so long before the command began. Null for none. */
  readonly incident: { readonly afterMs: number; readonly forMs: number } | null;
};

/** `logweir demo`: a repeatable stream of logs of several services, and an incident in them. */
export async function demoCommand(argv: readonly string[], env: Env, to: Sink): Promise<number> {
  const output = outputOf(to, env);
  if (wantsHelp(argv)) {
    output.out(HELP);
    return EXIT.ok;
  }
  const { values, switches } = readFlags(argv, { values: VALUES, switches: ['no-incident', 'only-backfill'] }, HELP);
  const [rate, count, seed] = [Number(values.rate ?? 4), Number(values.count ?? Infinity), Number(values.seed ?? 1)];
  if (!(rate > 0 && rate <= 10_000)) throw new UsageError('--rate is a number of at most 10000.');
  if (!(count >= 1) || !Number.isInteger(seed)) throw new UsageError('--count and --seed are integers.');
  const durationOf = (name: 'backfill' | 'incident-after' | 'incident-for', otherwise: string): number => {
    const text = values[name] ?? otherwise;
    const isBefore = name === 'incident-after' && text.startsWith('-');
    const duration = parseDuration(isBefore ? text.slice(1) : text);
    if (duration === null) throw new UsageError(`--${name} is a duration such as 15m.`);
    return (isBefore ? -1 : 1) * Number(duration / 1_000_000n);
  };
  const plan: Plan = {
    ...{ rate, count, seed },
    backfillMs: values.backfill === undefined && count < Infinity ? (count / rate) * 1000 : durationOf('backfill', '25h'),
    isPastAlone: switches.has('only-backfill'),
    incident: switches.has('no-incident')
      ? null
      : { afterMs: durationOf('incident-after', '2m'), forMs: durationOf('incident-for', '15m') },
  };
  await sendAll(plan, findTarget(values, env), output);
  return EXIT.ok;
}

async function sendAll(plan: Plan, target: Target, output: Output): Promise<void> {
  const { rate, seed, count, backfillMs, isPastAlone, incident } = plan;
  const began = Date.now();
  const shop = new Shop(seed, rate, began - backfillMs);
  const print = (line: string): void => {
    output.err(`logweir demo: ${line}\n`);
  };
  const fail = (from: number, forMs: number): void => {
    const to = from + forMs;
    shop.incident = { from, to };
    print(
      `something goes wrong at ${timeText(from)}, until ${timeText(to)}: see ${target.appUrl}/api/v1/tenants/${target.tenantId}/alerts some minutes later.`,
    );
  };
  const isInPast = incident !== null && incident.afterMs < 0;
  if (isInPast) fail(began + incident.afterMs, incident.forMs);
  let sent = 0;
  /** True once the past is sent. */
  let isLive = false;
  while (sent < count) {
    const now = isPastAlone ? began : Date.now();
    const entries = shop.upTo(now, Math.min(BATCH, count - sent));
    if (entries.length > 0) await send(entries.map(lineOf), target, output);
    sent += entries.length;
    const last = entries.at(-1)?.time;
    if (last !== undefined) output.progress(`logweir demo: ${progress(sent, last, isLive ? null : { began, backfillMs })}`);
    if (entries.length === BATCH || sent >= count) continue;
    if (!isLive) {
      print(`the past is sent, ${String(sent)} entries in ${String(Math.round((Date.now() - began) / 1000))} s.`);
      if (isPastAlone) return;
      if (incident !== null && !isInPast) fail(Date.now() + incident.afterMs, incident.forMs);
      isLive = true;
    }
    await sleep(500);
  }
  print(`${String(sent)} entries sent.`);
}

const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

const lineOf = ({ time, entry }: Timed): string => JSON.stringify({ _time: new Date(time).toISOString(), ...entry });

/** How far it is: of the past in percent. */
function progress(sent: number, last: number, past: { readonly began: number; readonly backfillMs: number } | null): string {
  const upTo = `${String(sent)} entries sent, up to ${timeText(last)}`;
  if (past === null) return upTo;
  const part = Math.min(100, Math.floor(100 * (1 - (past.began - last) / Math.max(1, past.backfillMs))));
  return `${String(part)} % of the past, ${upTo}`;
}

/** Sends a batch; where the service answers 429, prints why, waits and sends it again. */
async function send(batch: readonly string[], target: Target, output: Output): Promise<void> {
  for (let lastMessage = ''; ;) {
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
      if (message !== lastMessage) output.err(`logweir demo: ${message} It is sent again every ${String(seconds)} s.\n`);
      lastMessage = message;
      await sleep(seconds * 1000);
    }
  }
}
