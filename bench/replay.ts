/**
 * `npm run bench:replay`: session replay, of events that Chromium records on a shop page.   npm run bench:replay -- [--only parts|read|lists|whole|sessions]
 * Parts: CPU µs a batch of 12 events, from the body to a record. Read: bytes that sessions take in ClickHouse, JSON and gzip; first event of a session of an
 * hour, of its middle, all of it; a filter over 100,000 sessions of a day. Whole: an instance of its own, batches acknowledged and readable a second, CPU by process.
 * Sessions: three minutes on real pages, stored beside JSON and gzip.
 */
import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { appEndpoint } from '../api/http/endpoint.ts';
import { createReplayRoutes } from '../api/replay/routes.ts';
import { rrweb } from '../pipeline/normalizers/rrweb.ts';
import { ReplayWriter } from '../pipeline/replay/replay-writer.ts';
import { SessionBounds } from '../pipeline/replay/session-bounds.ts';
import { startBrowser } from '../test/e2e/browser.ts';
import { startInstance } from '../test/e2e/instance.ts';
import { LogsqlStore } from '../test/e2e/logsql-store.ts';
import { runtimeOver } from '../test/e2e/query-setup.ts';
import { FakeKeyStore } from '../test/fakes/key-store.ts';
import { storeTogether } from '../test/fakes/stored-chunks.ts';
import { startHost } from '../test/fakes/test-host.ts';
import { rowsRequest } from '../test/pipeline/replay/take-events.ts';
import { ask, merged, newTenant } from './instance-load.ts';
import { sendAll, type LoadRequest } from './load.ts';
import { cpuSeconds } from './processes.ts';
import { recordVisit, VISITS } from './wire/recorded-pages.ts';
import { recordedEvents, repeated, type ReplayEvent } from './wire/replay-events.ts';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    batches: { type: 'string', default: '20000' },
    connections: { type: 'string', default: '64' },
    tenants: { type: 'string', default: '1' },
  },
});
const PER_BATCH = 12;
const out = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;

/** Batches of a session, five seconds each. */
function batchesOf(session: string, events: Iterable<ReplayEvent>): object[] {
  const batches = new Map<number, ReplayEvent[]>();
  for (const event of events) {
    const at = Math.floor(event.timestamp / 5000);
    batches.set(at, [...(batches.get(at) ?? []), event]);
  }
  return [...batches.values()].map((own, seq) => ({ session_id: session, seq, user: 'ada', service: 'shop', version: '1.4', events: own }));
}

function parts(events: readonly ReplayEvent[]): void {
  const small = events.filter(({ type }) => type === 3);
  const bodies = Array.from({ length: 200 }, (_none, index) => {
    const own = Array.from({ length: PER_BATCH }, (_same, i) => small[(index * PER_BATCH + i) % small.length]);
    return gzipSync(JSON.stringify({ session_id: `s${String(index)}`, seq: index, events: own }));
  });
  let turn = 0;
  const run = (): void => {
    const body = gunzipSync(bodies[turn++ % bodies.length] as Buffer);
    const writer = new ReplayWriter(new SessionBounds(), rowsRequest());
    rrweb.normalize(
      { path: '', contentType: '', query: new URLSearchParams(), header: () => '', body, maxBytes: Infinity, receivedAt: 0n },
      writer,
    );
    for (const chunk of writer.chunks()) chunk.encode();
  };
  // counted, not timed: a busy machine warms up as well
  const [WARM, MEASURED] = [5000, 10_000];
  for (let done = 0; done < WARM; done++) run();
  const before = process.cpuUsage();
  for (let done = 0; done < MEASURED; done++) run();
  const { user, system } = process.cpuUsage(before);
  const bytes = bodies.reduce((sum, body) => sum + gunzipSync(body).length, 0) / bodies.length;
  out(
    `CPU, µs a batch of ${String(PER_BATCH)} events (${bytes.toFixed(0)} bytes of JSON), gzip to a record: ${((user + system) / MEASURED).toFixed(0)}`,
  );
}

async function read(events: readonly ReplayEvent[]): Promise<void> {
  const own = await LogsqlStore.start();
  const now = Date.now();
  const hour = [...repeated(events, now - 3_600_000, 60)];
  for (const minutes of [10, 30, 60])
    await storeTogether(own.store, 1, batchesOf(`m${String(minutes)}`, repeated(events, now - 3_600_000, minutes)));
  await own.store.command('OPTIMIZE TABLE replay_chunks FINAL');
  const json = Buffer.from(hour.map((event) => JSON.stringify(event)).join('\n'));
  const [[stored, raw] = []] = await own.store.ownerRows('SELECT sum(data_compressed_bytes), (SELECT sum(bytes) FROM replay_chunks) FROM system.parts WHERE active AND table = \'replay_chunks\' AND database = currentDatabase()'); // prettier-ignore
  out(`an hour: ${String(hour.length)} events, JSON ${(json.length / 60_000).toFixed(1)} kB a minute, as gzip ${(gzipSync(json).length / 60_000).toFixed(1)}; stored ${(Number(stored) / 100_000).toFixed(2)} kB a minute, ${(Number(raw) / Number(stored)).toFixed(1)} times less than JSON`); // prettier-ignore
  const runtime = runtimeOver(own.store, { now: () => BigInt(Date.now()) * 1_000_000n, seconds: 60 });
  const host = await startHost({ keys: new FakeKeyStore({ one: {} }), endpoints: createReplayRoutes({ runtime, remove: () => Promise.resolve() }).map((route) => appEndpoint(route)) }); // prettier-ignore
  const url = `${host.url}/api/v1/tenants/1/replay/sessions`;
  const timed = async (path: string): Promise<readonly [first: number, all: number]> => {
    const began = performance.now();
    const response = await fetch(`${url}${path}`, { headers: { Authorization: 'Bearer one' } });
    if (!response.ok || response.body === null) throw new Error(await response.text());
    let first = 0;
    for await (const _chunk of response.body) first ||= performance.now() - began;
    return [first, performance.now() - began];
  };
  const often = async (path: string): Promise<readonly [number, number]> => {
    const all = [];
    for (let turn = 0; turn < 15; turn++) all.push(await timed(path));
    return [median(all.map(([first]) => first)), median(all.map(([, whole]) => whole))];
  };
  const [first, whole] = await often('/m60/events');
  const [middle] = await often(`/m60/events?from=${String(now - 1_800_000)}`);
  out(
    `a session of an hour: first event ${first.toFixed(0)} ms, from its middle ${middle.toFixed(0)} ms, all of it ${whole.toFixed(0)} ms`,
  );
  await host.stop();
  await own.stop();
}

/** A filter over 100,000 sessions of a day. */
async function lists(): Promise<void> {
  const own = await LogsqlStore.start();
  const now = Date.now();
  const runtime = runtimeOver(own.store, { now: () => BigInt(Date.now()) * 1_000_000n, seconds: 60 });
  await own.store.command(`INSERT INTO replay_chunks (tenant_id, session, seq, first, last, events, bytes, clicks, errors, urls, user, service, arrived, kafka_off, kafka_idx) SELECT 2, concat('session-', toString(intDiv(number, 12))) AS id, number % 12, fromUnixTimestamp64Milli(toInt64(${String(now - 86_000_000)} + intDiv(number, 12) * 800 + (number % 12) * 5000), 'UTC') AS at, at + INTERVAL 5 SECOND, 12, 5000, [], if(intDiv(number, 12) % 50 = 0, 1, 0), ['https://shop.example/'], concat('u', toString(intDiv(number, 12) % 5000)), 'shop', now64(3), number, 0 FROM numbers(1200000)`); // prettier-ignore
  await own.store.command('OPTIMIZE TABLE replay_chunks FINAL');
  const keys = new FakeKeyStore({ one: { tenantId: 2 } });
  const other = await startHost({ keys, endpoints: createReplayRoutes({ runtime, remove: () => Promise.resolve() }).map((route) => appEndpoint(route)) }); // prettier-ignore
  for (const [what, query] of [
    ['newest', ''],
    ['errors', '&errors=true'],
    ['of a user', '&user=u17'],
    ['of a page', '&url=shop.example'],
    ['of a service', '&service=shop'],
    ['of a minute and more', '&min_length=1m'],
    ['rage clicks', '&query=rage_clicks:>0'],
  ] as const) {
    // prettier-ignore
    const times = [];
    for (let turn = 0; turn < 5; turn++) {
      const began = performance.now();
      const response = await fetch(`${other.url}/api/v1/tenants/2/replay/sessions?start=-1d${query}`, {
        headers: { Authorization: 'Bearer one' },
      });
      const { sessions } = (await response.json()) as { sessions: readonly unknown[] };
      if (what !== 'rage clicks' && sessions.length === 0) throw new Error('BUG: nothing was found.');
      times.push(performance.now() - began);
    }
    out(`100,000 sessions of a day, 12 batches each, ${what}: ${median(times).toFixed(0)} ms`);
  }
  await other.stop();
  await own.stop();
}

async function whole(events: readonly ReplayEvent[]): Promise<void> {
  const instance = await startInstance();
  try {
    const tenants = await Promise.all(Array.from({ length: Number(flags.tenants) }, () => newTenant(instance)));
    const small = events.filter(({ type }) => type === 3);
    const total = Number(flags.batches);
    const bodyOf = (number: number): Buffer => {
      const now = Date.now();
      const own = Array.from({ length: PER_BATCH }, (_same, i) => ({
        ...small[(number * PER_BATCH + i) % small.length],
        timestamp: now + i,
      }));
      return gzipSync(JSON.stringify({ session_id: `s${String(number % 5000)}`, seq: Math.floor(number / 5000), events: own }));
    };
    const processes = [...instance.processes()].map(([role, { pid }]) => [role, pid, cpuSeconds(pid)] as const);
    const bodies = Array.from({ length: total }, (_none, number) => bodyOf(number));
    const request = (number: number): LoadRequest => ({ url: `${instance.app}/v1/rum/replay`, key: tenants[number % tenants.length]?.key ?? '', contentType: 'application/json', encoding: 'gzip', body: bodies[number] as Buffer }); // prettier-ignore
    const began = performance.now();
    await sendAll({ count: total, connections: Number(flags.connections), request });
    const acknowledged = (performance.now() - began) / 1000;
    const stored = async (): Promise<number> => Number(await ask(instance, `SELECT uniqExact(tenant_id, session, seq) FROM replay_chunks`));
    while ((await stored()) < total) await new Promise((resolve) => setTimeout(resolve, 200));
    const readable = (performance.now() - began) / 1000;
    await merged(instance);
    const cpu = processes.map(([role, pid, before]) => [role, (1e6 * (cpuSeconds(pid) - before)) / total] as const);
    out(`${String(total)} batches: ${(total / acknowledged).toFixed(0)}/s acknowledged, ${(total / readable).toFixed(0)}/s readable, by one client process; CPU, µs a batch: ${cpu.map(([role, us]) => `${role} ${us.toFixed(0)}`).join(', ')}; all ${cpu.reduce((sum, [, us]) => sum + us, 0).toFixed(0)}`); // prettier-ignore
  } finally {
    await instance.stop();
  }
}

/** What a minute on each of three real pages takes: JSON as it is read back, gzip of all of it, and on disk. */
async function sessions(shop: readonly ReplayEvent[]): Promise<void> {
  const instance = await startInstance();
  const browser = await startBrowser();
  if (browser === null) throw new Error('This machine has no browser.');
  try {
    const tenant = await newTenant(instance);
    const own = { Authorization: `Bearer ${tenant.key}` };
    const entries = Array.from({ length: 2000 }, (_none, n) => ({ _msg: `payment of order ${String(n)} took ${String((n * 7919) % 900)} ms`, service: ['web', 'pay', 'cart'][n % 3], level: ['info', 'warn', 'error'][n % 11 === 0 ? 2 : n % 2] })); // prettier-ignore
    await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries, own);
    for (const batch of batchesOf('shop', shop)) await instance.call('POST', `${instance.app}/v1/rum/replay`, batch, own);
    const ids = new Map([['a shop', 'shop']]);
    for (const visit of VISITS) ids.set(visit.name, await recordVisit(browser, instance, tenant, visit, 60));
    for (const [name, id] of ids) {
      const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/replay/sessions/${id}/events`;
      const json = Buffer.from(await (await fetch(url, { headers: own })).arrayBuffer());
      // a table of this session alone, written as that of all is
      await ask(instance, 'DROP TABLE IF EXISTS one_session');
      await ask(instance, 'CREATE TABLE one_session AS replay_chunks');
      await ask(
        instance,
        `INSERT INTO one_session SELECT * FROM replay_chunks WHERE tenant_id = ${String(tenant.id)} AND session = '${id}'`,
      );
      await ask(instance, 'OPTIMIZE TABLE one_session FINAL');
      const stored = Number(
        await ask(instance, "SELECT sum(data_compressed_bytes) FROM system.parts WHERE active AND table = 'one_session'"),
      );
      if (!(stored > 0)) throw new Error(`BUG: nothing of ${name} was stored.`);
      out(`a minute on ${name}: ${String(json.toString().split('\n').length - 1)} events, JSON ${(json.length / 1000).toFixed(0)} kB, gzip ${(gzipSync(json).length / 1000).toFixed(1)} kB, stored ${(stored / 1000).toFixed(1)} kB, ${(json.length / stored).toFixed(1)} times less than JSON`); // prettier-ignore
    }
  } finally {
    await browser.close();
    await instance.stop();
  }
}

/** A few seconds are enough where only small events are sent on. */
const SECONDS = flags.only === 'whole' || flags.only === 'parts' ? 20 : 60;
const events = flags.only === 'lists' ? [] : await recordedEvents(SECONDS);
if (events === null) throw new Error('This machine has no browser.');
if (events.length > 0)
  out(`recorded: ${String(events.length)} events in ${String(SECONDS)} s, ${(JSON.stringify(events).length / 1000).toFixed(1)} kB of JSON`);
if (flags.only === '' || flags.only === 'parts') parts(events);
if (flags.only === '' || flags.only === 'read') await read(events);
if (flags.only === '' || flags.only === 'lists') await lists();
if (flags.only === '' || flags.only === 'whole') await whole(events);
if (flags.only === '' || flags.only === 'sessions') await sessions(events);
process.exit(0);
