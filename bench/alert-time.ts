/**
 * `npm run bench:alert-time [-- HOURS]`: from the acknowledgement of the first entry too many until the alert is in the API, and in an Alertmanager where
 * this machine can have Debian's; with the trace of one. Nine services with so many hours of past (default 25, three at least) go on live; then each
 * rises, at another second of the minute.
 */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { embeddedEngines } from '../main/engines.ts';
import { FIRST_VERSION } from '../pipeline/alerting/book/alert-book.ts';
import { PART_WHY } from '../pipeline/alerting/book/alert.ts';
import { alertLayout } from '../pipeline/alerting/book/alert.ts';
import type { ShownAlert } from '../pipeline/alerting/book/shown-alert.ts';
import { createKafka } from '../pipeline/bus/connection/kafka.ts';
import { loadConfig } from '../pipeline/core/config.ts';
import { startAlertmanager, type RunningAlertmanager } from '../test/e2e/alertmanager.ts';
import { startInstance, type Instance } from '../test/e2e/instance.ts';
import { newTenant, type Tenant } from './instance-load.ts';

const MINUTE_MS = 60_000;
const HOURS = Math.max(3.5, Number(process.argv[2] ?? 25));
/** Live minutes before something rises, and how long alerts are waited for. */
const [CALM_MS, PATIENCE_MS] = [2 * MINUTE_MS, 10 * MINUTE_MS];
const SEND_MS = 250;
const LOOK_MS = 250;

/** A service: entries a minute, the share of errors, and what of both once it rises. Times by Date.now(). */
type Watched = {
  readonly service: string;
  readonly detector: 'log_rate' | 'error_rate';
  readonly rate: number;
  readonly rising: number;
  readonly errors: readonly [usual: number, rising: number];
  risesAt: number;
  /** Entries and errors that are due and not sent. */
  due: number;
  dueErrors: number;
  acked: number;
  inApi: number;
  managed: number;
  id: number;
};

const watched = (detector: Watched['detector'], rate: number, factor: number, errors: Watched['errors']): Watched => ({
  ...{ service: `${detector.replace('_', '-')}-${String(rate)}`, detector, rate, rising: rate * factor, errors },
  ...{ risesAt: Infinity, due: 0, dueErrors: 0, acked: 0, inApi: 0, managed: 0, id: 0 },
});
const RISES = [[10, 10], [15, 5], [20, 10], [30, 4], [40, 3], [60, 2.5], [120, 2]] as const; // prettier-ignore
const ERRORS = [[40, 1], [100, 1]] as const; // prettier-ignore
const all = [
  ...RISES.map(([rate, factor]) => watched('log_rate', rate, factor, [0, 0])),
  ...ERRORS.map(([rate]) => watched('error_rate', rate, 1, [0.01, 0.3])),
];

type Entry = { readonly _time: string; readonly _msg: string; readonly service: string; readonly level: string };
let number = 0;

/** The entries of a service in a span of time that ends now, or then. */
function entriesOf(one: Watched, from: number, to: number): Entry[] {
  const isRising = to > one.risesAt;
  const rate = isRising ? one.rising : one.rate;
  // in the past they vary, by up to a fifth
  const share = one.risesAt === Infinity ? 0.8 + ((number * 37) % 41) / 100 : 1;
  one.due += (rate * share * (to - from)) / MINUTE_MS;
  const count = Math.floor(one.due);
  one.due -= count;
  return Array.from({ length: count }, (_none, index) => {
    one.dueErrors += one.errors[isRising ? 1 : 0];
    const isError = one.dueErrors >= 1;
    if (isError) one.dueErrors -= 1;
    return {
      _time: new Date(Math.floor(from + ((index + 0.5) * (to - from)) / count)).toISOString(),
      _msg: isError ? `payment ${String(number++)} declined` : `order ${String(number++)} placed`,
      ...{ service: one.service, level: isError ? 'error' : 'info' },
    };
  });
}

async function send(instance: Instance, { key }: Tenant, entries: readonly Entry[]): Promise<void> {
  for (let from = 0; from < entries.length; from += 5000) {
    const body = entries.slice(from, from + 5000).map((entry) => JSON.stringify(entry)).join('\n'); // prettier-ignore
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/x-ndjson' };
    const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, body, headers);
    if (status > 299) throw new Error(`Ingest answered ${String(status)}.`);
  }
}

/** Sends what comes live until it is ended; notes when the first request of each rise was acknowledged. */
async function live(instance: Instance, tenant: Tenant, since: number, end: AbortSignal): Promise<void> {
  for (let from = since; !end.aborted;) {
    const to = Date.now();
    await send(instance, tenant, all.flatMap((one) => entriesOf(one, from, to))); // prettier-ignore
    for (const one of all) if (to > one.risesAt && one.acked === 0) one.acked = Date.now();
    from = to;
    await sleep(SEND_MS);
  }
}

/** Notes when each alert is shown, by the API and by the Alertmanager; true when all are. */
async function look(instance: Instance, { id, key }: Tenant, manager: RunningAlertmanager | null): Promise<boolean> {
  const url = `${instance.app}/api/v1/tenants/${String(id)}/alerts?limit=100`;
  const { body } = await instance.call('GET', url, undefined, { Authorization: `Bearer ${key}` });
  const shownAt = Date.now();
  const managed = (await manager?.alerts()) ?? [];
  const managedAt = Date.now();
  for (const one of all) {
    const isOf = (service: string, detector: string): boolean => service === one.service && detector === one.detector;
    const shown = (body as { items: ShownAlert[] }).items.find(({ stream, detector_type }) => isOf(/service="([^"]*)"/.exec(stream)?.[1] ?? '', detector_type)); // prettier-ignore
    if (shown !== undefined && one.inApi === 0) [one.inApi, one.id] = [shownAt, shown.id];
    const isManaged = managed.some(({ labels }) => isOf(labels['service'] ?? '', labels['detector'] ?? ''));
    if (isManaged && one.managed === 0) one.managed = managedAt;
  }
  return all.every(({ inApi, managed: at }) => inApi > 0 && (manager === null || at > 0));
}

/** Append times of partials and commands by partition and offset, and the rows of alerts, from when it is called. */
async function follow(instance: Instance) {
  const { kafka } = loadConfig({ ...instance.env, ...embeddedEngines(instance.env) });
  const consumer = createKafka({ ...kafka, clientId: 'bench', log: pino({ level: 'silent' }) }).consumer({ groupId: 'bench-alert-time' });
  const partials = new Map<string, number>();
  const commands = new Map<string, { readonly appendedAt: number; readonly partial: string }>();
  const told: { readonly id: number; readonly isWhy: boolean; readonly place: string; readonly appendedAt: number }[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics: ['partials.v1', 'alert-commands.v1', 'alerts.v1'], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ topic, partition, message: { offset, timestamp, value, headers } }) => {
      const appendedAt = Number(timestamp);
      const place = `${String(partition)}:${offset}`;
      if (topic === 'partials.v1') partials.set(place, appendedAt);
      const source = headers?.['source']?.toString().split(':').slice(0, 2).join(':') ?? '';
      if (topic === 'alert-commands.v1') commands.set(place, { appendedAt, partial: source });
      const rows = topic !== 'alerts.v1' || value === null ? [] : alertLayout.read(value, Number(headers?.['count']));
      if (typeof rows !== 'string') for (const { id, part, version } of rows) told.push({ id, isWhy: part === PART_WHY, place: `${String(partition)}:${String(version - FIRST_VERSION)}`, appendedAt }); // prettier-ignore
      return Promise.resolve();
    },
  });
  return { partials, commands, told, end: () => consumer.disconnect() };
}

const timeText = (ms: number): string => (ms > 0 ? new Date(ms).toISOString().slice(14, 21) : '-');
const secondsOf = (from: number, to: number): string => (from > 0 && to > 0 ? ((to - from) / 1000).toFixed(0) : '-');

function report({ partials, commands, told }: Awaited<ReturnType<typeof follow>>): void {
  console.log(
    '| service | a minute | acknowledged at | in the API after, s | in the Alertmanager after, s |\n| --- | --- | --- | --- | --- |',
  );
  for (const { service, detector, rate, rising, errors, acked, inApi, managed } of all) {
    const change = detector === 'log_rate' ? `${String(rate)} → ${String(rising)}` : `${String(rate)}, errors ${String(100 * errors[0])} % → ${String(100 * errors[1])} %`; // prettier-ignore
    console.log(`| ${service} | ${change} | ${timeText(acked)} | ${secondsOf(acked, inApi)} | ${secondsOf(acked, managed)} |`);
  }
  for (const [where, of] of [
    ['API', 'inApi'],
    ['Alertmanager', 'managed'],
  ] as const) {
    const took = all.filter((one) => one[of] > 0).map((one) => one[of] - one.acked).sort((a, b) => a - b).map((ms) => (ms / 1000).toFixed(0)); // prettier-ignore
    if (took.length > 0) console.log(`\n${where}: ${String(took.length)} of ${String(all.length)}; median ${took[took.length >> 1] ?? ''} s, least ${took[0] ?? ''} s, most ${took.at(-1) ?? ''} s`); // prettier-ignore
  }
  const hops = told.flatMap(({ isWhy, place, appendedAt }) => {
    const command = commands.get(place);
    const partial = partials.get(command?.partial ?? '');
    return isWhy || command === undefined || partial === undefined
      ? []
      : [[command.appendedAt - partial, appendedAt - command.appendedAt] as const];
  });
  for (const [index, what] of ['partial to its command', 'command to its alert'].entries()) {
    const took = hops.map((hop) => hop[index] as number).sort((a, b) => a - b);
    if (took.length > 0)
      console.log(`From a ${what}: median ${String(took[took.length >> 1])} ms, most ${String(took.at(-1))} ms, of ${String(took.length)}`);
  }
  const one = all.find(({ id }) => id > 0 && told.some((row) => row.id === id));
  const first = told.find(({ id, isWhy }) => id === one?.id && !isWhy);
  if (one === undefined || first === undefined) return;
  const why = told.find(({ id, isWhy }) => id === one.id && isWhy);
  console.log(`\nOf ${one.service}, minutes and seconds: rises at ${timeText(one.risesAt)}; acknowledged at ${timeText(one.acked)}; partial appended at ${timeText(partials.get(commands.get(first.place)?.partial ?? '') ?? 0)}; alert appended at ${timeText(first.appendedAt)}; in the API at ${timeText(one.inApi)}; in the Alertmanager at ${timeText(one.managed)}; why it came, appended at ${timeText(why?.appendedAt ?? 0)}`); // prettier-ignore
}

async function run(instance: Instance, manager: RunningAlertmanager | null): Promise<void> {
  const [tenant, trace, began] = [await newTenant(instance), await follow(instance), Date.now()];
  const past: Entry[] = [];
  for (let minute = HOURS * 60; minute > 0; minute--) {
    const from = began - minute * MINUTE_MS;
    past.push(...all.flatMap((one) => entriesOf(one, from, from + MINUTE_MS)));
    if (minute % 60 === 1) await send(instance, tenant, past.splice(0));
  }
  await send(instance, tenant, past.splice(0));
  console.error(`the past was sent in ${secondsOf(began, Date.now())} s; load of the machine: ${load()}`);
  const end = new AbortController();
  const first = Math.ceil((Date.now() + CALM_MS) / MINUTE_MS) * MINUTE_MS;
  for (const [index, one] of all.entries()) one.risesAt = first + Math.floor((index * MINUTE_MS) / all.length);
  const sending = live(instance, tenant, began, end.signal);
  while (Date.now() < first + PATIENCE_MS && !(await look(instance, tenant, manager))) await sleep(LOOK_MS);
  // why it has come is found some seconds later
  await sleep(15_000);
  end.abort();
  await sending;
  await trace.end();
  report(trace);
}

const load = (): string => os.loadavg().map((value) => value.toFixed(1)).join(' '); // prettier-ignore
const manager = await startAlertmanager();
const instance = await startInstance({ env: manager === null ? {} : { LOGWEIR_ALERTMANAGER_URL: manager.url } });
try {
  await run(instance, manager);
  console.error(`load of the machine: ${load()}`);
} finally {
  await instance.stop();
  await manager?.stop();
}
