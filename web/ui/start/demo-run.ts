/** The made-up shop of `logweir demo`, sent by this tab as long as it is open: its last hours, then what happens. */
import { signal } from '@preact/signals';
import { Shop, type Timed } from '../../../cli/shop/shop.ts';

export type DemoRun = {
  readonly state: 'off' | 'past' | 'live' | 'failed';
  /** How much of the past is sent, from 0 to 1. */
  readonly part: number;
  readonly sent: number;
  readonly problem: string;
};

const OFF: DemoRun = { state: 'off', part: 0, sent: 0, problem: '' };
export const demoRun = signal<DemoRun>(OFF);

const HOUR_MS = 36e5;
/** As long as detectors learn before anything fires, and some more. */
const [PAST_MS, BATCH, RATE, EVERY_MS] = [5 * HOUR_MS, 1000, 6, 1000];
/** The release goes wrong so long before now, and for how long: alerts come as soon as the past is there. */
const INCIDENT = { before: 4 * 6e4, lasts: 30 * 6e4 };
let running: AbortController | null = null;

const wait = (ms: number, on: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    on.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Sends a batch; where the service is busy, again after as long as it asks for. */
async function send(batch: readonly Timed[], key: string, on: AbortSignal): Promise<void> {
  const body = batch.map(({ time, entry }) => JSON.stringify({ _time: new Date(time).toISOString(), ...entry })).join('\n');
  for (;;) {
    const response = await fetch('/api/v1/ingest', { method: 'POST', signal: on, credentials: 'omit', headers: { 'X-API-Key': key, 'Content-Type': 'application/x-ndjson' }, body }); // prettier-ignore
    if (response.ok) return;
    const { detail = '' } = (await response.json().catch(() => ({}))) as { detail?: string };
    if (response.status !== 429) throw new Error(detail === '' ? `The service answered ${String(response.status)}.` : detail);
    demoRun.value = { ...demoRun.peek(), problem: detail };
    await wait(1000 * Math.max(1, Number(response.headers.get('retry-after') ?? 1)), on);
    on.throwIfAborted();
  }
}

async function run(key: string, on: AbortSignal): Promise<void> {
  const began = Date.now();
  const shop = new Shop(1, RATE, began - PAST_MS);
  shop.incident = { from: began - INCIDENT.before, to: began - INCIDENT.before + INCIDENT.lasts };
  let sent = 0;
  while (!on.aborted) {
    const entries = shop.upTo(Date.now(), BATCH);
    if (entries.length > 0) await send(entries, key, on);
    sent += entries.length;
    const last = entries.at(-1)?.time ?? began;
    const isPast = demoRun.peek().state === 'past' && entries.length === BATCH;
    demoRun.value = { state: isPast ? 'past' : 'live', part: isPast ? Math.min(1, 1 - (began - last) / PAST_MS) : 1, sent, problem: '' };
    if (!isPast) await wait(EVERY_MS, on);
  }
}

/** Begins; it goes on while other pages are read. */
export function startDemo(key: string): void {
  if (running !== null) return;
  const controller = new AbortController();
  running = controller;
  demoRun.value = { ...OFF, state: 'past' };
  run(key, controller.signal)
    .catch((error: unknown) => {
      if (!controller.signal.aborted) demoRun.value = { ...demoRun.peek(), state: 'failed', problem: error instanceof Error ? error.message : String(error) }; // prettier-ignore
    })
    .finally(() => {
      running = null;
      if (controller.signal.aborted) demoRun.value = OFF;
    });
}

export function stopDemo(): void {
  running?.abort();
}
