/**
 * `npm run bench:traces-read`: how long reads of traces take, among spans of a day that are made here, on a ClickHouse of its own.
 *   npm run bench:traces-read -- [--traces 200000] [--rounds 30] [--only 'service|metrics']
 * A trace has 10 spans. Prints a Markdown table: milliseconds from the question to the whole answer, and rows that ClickHouse read.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LocalEngine } from '../api/engine/local-engine.ts';
import type { QueryJob } from '../api/query/engine.ts';
import { latenciesOf } from '../api/traces/jaeger/metrics.ts';
import { jaegerSearch } from '../api/traces/jaeger/parameters.ts';
import { tracesParameters, traceWindow } from '../api/traces/parameters.ts';
import { Store } from '../pipeline/store/client.ts';
import { LogsqlStore } from '../test/e2e/logsql-store.ts';

const { values: flags } = parseArgs({
  options: {
    traces: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
  },
});
const [traces, rounds, WARM_UP, BATCH] = [Number(flags.traces), Number(flags.rounds), 3, 50_000];
const DAY_NS = 86_400_000_000_000n;
/** 2026-11-18T00:00:00Z. */
const START = 1_794_960_000_000_000_000n;
const window = { start: '2026-11-18T00:00:00Z', end: '2026-11-19T00:00:00Z' };

/** A client that counts what ClickHouse reads. */
class Counting extends Store {
  rowsRead = 0;
  override query(...[statement, options]: Parameters<Store['query']>): ReturnType<Store['query']> {
    const onRead = (rows: number): void => {
      this.rowsRead += rows;
    };
    return super.query(statement, { ...options, settings: { ...options.settings, wait_end_of_query: 1 }, onRead });
  }
}

/** Spans of HTTP and database calls in 20 services, 8 attributes each, 2 % with errors. */
const made = (
  from: number,
  count: number,
): string => `INSERT INTO spans (tenant_id, time, duration, trace_id, span_id, parent_span_id, service, name, kind, status, flags, scope, scope_version, resource, resource_types, attributes, attribute_types, retention_days, arrived, kafka_part, kafka_off, kafka_idx)
SELECT 1, fromUnixTimestamp64Nano(toInt64(${String(START)}) + toInt64(tr) * intDiv(${String(DAY_NS)}, ${String(traces)}) + sp * 1000000, 'UTC') AS began, cityHash64(number) % 50000000,
 toFixedString(unhex(concat(leftPad(hex(cityHash64(tr)), 16, '0'), leftPad(hex(sipHash64(tr)), 16, '0'))), 16), toFixedString(unhex(leftPad(hex(sipHash64(number)), 16, '0')), 8),
 if(sp = 0, toFixedString('', 8), toFixedString(unhex(leftPad(hex(sipHash64(number - 1)), 16, '0')), 8)), concat('svc-', toString((cityHash64(tr, 'a') % 20 + intDiv(sp, 3)) % 20)) AS own,
 concat('op-', toString(cityHash64(tr, sp) % 30)), [2, 3, 2, 3, 2, 1, 1, 3, 2, 1][sp + 1], if(cityHash64(number, 'e') % 50 = 0, 2, 0), 257, 'scope', '1.2',
 concat('{"service.name":"', own, '","host.name":"h', toString(cityHash64(tr) % 10), '","telemetry.sdk.language":"nodejs"}'), 'sss',
 map('http.request.method', 'GET', 'http.response.status_code', ['200', '200', '200', '404', '500'][cityHash64(number, 's') % 5 + 1], 'url.path', concat('/api/v1/items/', toString(cityHash64(number, 'p') % 100000)), 'server.address', 'svc.local', 'server.port', '8080', 'user.id', toString(cityHash64(number, 'u') % 50000), 'network.protocol.version', '1.1', 'thread.id', toString(number % 16)), 'sisssisi', 0, began, intDiv(number, 1000) % 4, intDiv(number, 1000), number % 1000
FROM (SELECT number, intDiv(number, 10) AS tr, number % 10 AS sp FROM numbers(${String(from * 10)}, ${String(count * 10)}))`;

const COUNTS = 'tenant_id, scope, span, time, service, operation, caller, kind, log_part, segment, until, run, spans, errors, duration, last, durations, retention_days, arrived, kafka_part, kafka_off, kafka_idx'; // prettier-ignore
/** What is counted of these spans, as a processor does it: in segments of their time, by so many seconds; calls are those of every third span of a trace. */
const counted = (scope: 0 | 1 | 3, seconds: number): string => {
  const segment = `intDiv(toUnixTimestamp(arrived), ${String(seconds)}) AS open`;
  const place = 'kafka_part, min(kafka_off), max(kafka_off) + 1, 0';
  const at = `toDateTime64(open * ${String(seconds)}, 0, 'UTC')`;
  const sums = "count(), countIf(status = 2), sum(duration), max(time), sumMap(map(if(duration = 0, toUInt16(0), toUInt16(ceil(log2(duration) * 8)) + 1), toUInt64(1)))"; // prettier-ignore
  const rest = `0, max(arrived), kafka_part, 0, 0`;
  if (scope === 3) return `SELECT 1, 3, ${String(seconds)}, toDateTime64((open + 1) * ${String(seconds)}, 0, 'UTC'), '', '', '', 0, ${place}, 0, 0, 0, max(arrived), map(), ${rest}, ${segment} FROM spans GROUP BY kafka_part, open`; // prettier-ignore
  if (scope === 0) return `SELECT 1, 0, ${String(seconds)}, ${at}, service, name, '', kind, ${place}, ${sums}, ${rest}, ${segment} FROM spans GROUP BY kafka_part, open, service, name, kind`; // prettier-ignore
  const caller = "concat('svc-', toString((toUInt8(substring(service, 5)) + 19) % 20))";
  return `SELECT 1, 1, ${String(seconds)}, ${at}, service, '', ${caller}, 0, ${place}, ${sums}, ${rest}, ${segment} FROM spans WHERE (kafka_idx % 10) IN (3, 6, 9) GROUP BY kafka_part, open, service`;
};

const own = await LogsqlStore.start();
for (let from = 0; from < traces; from += BATCH) await own.store.command(made(from, Math.min(BATCH, traces - from)));
for (const seconds of [60, 3600, 86_400])
  for (const scope of [0, 1, 3] as const)
    await own.store.command(`INSERT INTO span_counts (${COUNTS}) SELECT * EXCEPT open FROM (${counted(scope, seconds)})`, {
      max_threads: 2,
    });
// merges of what was just inserted would be measured, too
while (Number((await own.store.ownerRows('SELECT count() FROM system.merges'))[0]?.[0]) > 0) await sleep(500);
const store = own.open(Counting);
const engine = new LocalEngine({ store, now: () => START + DAY_NS, limits: { maxFacetFields: 50 } });
const ids = (await own.store.ownerRows(`SELECT lower(hex(trace_id)) FROM spans WHERE kafka_idx = 0 LIMIT 1 BY trace_id LIMIT 500`)).map(([id]) => String(id)); // prettier-ignore

const list = (given: string): object => ({ ...tracesParameters(new URLSearchParams(given)), ...window });
const search = (query: string): object => ({ query, ...window, limit: 20, before: null, enrich: false });
const us = (ns: bigint): string => String(ns / 1000n);
const jaeger = (given: string): object => jaegerSearch(new URLSearchParams(`start=${us(START)}&end=${us(START + DAY_NS)}&${given}`));
const QUESTIONS: readonly (readonly [string, string, (round: number) => object])[] = [
  ['a trace of 10 spans', 'traces/show', (round) => ({ id: ids[(round * 7) % ids.length] })],
  ['newest 20 of a service in a day', 'traces/list', (round) => list(`service=svc-${String(round % 20)}`)],
  ['with a minimum duration', 'traces/list', (round) => list(`service=svc-${String(round % 20)}&min_duration=49.9ms`)],
  ['with an attribute', 'traces/list', (round) => list(`service=svc-${String(round % 20)}&tag=user.id:${String(round * 31)}`)],
  ['an attribute without a service', 'traces/list', (round) => list(`tag=user.id:${String(round * 31)}`)],
  ['without any condition', 'traces/list', () => list('')],
  ['services', 'traces/services', () => ({ ...traceWindow(new URLSearchParams('')), ...window })],
  ['operations of a service', 'traces/operations', (round) => ({ service: `svc-${String(round % 20)}`, ...window })],
  ['service map of a day', 'traces/service-map', () => window],
  ['map of an hour and some minutes', 'traces/service-map', () => ({ start: '2026-11-18T10:07:00Z', end: '2026-11-18T11:30:00Z' })],
  [
    'span metrics of a service, an hour',
    'jaeger/metrics/latencies',
    (round) =>
      latenciesOf(
        new URLSearchParams(
          `quantile=0.95&service=svc-${String(round % 20)}&step=60000&endTs=${String((START + DAY_NS / 2n) / 1_000_000n)}`,
        ),
      ),
  ],
  [
    'the same by operation',
    'jaeger/metrics/latencies',
    (round) =>
      latenciesOf(
        new URLSearchParams(
          `quantile=0.95&groupByOperation=true&service=svc-${String(round % 20)}&step=60000&endTs=${String((START + DAY_NS / 2n) / 1_000_000n)}`,
        ),
      ),
  ],
  ['LogsQL: newest 20 spans of a service in a day', 'spans/search', (round) => search(`service:=svc-${String(round % 20)}`)],
  ['LogsQL: with a minimum duration', 'spans/search', (round) => search(`service:=svc-${String(round % 20)} duration:>=49.9ms`)],
  ['LogsQL: with an attribute', 'spans/search', (round) => search(`service:=svc-${String(round % 20)} user.id:=${String(round * 31)}`)],
  ['LogsQL: an attribute without a service', 'spans/search', (round) => search(`user.id:=${String(round * 31)}`)],
  ['LogsQL: a trace by its id', 'spans/search', (round) => search(`trace_id:=${ids[(round * 7) % ids.length] ?? ''}`)],
  ['LogsQL: without any condition', 'spans/search', () => search('*')],
  ['LogsQL: errors by service', 'spans/search', () => search('status:error | stats by (service) count() n')],
  ['LogsQL: p90 of a service', 'spans/search', () => search('service:=svc-3 | stats quantile(0.9, duration) p')],
  ['LogsQL: all counted', 'spans/search', () => search('* | stats count() n')],
  ['LogsQL: hits of a day by the hour', 'spans/hits', () => ({ query: '*', ...window, step: '1h', fields_by: [] })],
  ['LogsQL: facets of a service', 'spans/facets', () => ({ query: 'service:=svc-3', ...window, limit: 10 })],
  ["Jaeger's search, 20 whole traces", 'jaeger/traces', (round) => jaeger(`limit=20&service=svc-${String(round % 20)}`)],
];

const jobOf = (operation: string, parameters: object): QueryJob => ({
  ...{ operation, parameters, tenantId: 1, retentionDays: 0, atOnce: 4, requestId: 'bench', timeoutMs: 60_000 },
  ...{ startedAt: performance.now(), signal: new AbortController().signal },
});

console.log(`| among ${String(traces * 10)} spans | least | median | p90 | rows read |\n|---|--:|--:|--:|--:|`);
for (const [what, operation, parameters] of QUESTIONS.filter(([name]) => new RegExp(flags.only).test(name))) {
  const times: number[] = [];
  for (let round = 0; round < rounds + WARM_UP; round++) {
    if (round === WARM_UP) store.rowsRead = 0;
    const began = performance.now();
    const { stream } = await engine.run(jobOf(operation, parameters(round)));
    for await (const piece of stream ?? []) void piece;
    if (round >= WARM_UP) times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const part = (share: number): string => (times[Math.floor((times.length - 1) * share)] ?? NaN).toFixed(1);
  console.log(`| ${what} | ${part(0)} | ${part(0.5)} | ${part(0.9)} | ${String(Math.round(store.rowsRead / rounds))} |`);
}
await store.close();
await own.stop();
