import { collectd, java, node, prometheus, python, telegraf, type Running, type Workplace } from './programs.ts';
import type { ToolsetName } from './toolsets.ts';

/** A query of PromQL that finds one series: what it must have, and its value where that is known. */
export type FoundSeries = { readonly query: string; readonly labels?: Readonly<Record<string, string>>; readonly value?: number };

/** A real client of metrics, how it is run, and what must be read back of what it sent. */
export type Sender = {
  readonly name: string;
  /** The folder of `examples/shippers/`, and what to replace in it. */
  readonly example: string;
  readonly edit?: readonly [string, string];
  readonly toolset: ToolsetName;
  readonly start: (at: Workplace) => Running | Promise<Running>;
  /** Every upload: method, path, content type, encoding. */
  readonly request: string;
  /** Whether it soon sends again what was answered 503; then its first upload is. */
  readonly resends: boolean;
  readonly found: readonly FoundSeries[];
};

const OTLP = { job: 'checkout', instance: 'web-1' };
const orders: readonly FoundSeries[] = [
  { query: 'orders_created_total', labels: { ...OTLP, order_kind: 'gift ☕' }, value: 7 },
  { query: 'queue_length', labels: OTLP, value: -2.5 },
  { query: 'checkout_duration_seconds_bucket{le="0.5"}', labels: { ...OTLP, method: 'POST' }, value: 1 },
  { query: 'checkout_duration_seconds_bucket{le="1"}', value: 2 },
  { query: 'checkout_duration_seconds_bucket{le="+Inf"}', value: 3 },
  { query: 'checkout_duration_seconds_sum', value: 3.9 },
  { query: 'target_info', labels: OTLP, value: 1 },
];
const INFLUX = { host: 'web-1', org: 'shop', bucket: 'metrics' };
const points: readonly FoundSeries[] = [
  { query: 'orders_created', labels: { ...INFLUX, kind: 'gift, ☕' }, value: 7 },
  { query: 'queue', labels: INFLUX, value: -2.5 },
];
const page: readonly FoundSeries[] = [
  { query: 'up{job="prometheus"}', value: 1 },
  { query: 'prometheus_build_info', labels: { job: 'prometheus' }, value: 1 },
];

/** The clients of metrics that tests run. */
export const SENDERS: readonly Sender[] = [
  ...['proto', 'http'].map((exporter): Sender => ({
    name: `OpenTelemetry SDK for JS, ${exporter === 'proto' ? 'protobuf' : 'JSON'}`,
    example: 'opentelemetry-js-metrics',
    ...(exporter === 'http' ? { edit: ["exporter-metrics-otlp-proto';", "exporter-metrics-otlp-http';"] } : {}),
    toolset: 'node',
    start: node('app.mjs'),
    request: `POST /v1/metrics application/${exporter === 'proto' ? 'x-protobuf' : 'json'} gzip`,
    ...{ resends: true, found: orders },
  })),
  {
    ...{ name: 'OpenTelemetry SDK for Python', example: 'opentelemetry-python-metrics', toolset: 'python', start: python('app.py') },
    ...{ request: 'POST /v1/metrics application/x-protobuf gzip', resends: true, found: orders },
  },
  {
    ...{ name: 'OpenTelemetry SDK for Java', example: 'opentelemetry-java-metrics', toolset: 'java', start: java },
    ...{ request: 'POST /v1/metrics application/x-protobuf gzip', resends: true, found: orders },
  },
  {
    ...{ name: "InfluxDB's client for JS", example: 'influxdb-client-js', toolset: 'node', start: node('app.mjs') },
    ...{ request: 'POST /api/v2/write text/plain; charset=utf-8', resends: false, found: points },
  },
  {
    ...{ name: "InfluxDB's client for Python", example: 'influxdb-client-python', toolset: 'python', start: python('app.py') },
    ...{ request: 'POST /api/v2/write text/plain gzip', resends: false, found: points },
  },
  {
    ...{ name: 'Prometheus 2.42, remote write 1.0', example: 'prometheus', toolset: 'prometheus', start: prometheus },
    ...{ request: 'POST /api/v1/write application/x-protobuf snappy', resends: true, found: page },
  },
  {
    ...{ name: 'collectd, through Prometheus', example: 'collectd', toolset: 'prometheus', start: collectd },
    ...{ request: 'POST /api/v1/write application/x-protobuf snappy', resends: true },
    found: [{ query: 'collectd_load_shortterm', labels: { job: 'collectd' } }, { query: 'collectd_memory{memory="free"}' }],
  },
  {
    ...{ name: 'Telegraf', example: 'telegraf', toolset: 'telegraf', start: telegraf },
    ...{ request: 'POST /api/v2/write text/plain; charset=utf-8 gzip', resends: false },
    found: [{ query: 'mem_used_percent', labels: { org: 'shop', bucket: 'metrics' } }],
  },
  {
    ...{ name: 'Prometheus 3, remote write 2.0', example: 'prometheus-remote-write-2', toolset: 'prometheus-3', start: prometheus },
    request: 'POST /api/v1/write application/x-protobuf;proto=io.prometheus.write.v2.Request snappy',
    ...{ resends: true, found: page },
  },
];
