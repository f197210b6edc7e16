/** The made-up shop of `logweir demo`, sent by this tab as long as it is open: its last hours, then what happens. */
import { signal } from '@preact/signals';
import { Shop, type Timed } from '../../../cli/shop/shop.ts';
import { errorOf } from '../../client/client.ts';
import { asError } from '../base/api.ts';
import { patiently, pause } from '../base/tries.ts';

export type DemoRun = {
  readonly state: 'off' | 'past' | 'live' | 'failed';
  /** How much of the past is sent, from 0 to 1. */
  readonly part: number;
  readonly sent: number;
  /** Seconds that it waits, as the service is busy; null: it does not. */
  readonly waits: number | null;
  /** Why it goes on no more. */
  readonly error: Error | null;
};

const OFF: DemoRun = { state: 'off', part: 0, sent: 0, waits: null, error: null };
export const demoRun = signal<DemoRun>(OFF);

const HOUR_MS = 36e5;
/** As long as detectors learn before anything fires, and some more. */
const [PAST_MS, BATCH, RATE, EVERY_MS] = [5 * HOUR_MS, 1000, 6, 1000];
/** The release goes wrong so long before now, and for how long: alerts come as soon as the past is there. */
const INCIDENT = { before: 4 * 6e4, lasts: 30 * 6e4 };

/** What has happened in the shop so far. `left`: what was not taken yet; a demo that failed goes on with it, and sends nothing twice. */
type Course = { readonly shop: Shop; readonly began: number; left: readonly Timed[]; sent: number };
let course: Course | null = null;
let running: AbortController | null = null;

function newCourse(): Course {
  const began = Date.now();
  const shop = new Shop(1, RATE, began - PAST_MS);
  shop.incident = { from: began - INCIDENT.before, to: began - INCIDENT.before + INCIDENT.lasts };
  return { shop, began, left: [], sent: 0 };
}

/** Sends a batch. Throws ApiError where it is refused, and what `fetch` throws where the service is not reached. */
async function send(batch: readonly Timed[], key: string, on: AbortSignal): Promise<void> {
  const body = batch.map(({ time, entry }) => JSON.stringify({ _time: new Date(time).toISOString(), ...entry })).join('\n');
  const response = await fetch('/api/v1/ingest', { method: 'POST', signal: on, credentials: 'omit', headers: { 'X-API-Key': key, 'Content-Type': 'application/x-ndjson' }, body }); // prettier-ignore
  if (!response.ok) throw await errorOf(response);
}

async function run(of: Course, key: string, on: AbortSignal): Promise<void> {
  while (!on.aborted) {
    if (of.left.length === 0) of.left = of.shop.upTo(Date.now(), BATCH);
    const { left } = of;
    if (left.length > 0)
      await patiently(
        () => send(left, key, on),
        on,
        (waits) => void (demoRun.value = { ...demoRun.peek(), waits }),
      );
    of.left = [];
    of.sent += left.length;
    const last = left.at(-1)?.time ?? of.began;
    const isPast = demoRun.peek().state === 'past' && left.length === BATCH;
    const part = isPast ? Math.min(1, 1 - (of.began - last) / PAST_MS) : 1;
    demoRun.value = { ...OFF, state: isPast ? 'past' : 'live', part, sent: of.sent };
    if (!isPast) await pause(EVERY_MS, on);
  }
}

/** Begins, or goes on where it failed; it goes on while other pages are read. */
export function startDemo(key: string): void {
  if (running !== null) return;
  const controller = new AbortController();
  running = controller;
  course ??= newCourse();
  demoRun.value = { ...demoRun.peek(), state: 'past', error: null };
  run(course, key, controller.signal)
    .catch((thrown: unknown) => {
      if (!controller.signal.aborted) demoRun.value = { ...demoRun.peek(), state: 'failed', waits: null, error: asError(thrown) };
    })
    .finally(() => {
      running = null;
      if (controller.signal.aborted) forget();
    });
}

function forget(): void {
  course = null;
  demoRun.value = OFF;
}

/** Ends it. The next one begins anew. */
export function stopDemo(): void {
  if (running === null) forget();
  else running.abort();
}
