/** What Logweir's own operators are alerted on and look at: from these rows come compose/monitoring/alerts.yml and compose/monitoring/dashboard.json. */
import { stringify } from 'yaml';

/** A rule of Prometheus over the service's own metrics. */
export type OwnAlert = {
  readonly name: string;
  readonly expr: string;
  /** How long it must hold; as Prometheus has durations. */
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  /** The section of docs/operations.md that has what to do. */
  readonly section: string;
};

export const OWN_ALERTS: readonly OwnAlert[] = [
  {
    name: 'LogweirDown',
    expr: 'up{job="logweir"} == 0',
    for: '1m',
    severity: 'critical',
    summary: 'The internal listener of {{ $labels.instance }} does not answer.',
    section: 'is-it-well',
  },
  {
    name: 'LogweirIngestPaused',
    expr: 'max by (instance) (logweir_ingest_paused) == 1',
    for: '1m',
    severity: 'critical',
    summary: 'Ingest is paused on {{ $labels.instance }} (429 wal_full).',
    section: 'when-the-log-is-full',
  },
  {
    name: 'LogweirInsertsFail',
    expr: 'max by (table) (logweir_failing_inserts) == 1',
    for: '2m',
    severity: 'critical',
    summary: 'ClickHouse takes no inserts into {{ $labels.table }}.',
    section: 'what-goes-away-and-what-shows-it',
  },
  {
    name: 'LogweirLagGrows',
    expr: 'sum by (topic) (logweir_consumer_lag) > 1000 and sum by (topic) (deriv(logweir_consumer_lag[10m])) > 0',
    for: '10m',
    severity: 'warning',
    summary: '{{ $value | humanize }} records of {{ $labels.topic }} are not stored, and their number grows.',
    section: 'is-it-well',
  },
  {
    name: 'LogweirDeadLetters',
    expr: 'sum by (topic, reason) (increase(logweir_dead_letters_total[15m])) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'Records of {{ $labels.topic }} became dead letters ({{ $labels.reason }}).',
    section: 'records-that-cannot-be-stored',
  },
  {
    name: 'LogweirRecordsExpired',
    expr: 'sum by (topic) (increase(logweir_expired_records_total[1h])) > 0',
    for: '0m',
    severity: 'critical',
    summary: 'Kafka deleted records of {{ $labels.topic }} before they were stored.',
    section: 'when-the-log-is-full',
  },
  {
    name: 'LogweirBackpressure',
    expr: 'sum by (instance) (rate(logweir_errors_total{slug="backpressure"}[5m])) > 0.1',
    for: '5m',
    severity: 'warning',
    summary: 'Clients of {{ $labels.instance }} are refused with 429 backpressure.',
    section: 'when-clients-are-refused',
  },
  {
    name: 'LogweirInternalErrors',
    expr: 'sum by (instance) (increase(logweir_errors_total{status="500"}[10m])) + sum by (instance) (increase(logweir_failed_streams_total{slug="internal_error"}[10m])) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'Requests to {{ $labels.instance }} failed with 500; the log of the role has why.',
    section: 'is-it-well',
  },
  {
    name: 'LogweirRowPoliciesMissing',
    expr: 'max(logweir_missing_row_policies) > 0',
    for: '1m',
    severity: 'critical',
    summary: 'The second wall between tenants is missing on {{ $value }} tables.',
    section: 'clickhouse-users',
  },
  {
    name: 'LogweirProcessorHalted',
    expr: 'max by (processor) (logweir_processor_halted) > 0',
    for: '1m',
    severity: 'critical',
    summary: 'The processor {{ $labels.processor }} is halted in {{ $value }} partitions.',
    section: 'is-it-well',
  },
  {
    name: 'LogweirProcessorLags',
    expr: 'sum by (processor) (logweir_processor_lag) > 10000',
    for: '10m',
    severity: 'warning',
    summary: 'The processor {{ $labels.processor }} is {{ $value | humanize }} records behind.',
    section: 'is-it-well',
  },
  {
    name: 'LogweirQueryWorkersEnd',
    expr: 'sum by (why) (increase(logweir_query_workers_lost_total[15m])) > 5',
    for: '0m',
    severity: 'warning',
    summary: '{{ $value | humanize }} query workers ended in a quarter of an hour ({{ $labels.why }}).',
    section: 'what-bounds-one-tenant',
  },
  {
    name: 'LogweirNotificationsFail',
    expr: 'sum by (to) (increase(logweir_notifications_total{outcome="failed"}[15m])) > 0',
    for: '0m',
    severity: 'warning',
    summary: 'Alerts of tenants could not be sent to {{ $labels.to }}.',
    section: 'what-goes-away-and-what-shows-it',
  },
];

type Panel = { readonly title: string; readonly unit: string; readonly series: readonly (readonly [expr: string, legend: string])[] };

const rate = (name: string, by: string): string => `sum by (${by}) (rate(${name}[$__rate_interval]))`;

const PANELS: readonly Panel[] = [
  { title: 'Entries accepted', unit: 'ops', series: [[rate('logweir_entries_total', 'signal'), '{{signal}}']] },
  { title: 'Bytes accepted', unit: 'Bps', series: [[rate('logweir_ingest_bytes_total', 'signal'), '{{signal}}']] },
  { title: 'Refused and failed requests', unit: 'reqps', series: [[rate('logweir_errors_total', 'slug, status'), '{{status}} {{slug}}']] },
  {
    title: 'Time to answer',
    unit: 's',
    series: [
      ['histogram_quantile(0.99, sum by (le, role) (rate(logweir_http_request_seconds_bucket[$__rate_interval])))', 'p99 {{role}}'],
      ['histogram_quantile(0.5, sum by (le, role) (rate(logweir_http_request_seconds_bucket[$__rate_interval])))', 'p50 {{role}}'],
    ],
  },
  { title: 'Records not stored yet', unit: 'short', series: [['sum by (topic) (logweir_consumer_lag)', '{{topic}}']] },
  { title: 'Rows stored', unit: 'ops', series: [[rate('logweir_stored_rows_total', 'table'), '{{table}}']] },
  {
    title: 'Time of an insert, p95',
    unit: 's',
    series: [['histogram_quantile(0.95, sum by (le, table) (rate(logweir_insert_seconds_bucket[$__rate_interval])))', '{{table}}']],
  },
  {
    title: 'Records that processors have not taken',
    unit: 'short',
    series: [['sum by (processor) (logweir_processor_lag)', '{{processor}}']],
  },
  {
    title: 'Queries of the busiest tenants',
    unit: 'ops',
    series: [[`topk(10, ${rate('logweir_tenant_queries_total', 'tenant')})`, 'tenant {{tenant}}']],
  },
  {
    title: 'Bytes of the largest tenants',
    unit: 'Bps',
    series: [[`topk(10, ${rate('logweir_tenant_bytes_total', 'tenant')})`, 'tenant {{tenant}}']],
  },
  { title: 'CPU', unit: 'percentunit', series: [[rate('process_cpu_seconds_total{job="logweir"}', 'role'), '{{role}}']] },
  {
    title: 'Memory',
    unit: 'bytes',
    series: [['sum by (role, instance) (process_resident_memory_bytes{job="logweir"})', '{{role}} {{instance}}']],
  },
];

/** compose/monitoring/alerts.yml. */
export function alertRules(): string {
  const rules = OWN_ALERTS.map(({ name, expr, for: lasts, severity, summary, section }) => ({
    alert: name,
    expr,
    for: lasts,
    labels: { severity },
    annotations: { summary, runbook: `docs/operations.md#${section}` },
  }));
  const head = '# Made by `npm run docs` from docs/monitoring.ts. The job that scrapes the internal listeners must be called logweir.\n';
  return head + stringify({ groups: [{ name: 'logweir', rules }] }, { lineWidth: 0 });
}

/** compose/monitoring/dashboard.json, for Grafana. */
export function dashboard(): string {
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  const panels = PANELS.map(({ title, unit, series }, index) => ({
    id: index + 1,
    type: 'timeseries',
    title,
    datasource,
    gridPos: { h: 8, w: 12, x: (index % 2) * 12, y: Math.floor(index / 2) * 8 },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: series.map(([expr, legendFormat], at) => ({ refId: String.fromCharCode(65 + at), datasource, expr, legendFormat })),
  }));
  const templating = { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }] };
  const page = {
    uid: 'logweir',
    title: 'Logweir',
    tags: ['logweir'],
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating,
    panels,
  };
  return `${JSON.stringify(page, null, 2)}\n`;
}

/** Every expression of the rules and of the dashboard. */
export const ownExpressions = (): string[] => [
  ...OWN_ALERTS.map(({ expr }) => expr),
  ...PANELS.flatMap(({ series }) => series.map(([expr]) => expr)),
];
