/**
 * `npm run bench:promql-read -- [--series 1000] [--prometheus PATH] [--rounds 5]`: queries over a day of stored samples, 30 s apart, at steps of 60 s, by the
 * HTTP API of an instance of its own; and by a server of Prometheus 3 with the same samples, in turns (test/promql/oracle/ has how it is built).
 */
import { parseArgs } from 'node:util';
import { compress } from 'snappyjs';
import type { RawSeries } from '../promql/base/series.ts';
import { Labels } from '../promql/values/labels.ts';
import { startInstance } from '../test/e2e/instance.ts';
import { Random } from '../test/fuzz/random.ts';
import { startPrometheus } from '../test/promql/oracle/prometheus-process.ts';
import { writeRequest } from '../test/promql/oracle/write-request.ts';
import { ask, merged, newTenant } from './instance-load.ts';

const { values: flags } = parseArgs({
  options: {
    series: { type: 'string', default: '1000' },
    prometheus: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
  },
});
const [DAY, STEP, PER_BODY, PER_SERIES] = [86_400_000, 30_000, 20, 2880];
const SERIES = Number(flags.series);
const END = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000;
const out = (line: string): void => void process.stdout.write(`${line}\n`);

/** Counters in ten groups, each of its own pace. */
function seriesAt(place: number): RawSeries {
  const random = new Random(place + 1);
  const labels = Labels.of([
    ['__name__', 'requests_total'],
    ['group', `g${String(place % 10)}`],
    ['instance', `10.0.${String(place >> 8)}.${String(place & 255)}:9090`],
    ['job', 'bench'],
    ['place', String(place)],
  ]);
  const timestamps = Float64Array.from({ length: PER_SERIES }, (_none, at) => END - DAY + at * STEP + (place % 100));
  let value = 0;
  const values = timestamps.map(() => (value += random.below(500))); // prettier-ignore
  return { labels, timestamps, values };
}

const MANY = SERIES > 100 ? '{place=~".?.?"}' : '';
const QUERIES: readonly (readonly [name: string, query: string])[] = [
  ['one series, rate', 'rate(requests_total{place="7"}[5m])'],
  ['100 series, sum by rate', `sum by (group) (rate(requests_total${MANY}[5m]))`],
  [`${String(SERIES)} series, sum by rate`, 'sum by (group) (rate(requests_total[5m]))'],
  [`${String(SERIES)} series, sum by avg_over_time`, 'sum by (group) (avg_over_time(requests_total[5m]))'],
  [`${String(SERIES)} series, sum by quantile_over_time`, 'sum by (group) (quantile_over_time(0.9, requests_total[5m]))'],
  [`${String(SERIES)} series, sum`, 'sum(requests_total)'],
  [`${String(SERIES)} series, quantile by of rate`, 'quantile by (group) (0.9, rate(requests_total[5m]))'],
];

const instance = await startInstance();
const prometheus = flags.prometheus === '' ? null : await startPrometheus(flags.prometheus);
try {
  const { id, key } = await newTenant(instance);
  const headers = { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy' };
  for (let from = 0; from < SERIES; from += PER_BODY) {
    const body = Buffer.from(
      compress(writeRequest(Array.from({ length: Math.min(PER_BODY, SERIES - from) }, (_none, at) => seriesAt(from + at)))),
    );
    if (prometheus !== null) await sent(`${prometheus.url}/api/v1/write`, body, headers);
    await sent(`${instance.app}/api/v1/write`, body, { ...headers, Authorization: `Bearer ${key}` });
  }
  while (Number(await ask(instance, `SELECT count() FROM samples WHERE tenant_id = ${String(id)}`)) < SERIES * PER_SERIES)
    await merged(instance);
  await merged(instance);
  const sides: [string, string, Record<string, string>][] = [
    ['logweir', `${instance.app}/api/v1/tenants/${String(id)}/prometheus`, { Authorization: `Bearer ${key}` }],
    ...(prometheus === null ? [] : [['prometheus', prometheus.url, {}] as [string, string, Record<string, string>]]),
  ];
  for (const [name, query] of QUERIES) {
    const times = new Map(sides.map(([side]): [string, number[]] => [side, []]));
    for (let round = 0; round <= Number(flags.rounds); round++)
      for (const [side, url, own] of sides) {
        const ms = await asked(url, own, query);
        if (round > 0) times.get(side)?.push(ms);
      }
    const shown = [...times].map(([side, all]) => `${side} ${median(all).toFixed(1)} ms (least ${Math.min(...all).toFixed(1)})`);
    out(`${name}: ${shown.join(', ')}`);
  }
} finally {
  await prometheus?.stop();
  await instance.stop();
}

async function sent(url: string, body: Buffer, headers: Readonly<Record<string, string>>): Promise<void> {
  for (;;) {
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.arrayBuffer();
    if (response.status < 300) return;
    if (response.status !== 503) throw new Error(`${url} answered ${String(response.status)}`);
  }
}

async function asked(url: string, headers: Readonly<Record<string, string>>, query: string): Promise<number> {
  const form = new URLSearchParams({ query, start: String((END - DAY) / 1000), end: String(END / 1000), step: '60' });
  const began = performance.now();
  const response = await fetch(`${url}/api/v1/query_range`, { method: 'POST', headers, body: form });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${query}: ${String(response.status)} ${text.slice(0, 300)}`);
  return performance.now() - began;
}

function median(all: readonly number[]): number {
  return [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN;
}
