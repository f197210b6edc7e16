import { metricsProtobuf } from '../../test/fixtures/otlp/metrics.ts';
import { Random } from '../../test/fuzz/random.ts';

const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const [METRICS, POINTS] = [20, 50];

/** A body of OTLP metrics in both encodings, and how many data points it has. */
export type OtlpMetrics = { readonly json: Buffer; readonly protobuf: Buffer; readonly points: number };

const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });

const RESOURCE = {
  attributes: [
    ...[text('service.name', 'checkout'), text('service.namespace', 'shop'), text('service.instance.id', 'checkout-7d9f8b6c5d-1')],
    ...[text('host.name', 'ip-10-0-3-7'), text('deployment.environment.name', 'prod'), text('telemetry.sdk.language', 'nodejs')],
  ],
};

/** What an SDK's HTTP instrumentation puts on a point. */
const attributesOf = (place: number): readonly object[] => [
  ...[text('http.request.method', 'GET'), text('http.route', `/api/products/${String(place)}`), text('url.scheme', 'http')],
  { key: 'http.response.status_code', value: { intValue: '200' } },
  text('server.address', 'checkout.shop.svc'),
];

/** Two of three metrics are sums, one is a gauge; or all are histograms with 15 buckets. 50 points each, of one time. */
export function otlpMetrics(kind: 'numbers' | 'histograms', seed: number, now: number): OtlpMetrics {
  const random = new Random(seed);
  const times = { startTimeUnixNano: `${String(now - 3_600_000)}000000`, timeUnixNano: `${String(now)}000000` };
  const counts = (): string[] => Array.from({ length: BOUNDS.length + 1 }, () => String(random.below(5000)));
  const point = (place: number): object => {
    const shared = { attributes: attributesOf(place), ...times };
    if (kind === 'numbers') return { ...shared, asDouble: random.below(1_000_000) / 100 };
    const bucketCounts = counts();
    const count = String(bucketCounts.reduce((sum, one) => sum + Number(one), 0));
    return { ...shared, count, sum: random.below(100_000) / 7, bucketCounts, explicitBounds: BOUNDS };
  };
  const metric = (place: number): object => {
    const dataPoints = Array.from({ length: POINTS }, (_none, at) => point(at));
    const about = { name: `http.server.metric.${String(place)}`, description: 'What an SDK counts of requests.', unit: 's' };
    if (kind === 'histograms') return { ...about, histogram: { aggregationTemporality: 2, dataPoints } };
    return place % 3 === 0
      ? { ...about, gauge: { dataPoints } }
      : { ...about, sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints } };
  };
  const metrics = Array.from({ length: METRICS }, (_none, place) => metric(place));
  const request = { resourceMetrics: [{ resource: RESOURCE, scopeMetrics: [{ scope: { name: 'http', version: '1' }, metrics }] }] };
  return {
    json: Buffer.from(JSON.stringify(request)),
    protobuf: metricsProtobuf(request),
    points: METRICS * POINTS,
  };
}
