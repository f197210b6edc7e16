/**
 * `npm run bench:alert-time`: from the first bad entry to the alert, as `GET /alerts` and an Alertmanager have it. Streams with five hours of past,
 * which come live for a while, each with a rise that begins at another second of a minute; medians, and the trace of one. STREAMS: how many (12).
 */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShownAlert } from '../pipeline/alerts/shown-alert.ts';
import { startAlertmanager } from '../test/e2e/alertmanager.ts';
import { startInstance } from '../test/e2e/instance.ts';
import { newTenant, type Tenant } from './instance-load.ts';

const [SECOND_MS, MINUTE_MS] = [1000, 60_000];
const PAST_MINUTES = 5 * 60;
const STREAMS = Number(process.env['STREAMS'] ?? 12);
/** Minutes of live entries before the first rise. */
const LIVE_MINUTES = 3;
/** Rises begin so far from each other, 7 s later in the minute each time. Milliseconds. */
const APART_MS = 7 * SECOND_MS;
const GIVE_UP_MS = 6 * MINUTE_MS;
/** Entries a minute: of every stream, and of one that rises. */
const [USUAL, BAD] = [30, 300];

type Seen = { readonly service: string; readonly beganAt: number; log?: number; shown?: number; managed?: number };

const services = Array.from({ length: STREAMS }, (_none, index) => `svc-${String(index)}`);
const alertmanager = await startAlertmanager();
const instance = await startInstance({ env: alertmanager === null ? {} : { LOGWEIR_ALERTMANAGER_URL: alertmanager.url } });

const entry = (at: number, service: string, index: number): string =>
  JSON.stringify({ _time: new Date(at).toISOString(), _msg: `order ${String(index)} placed in ${String(index % 90)} ms`, level: 'info', service }); // prettier-ignore

async function send({ key }: Tenant, lines: readonly string[]): Promise<void> {
  for (let from = 0; from < lines.length; from += 2000) {
    const body = lines.slice(from, from + 2000).join('\n');
    const { ok, status } = await fetch(`${instance.ingest}/api/v1/ingest`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}` },
      body,
    });
    if (!ok) throw new Error(`Ingest answered ${String(status)}.`);
  }
}

async function alerts({ id, key }: Tenant): Promise<readonly ShownAlert[]> {
  const url = `${instance.app}/api/v1/tenants/${String(id)}/alerts?limit=100`;
  const { body } = await instance.call('GET', url, undefined, { Authorization: `Bearer ${key}` });
  return (body as { readonly items: readonly ShownAlert[] }).items;
}

/** Sends a second's entries of every stream, again and again, and looks for alerts meanwhile. */
async function run(tenant: Tenant): Promise<readonly Seen[]> {
  const firstRise = Date.now() + LIVE_MINUTES * MINUTE_MS;
  const seen: Seen[] = services.map((service, index) => ({ service, beganAt: firstRise + index * APART_MS }));
  const until = firstRise + STREAMS * APART_MS + GIVE_UP_MS;
  for (
    let tick = 0;
    Date.now() < until && seen.some(({ shown, managed }) => shown === undefined || (alertmanager !== null && managed === undefined));
    tick++
  ) {
    const began = Date.now();
    const lines = seen.flatMap(({ service, beganAt }, index) => {
      const perSecond = (began >= beganAt ? BAD : USUAL) / 60;
      const count = Math.floor(perSecond * (tick + 1) + index / STREAMS) - Math.floor(perSecond * tick + index / STREAMS);
      return Array.from({ length: count }, (_none, one) => entry(began - one, service, tick + one));
    });
    await send(tenant, lines);
    const [shown, managed] = await Promise.all([alerts(tenant), alertmanager?.alerts() ?? []]);
    for (const one of seen) {
      const own = shown.find(({ detector_type, stream }) => detector_type === 'log_rate' && stream.includes(`"${one.service}"`));
      if (own !== undefined) one.shown ??= Date.now();
      if (own !== undefined) one.log ??= Date.parse(own.fired_at);
      if (managed.some(({ labels }) => labels['detector'] === 'log_rate' && labels['service'] === one.service)) one.managed ??= Date.now();
    }
    if (tick % 30 === 0)
      process.stderr.write(`${String(seen.filter(({ shown: at }) => at !== undefined).length)} of ${String(STREAMS)} alerts\n`);
    await sleep(Math.max(0, began + SECOND_MS - Date.now()));
  }
  return seen;
}

function row(name: string, seconds: readonly number[]): void {
  const sorted = seconds.toSorted((a, b) => a - b);
  const at = (q: number): string => (sorted[Math.floor(q * (sorted.length - 1))] ?? NaN).toFixed(0);
  console.log(`| ${name} | ${String(sorted.length)} of ${String(STREAMS)} | ${at(0)} | ${at(0.5)} | ${at(0.9)} | ${at(1)} |`);
}

try {
  const load = os.loadavg().map((value) => value.toFixed(1)).join(' '); // prettier-ignore
  const tenant = await newTenant(instance);
  const now = Date.now();
  const past = Array.from({ length: PAST_MINUTES }, (_none, minute) =>
    services.flatMap((service, index) =>
      Array.from({ length: USUAL - 4 + ((minute * 7 + index * 3) % 9) }, (_empty, one) =>
        entry(now - (PAST_MINUTES - minute) * MINUTE_MS + ((one * 1997) % MINUTE_MS), service, one),
      ),
    ),
  );
  await send(tenant, past.flat());
  const seen = await run(tenant);
  const since = (at: (one: Seen) => number | undefined): number[] =>
    seen.flatMap((one) => {
      const when = at(one);
      return when === undefined ? [] : [(when - one.beganAt) / SECOND_MS];
    });
  console.log(`Load of the machine: ${load}\n\nSeconds from the first bad entry:\n`);
  console.log('| to | alerts | least | median | 90 % | most |\n| --- | --- | --- | --- | --- | --- |');
  row(
    'GET /alerts',
    since(({ shown }) => shown),
  );
  if (alertmanager !== null)
    row(
      'the Alertmanager',
      since(({ managed }) => managed),
    );
  const [one] = seen;
  if (one !== undefined)
    console.log(`\nOne of them: first bad entry ${new Date(one.beganAt).toISOString()}, fired_at ${new Date(one.log ?? NaN).toISOString()}, on GET /alerts ${new Date(one.shown ?? NaN).toISOString()}, at the Alertmanager ${one.managed === undefined ? '-' : new Date(one.managed).toISOString()}`); // prettier-ignore
} finally {
  await instance.stop();
  await alertmanager?.stop();
}
