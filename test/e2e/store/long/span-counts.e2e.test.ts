import { expect } from 'chai';
import { pino } from 'pino';
import { appEndpoint } from '../../../../api/http/endpoint.ts';
import { createJaegerEndpoints } from '../../../../api/traces/jaeger/endpoints.ts';
import { createTraceRoutes } from '../../../../api/traces/routes.ts';
import type { SignalRecord } from '../../../../pipeline/bus/records/signal-record.ts';
import type { SpanInput } from '../../../../pipeline/processors/spans/span-input.ts';
import { spanCounts } from '../../../../pipeline/processors/spans/span-counts.ts';
import { recount } from '../../../../sinks/audit/recount.ts';
import { spanCountsSink } from '../../../../sinks/span-counts.ts';
import { spansSink } from '../../../../sinks/spans.ts';
import type { Sink } from '../../../../sinks/sink.ts';
import { TableWriter } from '../../../../sinks/writer.ts';
import { FakeKeyStore } from '../../../fakes/key-store.ts';
import { spanBatch, spansValue, type PlainSpan } from '../../../fakes/span-rows.ts';
import { startHost } from '../../../fakes/test-host.ts';
import { Random } from '../../../fuzz/random.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { runtimeOver } from '../../query-setup.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const START = Math.floor(Date.now() / DAY) * DAY - 3 * DAY;
const SERVICES = ['web', 'cart', 'pay', 'größe'];
const PARTITIONS = 2;
const RECORDS = 160;

type Record_ = { readonly spans: readonly PlainSpan[]; readonly tenantId: number; readonly offset: number; readonly appendedAt: number };
type Log = readonly Record_[];
type JaegerFamily = {
  readonly name: string;
  readonly metrics: readonly {
    readonly labels: readonly { readonly name: string; readonly value: string }[];
    readonly metricPoints: readonly { readonly timestamp: string; readonly gaugeValue: { readonly doubleValue: number } }[];
  }[];
};

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const iso = (ms: number): string => new Date(ms).toISOString();

/** Requests through some services, all of one trace within a minute of append time, in any order. */
function someLog(random: Random, partition: number): Log {
  let [appendedAt, trace] = [START, partition * 1_000_000];
  const records: Record_[] = [];
  while (records.length < RECORDS) {
    appendedAt += random.below(8) === 0 ? random.below(3 * HOUR) : random.below(9 * MINUTE);
    const tenantId = 1 + random.below(2);
    const at = Math.max(START, appendedAt - (random.below(10) === 0 ? random.below(DAY) : random.below(20 * SECOND)));
    trace += 1;
    const path = Array.from({ length: 1 + random.below(4) }, () => random.pick(SERVICES));
    const spans = path.map((service, index): PlainSpan => ({
      ...{ trace, id: index + 1, parent: index, service, name: random.pick(['GET /', 'POST /']), kind: 1 + random.below(3) },
      ...{ isError: random.below(4) === 0, time: BigInt(at + index) * 1_000_000n, duration: BigInt(random.below(1e9)) },
    }));
    const shuffled = spans.sort(() => random.below(3) - 1);
    const cut = random.below(shuffled.length + 1);
    for (const part of [shuffled.slice(0, cut), shuffled.slice(cut)]) {
      // one is sent twice now and then
      const sent = random.below(6) === 0 ? [...part, ...part.slice(0, 1)] : part;
      if (sent.length > 0) records.push({ spans: sent, tenantId, offset: records.length, appendedAt });
      appendedAt += random.below(25 * SECOND);
    }
  }
  return records;
}

describe('what is counted of spans', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let host: Awaited<ReturnType<typeof startHost>>;
  let now = 0;
  const logs = Array.from({ length: PARTITIONS }, (_none, partition) => someLog(new Random(11 + partition), partition));
  const end = Math.max(...logs.flatMap((log) => log.map(({ appendedAt }) => appendedAt)));

  const writerOf = (sink: Sink): TableWriter =>
    new TableWriter({ sink, store: own.store, log: pino({ level: 'silent' }), mostRefused: 1, metrics: { stored: () => undefined } });
  const recordOf = (
    more: Pick<SignalRecord, 'partition' | 'offset' | 'timestamp' | 'count' | 'value'> & Partial<SignalRecord>,
  ): SignalRecord => ({
    ...{ tenantId: 0, retentionDays: 0, bytes: 0, encoding: 'columns', replayOf: null, fault: null },
    ...{ original: { key: null, value: null, headers: {}, timestamp: '0' }, ...more },
  });
  async function store(sink: Sink, partition: number, records: readonly SignalRecord[]): Promise<void> {
    if (records.length === 0) return;
    const [start, last] = [records[0]?.offset ?? 0, records.at(-1)?.offset ?? 0];
    const rows = records.reduce((sum, { count }) => sum + count, 0);
    const range = { topic: sink.signal.topic.name, partition, start, end: last, records, rows };
    expect(await writerOf(sink).store(range, false)).to.deep.equal([]);
  }

  /** What is found of the first records of a partition, and of the time after them where `isOver`. */
  function found(partition: number, count: number, isOver: boolean, first = 0): SignalRecord[] {
    const inputs = (logs[partition] as Log).slice(first, count).map(({ spans, ...position }) => (): SpanInput => spanBatch(spans, { ...position, partition, retentionDays: 0 })); // prettier-ignore
    const ticks = [2 * MINUTE, 2 * DAY].map((passed, index) => (): SpanInput => ({ kind: 'tick', partition, offset: count + index, appendedAt: end + passed })); // prettier-ignore
    const state = spanCounts.init();
    return [...inputs, ...(isOver ? ticks : [])]
      .flatMap((input) => spanCounts.fold(state, input()))
      .flatMap((record, offset) => ('kind' in record ? [] : [recordOf({ partition, offset, timestamp: end, count: Number((record.headers as Record<string, string>)['count']), value: record.value })])); // prettier-ignore
  }

  /** Puts what is found of these parts of the partitions into an empty table. `isLater`: how far it is counted is read again. */
  async function count(part: number, first = 0, isLater = true): Promise<void> {
    if (isLater) now += MINUTE;
    await own.store.command('TRUNCATE TABLE span_counts');
    for (const partition of logs.keys()) {
      const records = found(partition, Math.floor(RECORDS * part), part === 1, first);
      await store(spanCountsSink, partition, records);
      // another owner wrote some of them as well
      const again = records.slice(0, 3).map((record, index) => ({ ...record, offset: 100_000 + index }));
      await store(spanCountsSink, partition, again);
    }
  }

  before(async () => {
    own = await LogsqlStore.start();
    for (const [partition, log] of logs.entries())
      await store(
        spansSink,
        partition,
        log.map(({ spans, tenantId, offset, appendedAt }) =>
          recordOf({ partition, offset, timestamp: appendedAt, tenantId, count: spans.length, value: spansValue(spans) }),
        ),
      );
    now = end + MINUTE;
    const runtime = runtimeOver(own.store, { now: () => BigInt(now) * 1_000_000n });
    host = await startHost({
      keys: new FakeKeyStore({ one: {}, two: { tenantId: 2 } }),
      endpoints: [...createTraceRoutes(runtime).map((route) => appEndpoint(route)), ...createJaegerEndpoints(runtime)],
    });
  });
  after(async () => {
    await host.stop();
    await own.stop();
  });

  async function get(tenant: number, path: string, window: readonly [start: number, end: number]): Promise<unknown> {
    const query = new URLSearchParams({ start: iso(window[0]), end: iso(window[1] - 1) });
    const response = await fetch(`${host.url}/api/v1/tenants/${String(tenant)}/${path}?${query.toString()}`, {
      headers: { Authorization: `Bearer ${tenant === 1 ? 'one' : 'two'}` },
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  }

  /** `isOnce`: of spans of these records copies count once; a copy lies in the same record. */
  const spansIn = (
    tenantId: number,
    [from, to]: readonly [number, number],
    isOnce: (partition: number, offset: number) => boolean = () => false,
  ): PlainSpan[] =>
    logs.flatMap((log, partition) =>
      log
        .filter((record) => record.tenantId === tenantId)
        .flatMap(({ spans, offset }) => (isOnce(partition, offset) ? [...new Set(spans)] : spans))
        .filter(({ time = 0n }) => time >= BigInt(from) * 1_000_000n && time < BigInt(to) * 1_000_000n),
    );

  function expectedEdges(tenantId: number, window: readonly [number, number]): unknown[] {
    const all = new Map(spansIn(tenantId, [0, 2 * end]).map((span) => [`${String(span.trace)}/${String(span.id)}`, span]));
    const own_ = new Map(spansIn(tenantId, window).map((span) => [`${String(span.trace)}/${String(span.id)}`, span]));
    const edges = new Map<string, { calls: number; errors: number }>();
    for (const { trace, parent = 0, service, isError = false } of own_.values()) {
      const caller = all.get(`${String(trace)}/${String(parent)}`)?.service;
      if (caller === undefined || caller === service) continue;
      const key = JSON.stringify([caller, service]);
      const sum = edges.get(key) ?? { calls: 0, errors: 0 };
      edges.set(key, { calls: sum.calls + 1, errors: sum.errors + (isError ? 1 : 0) });
    }
    return [...edges].map(([key, sum]) => {
      const [caller, callee] = JSON.parse(key) as [string, string];
      return { caller, callee, ...sum };
    });
  }

  const sorted = (list: readonly unknown[]): string[] => list.map((one) => JSON.stringify(one)).sort();
  const WINDOWS: readonly (readonly [number, number])[] = [
    [START, end + MINUTE],
    [START + 5 * HOUR + 7 * MINUTE, START + 29 * HOUR + 11 * MINUTE],
    [START + 2 * HOUR, START + 2 * HOUR + 40 * MINUTE],
    [end - 3 * HOUR, end + MINUTE],
  ];

  /** Services, operations and the map of each window have each span and call once. */
  async function expectEachOnce(): Promise<void> {
    for (const tenant of [1, 2])
      for (const window of WINDOWS) {
        const spans = spansIn(tenant, window);
        expect(await get(tenant, 'services', window)).to.deep.include({
          services: [...new Set(spans.map(({ service }) => service))].sort(),
        });
        const operations = new Map<string, bigint>();
        for (const { service, name, kind = 0, time = 0n } of spans.filter(({ service: of }) => of === 'cart')) {
          const key = JSON.stringify({ name, kind: KINDS[kind] });
          const seen = operations.get(key) ?? 0n;
          expect(service).to.equal('cart');
          operations.set(key, time > seen ? time : seen);
        }
        const { operations: listed } = (await get(tenant, 'services/cart/operations', window)) as {
          readonly operations: { name: string; kind: string }[];
        };
        expect(sorted(listed.map(({ name, kind }) => ({ name, kind })))).to.deep.equal([...operations.keys()].sort());
        if (window === WINDOWS[0])
          for (const { name, kind, last_seen: seen } of listed as { name: string; kind: string; last_seen: string }[])
            expect(Date.parse(seen)).to.equal(Number((operations.get(JSON.stringify({ name, kind })) ?? 0n) / 1_000_000_000n) * 1000);
        const map = (await get(tenant, 'service-map', window)) as { readonly edges: unknown[]; readonly missed: number };
        expect(sorted(map.edges), JSON.stringify(window)).to.deep.equal(sorted(expectedEdges(tenant, window)));
        expect(map.missed).to.equal(0);
      }
  }

  // nothing is counted: what was stored by a release before; a part of it, which is what a restart finds; all
  for (const part of [0, 0.3, 0.9, 1])
    it(`has each span and call once, with ${String(100 * part)} % of the log counted`, async () => {
      await count(part);
      await expectEachOnce();
    });

  // how far it is counted is known as it was before
  for (const [part, more] of [
    [0, 0.3],
    [0.3, 0.9],
    [0.9, 1],
  ] as const)
    // prettier-ignore
    it(`has each span and call once while ${String(100 * more)} % are counted and ${String(100 * part)} % are known to be`, async () => {
      await count(part);
      await get(1, 'services', WINDOWS[0] as readonly [number, number]);
      await get(2, 'services', WINDOWS[0] as readonly [number, number]);
      await count(more, 0, false);
      await expectEachOnce();
    });

  it('looks at the spans that came before anything was counted', async () => {
    await count(1, 60);
    for (const window of WINDOWS) {
      const spans = spansIn(2, window);
      expect(await get(2, 'services', window)).to.deep.include({ services: [...new Set(spans.map(({ service }) => service))].sort() });
      const { operations } = (await get(2, 'services/web/operations', window)) as { readonly operations: readonly { readonly name: string; readonly kind: string }[] }; // prettier-ignore
      const own_ = spans.filter(({ service }) => service === 'web').map(({ name, kind = 0 }) => ({ name, kind: KINDS[kind] }));
      expect(sorted(operations.map(({ name, kind }) => ({ name, kind })))).to.deep.equal([...new Set(sorted(own_))].sort());
    }
  });

  for (const part of [0, 0.9, 1])
    it(`has the rates and quantiles of spans, with ${String(100 * part)} % of the log counted`, async () => {
      await count(part);
      const cover = await own.store.ownerRows('SELECT log_part, max(until) FROM span_counts GROUP BY log_part');
      const counted = new Map(cover.map(([partition, until]) => [Number(partition), Number(until)]));
      const isCounted = (partition: number, offset: number): boolean => offset < (counted.get(partition) ?? 0);
      const at = Math.floor(end / HOUR) * HOUR;
      const given = { service: 'cart', endTs: String(at), lookback: String(30 * HOUR), step: String(HOUR), ratePer: String(6 * HOUR) };
      const family = async (path: string, more: Readonly<Record<string, string>> = {}): Promise<JaegerFamily> => {
        const query = new URLSearchParams({ ...given, ...more });
        for (const service of ['web', 'nosuch']) query.append('service', service);
        for (const kind of ['server', 'client']) query.append('spanKind', kind);
        const response = await fetch(`${host.url}/api/v1/tenants/1/jaeger/api/metrics/${path}?${query.toString()}`, {
          headers: { Authorization: 'Bearer one' },
        });
        expect(response.status).to.equal(200);
        return (await response.json()) as JaegerFamily;
      };
      /** What the points of a series are to be: of the spans of six hours before each. */
      const expected = (isOwn: (span: PlainSpan) => boolean, value: (spans: readonly PlainSpan[]) => number): [string, number][] =>
        Array.from({ length: 31 }, (_none, index) => at - (30 - index) * HOUR).flatMap((until): [string, number][] => {
          const own_ = spansIn(1, [until - 6 * HOUR, until], isCounted).filter(
            (span) => isOwn(span) && (span.kind === 2 || span.kind === 3),
          );
          return own_.length === 0 ? [] : [[iso(until), value(own_)]];
        });
      const pointsOf = ({ metricPoints }: JaegerFamily['metrics'][number]): [string, number][] =>
        metricPoints.map(({ timestamp, gaugeValue }) => [new Date(timestamp).toISOString(), gaugeValue.doubleValue]);
      const calls = await family('calls');
      expect(calls).to.deep.include({ name: 'service_call_rate', type: 'GAUGE', help: 'calls/sec, grouped by service' });
      expect(calls.metrics.map(({ labels }) => labels)).to.have.deep.members(['cart', 'web'].map((value) => [{ name: 'service_name', value }])); // prettier-ignore
      for (const one of calls.metrics)
        expect(pointsOf(one)).to.deep.equal(expected(({ service }) => service === one.labels[0]?.value, ({ length }) => length / (6 * 3600))); // prettier-ignore
      const errors = await family('errors', { groupByOperation: 'true' });
      expect(errors.name).to.equal('service_operation_error_rate');
      for (const one of errors.metrics) {
        const [operation, service] = one.labels.map(({ value }) => value);
        expect(pointsOf(one)).to.deep.equal(
          expected(
            (span) => span.service === service && span.name === operation,
            (spans) => spans.filter(({ isError }) => isError).length / spans.length,
          ),
        );
      }
      const { metrics: latencies } = await family('latencies', { quantile: '0.9' });
      for (const one of latencies) {
        const exact = expected(({ service }) => service === one.labels[0]?.value, (spans) => {
          const sorted = spans.map(({ duration = 0n }) => Number(duration) / 1e6).sort((a, b) => a - b);
          return sorted[Math.ceil(0.9 * sorted.length) - 1] ?? NaN;
        }); // prettier-ignore
        const points = pointsOf(one);
        expect(points.map(([time]) => time)).to.deep.equal(exact.map(([time]) => time));
        points.forEach(([, value], index) => expect(value).to.be.closeTo(exact[index]?.[1] ?? NaN, 0.05 * (exact[index]?.[1] ?? NaN)));
      }
    });

  it('equals a recount of what is stored, and differs where a row is missing or one too many', async () => {
    const compared = { from: Math.floor((START - DAY) / 1000), to: Math.floor((end + DAY) / 1000) };
    for (const part of [0.3, 1]) {
      await count(part);
      expect(await recount(own.store, compared)).to.deep.equal([]);
    }
    const rows = await own.store.ownerRows("SELECT count() FROM span_counts WHERE scope = 1 AND span = 60 AND caller = 'web'", {});
    expect(Number(rows[0]?.[0])).to.be.greaterThan(10);
    await own.store.command("ALTER TABLE span_counts DELETE WHERE scope = 1 AND span = 60 AND caller = 'web' SETTINGS mutations_sync = 2");
    const lacking = await recount(own.store, compared);
    expect(lacking.length).to.be.greaterThan(10);
    expect(lacking.every(({ kind, other, counted, stored }) => kind === 'edge' && other === 'web' && counted < stored)).to.equal(true);
    await count(1);
    await own.store.command("ALTER TABLE spans DELETE WHERE service = 'pay' SETTINGS mutations_sync = 2");
    const more = await recount(own.store, compared);
    expect(more.some(({ kind, service, counted, stored }) => kind === 'operation' && service === 'pay' && counted > stored)).to.equal(true);
  });
});
