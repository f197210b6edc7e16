import { expect } from 'chai';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

type Series = { readonly metric: Record<string, string>; readonly value: readonly [number, string] };
type Exemplars = { readonly seriesLabels: Record<string, string>; readonly exemplars: readonly { readonly labels: Record<string, string>; readonly value: string; readonly timestamp: number }[] }; // prettier-ignore

const MINUTE = 60_000;
/** A whole minute some time ago, and the end of the fifth one from there. */
const FROM = Math.floor(Date.now() / MINUTE) * MINUTE - 30 * MINUTE;
const END = FROM + 5 * MINUTE;
const nanos = (ms: number): string => `${String(ms)}000000`;
const TRACE = '5b8efff798038103d269b633813fc60c';

describe('what is derived of logs and spans, and exemplars, by PromQL', function () {
  this.timeout(300_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  let base: string;

  const get = async (path: string, given: Record<string, string>): Promise<unknown> => {
    const url = `${base}/prometheus/api/v1/${path}?${new URLSearchParams(given).toString()}`;
    const { status, body } = await instance.call('GET', url, undefined, { Authorization: `Bearer ${tenant.key}` });
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body as { data: unknown }).data;
  };
  const query = async (text: string, time = END): Promise<Record<string, number>> => {
    const { result } = (await get('query', { query: text, time: String(time / 1000) })) as { result: Series[] };
    return Object.fromEntries(result.map(({ metric, value }) => [Object.values(metric).join(), Number(value[1])]));
  };
  const send = async (path: string, body: object): Promise<void> => {
    const headers = { Authorization: `Bearer ${tenant.key}`, 'Content-Type': 'application/json' };
    const answer = await instance.call('POST', `${instance.ingest}${path}`, JSON.stringify(body), headers);
    expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 204);
  };

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    base = `${instance.app}/api/v1/tenants/${String(tenant.id)}`;
    const values = (count: number, minute: number): [string, string][] =>
      Array.from({ length: count }, (_none, at) => [nanos(FROM + minute * MINUTE + at * 100), `entry ${String(at)}`]);
    const stream = (app: string, level: string, count: number, minute: number): object => ({
      stream: { app, level },
      values: values(count, minute),
    });
    await send('/loki/api/v1/push', { streams: [stream('a', 'info', 7, 0), stream('a', 'error', 3, 1), stream('b', 'info', 20, 4), stream('b', 'info', 100, 5)] }); // prettier-ignore
    const span = (index: number): object => ({
      ...{ traceId: TRACE, spanId: `eee19b7ec3c1b17${String(index)}`, name: 'GET /cart', kind: 2 },
      ...{ startTimeUnixNano: nanos(FROM + index * 20_000), endTimeUnixNano: nanos(FROM + index * 20_000 + 100) },
      ...(index < 2 ? { status: { code: 2 } } : {}),
    });
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'cart' } }] };
    await send('/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ spans: [0, 1, 2, 3, 4].map(span) }] }] });
    const point = (asInt: string, minute: number, exemplars: object[] = []): object => ({ asInt, exemplars, timeUnixNano: nanos(FROM + minute * MINUTE), startTimeUnixNano: nanos(FROM) }); // prettier-ignore
    const exemplar = { timeUnixNano: nanos(FROM + 90_000), asDouble: 0.25, traceId: TRACE, spanId: 'eee19b7ec3c1b170' };
    const sum = { aggregationTemporality: 1, isMonotonic: true, dataPoints: [point('4', 1), point('6', 2, [exemplar]), point('1', 3)] };
    await send('/v1/metrics', { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: 'orders', sum }] }] }] });
  });

  it('has the entries of the log by level, and by stream', async () => {
    await until('the entries', () => query('sum(increase(logs_entries_total[5m]))'), (found) => found[''] === 30); // prettier-ignore
    expect(await query('sum by (level) (increase(logs_entries_total[5m]))')).to.deep.equal({ info: 27, error: 3 });
    expect(await query('increase(logs_entries_total{level="error"}[3m])', FROM + 2 * MINUTE)).to.deep.equal({ error: 3 });
    // a minute counts where it ends
    expect(await query('increase(logs_entries_total{level="error"}[1m])', FROM + MINUTE)).to.deep.equal({});
    expect(await query('sum(rate(logs_entries_total[1m]))', FROM + 6 * MINUTE)).to.deep.equal({ '': 100 / 60 });
    expect(await query('sum by (app) (increase(logs_stream_entries_total[5m]))')).to.deep.equal({ a: 10, b: 20 });
    expect(await query('sum by (app) (increase(logs_stream_entries_total{app="a",level!="info"}[5m]))')).to.deep.equal({ a: 3 });
  });

  it('has requests, errors and durations of spans', async () => {
    const of = 'sum by (service, operation, kind)';
    await until('the spans', () => query(`${of} (increase(traces_span_requests_total[5m]))`), (found) => found['server,GET /cart,cart'] === 5); // prettier-ignore
    expect(await query('sum(increase(traces_span_errors_total{service="cart"}[5m]))')).to.deep.equal({ '': 2 });
    expect(await query('sum(increase(traces_span_errors_total{service="other"}[5m]))')).to.deep.equal({});
    expect(await query('histogram_count(sum(increase(traces_span_duration_seconds[5m])))')).to.deep.equal({ '': 5 });
    expect((await query('histogram_sum(sum(increase(traces_span_duration_seconds[5m])))'))['']).to.be.closeTo(0.5, 1e-9);
    const { '': median = NaN } = await query('histogram_quantile(0.5, sum(increase(traces_span_duration_seconds[5m])))');
    expect(median).to.be.closeTo(0.1, 0.1 * 0.09);
  });

  it('tells what it derives', async () => {
    const metadata = (await get('metadata', { metric: 'traces_span_duration_seconds' })) as object;
    expect(metadata).to.have.property('traces_span_duration_seconds').that.has.nested.property('0.type', 'histogram');
  });

  it('sums deltas of OTLP in increase and rate', async () => {
    await until('the samples', () => query('increase(orders_total[5m])'), (found) => Object.values(found)[0] === 11); // prettier-ignore
    expect(Object.values(await query('rate(orders_total[90s])', FROM + 3 * MINUTE))).to.deep.equal([7 / 90]);
  });

  it('leads from an exemplar to its trace', async () => {
    const given = { query: 'rate(orders_total[5m]) > 0', start: String(FROM / 1000), end: String(END / 1000) };
    const [found] = (await get('query_exemplars', given)) as Exemplars[];
    expect(found?.seriesLabels).to.include({ __name__: 'orders_total', job: 'cart' });
    const [own] = found?.exemplars ?? [];
    expect([own?.value, own?.timestamp]).to.deep.equal(['0.25', (FROM + 90_000) / 1000]);
    const trace = await instance.call('GET', `${base}/traces/${own?.labels['trace_id'] ?? ''}`, undefined, { Authorization: `Bearer ${tenant.key}` }); // prettier-ignore
    expect(trace.status).to.equal(200);
    expect(await get('query_exemplars', { ...given, query: 'other' })).to.deep.equal([]);
    expect(await get('query_exemplars', { ...given, query: '1 + 1' })).to.deep.equal([]);
    expect(await get('query_exemplars', { ...given, end: given.start })).to.deep.equal([]);
  });
});
