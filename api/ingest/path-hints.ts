/** Paths that shippers of other systems send to, which are no format of ours or have another path here. */
const HINTS: readonly (readonly [path: RegExp, hint: string])[] = [
  [
    /^\/(?:api\/v2\/logs|v1\/input(?:\/.*)?|api\/v1\/input|insert\/datadog\/.*)$/,
    "Datadog's API has no path here; send its JSON to /api/v1/ingest.",
  ],
  [/^\/(?:ingest\/clef|api\/events\/raw)$/, 'Events of Seq in CLEF, one a line, are taken as JSON at /api/v1/ingest.'],
  [/^\/api\/prom\/push$/, "This is the path of Loki before 1.0; Loki's is /loki/api/v1/push."],
  [
    /^\/insert\/(?:journald|native)(?:\/.*)?$/,
    'This format is not supported; journald entries are taken as JSON at /api/v1/ingest, or by syslog at /api/v1/syslog.',
  ],
  [
    /^\/insert\/opentelemetry\/(?:api\/v1\/push|.*)$/,
    'OpenTelemetry logs are taken at /insert/opentelemetry/v1/logs and /v1/logs, traces at /insert/opentelemetry/v1/traces and /v1/traces.',
  ],
  [/^\/(?:api\/v[13]\/spans|zipkin\/.*|spans)$/, "Zipkin's spans are taken as JSON version 2 at /api/v2/spans."],
  [/^\/(?:api\/)?traces$/, 'OpenTelemetry traces are taken at /v1/traces, Zipkin at /api/v2/spans.'],
  [/^\/insert\/syslog$|^\/syslog$/, 'Syslog is taken at /api/v1/syslog.'],
  [
    /^\/insert\/splunk\/.*|^\/services(?:\/.*)?$/,
    "Splunk's paths here are /services/collector/event, /services/collector/raw, /services/collector/health and /services/collector/ack.",
  ],
  [/^\/insert\/loki\/.*|^\/loki(?:\/.*)?$|^\/push$/, "Loki's path here is /loki/api/v1/push."],
  [/\/_(?:doc|create|update)(?:\/[^/]*)?$/, 'Documents are taken in bulk alone: /_bulk, or /INDEX/_bulk.'],
  [
    /^\/insert\/elasticsearch\/?.*|^\/_(?:search|cat|cluster|nodes|ingest|index_template|template|ilm|security|component_template|data_stream)(?:\/.*)?$/,
    "Of Elasticsearch's API this host has /_bulk, /INDEX/_bulk and what clients look at before; searches are LogsQL on the app host.",
  ],
  [
    /^\/insert(?:\/.*)?$/,
    "Of VictoriaLogs' paths this host has /insert/jsonline, /insert/elasticsearch/_bulk, /insert/loki/api/v1/push, /insert/opentelemetry/v1/logs and /insert/splunk/services/collector/event.",
  ],
  [/^\/(?:fluentd?|td\.log|api\/v1\/fluent-?bit)$/, 'Fluentd and Fluent Bit send to /api/v1/fluent.'],
  [
    /^\/(?:api\/v1\/)?(?:logs?|entries|events?|json|jsonline|ingest|bulk|api\/logs)$|^\/api\/v1\/push$/,
    'JSON entries are taken at /api/v1/ingest.',
  ],
  [/^\/(?:opentelemetry|otlp|otel)(?:\/.*)?$/, 'OpenTelemetry logs are taken at /v1/logs, traces at /v1/traces.'],
  [
    /^\/(?:api\/v1\/)?(?:heroku|vercel|cloudwatch|firehose|drains?)(?:\/.*)?$/,
    'Drains are taken at /api/v1/drain, /api/v1/drain/heroku and /api/v1/drain/vercel, CloudWatch at /api/v1/cloudwatch.',
  ],
];

/** What is said of a path that does not exist and looks like one of a shipper; undefined: nothing special. */
export function ingestHint(path: string): string | undefined {
  const hint = path.length > 300 ? undefined : HINTS.find(([pattern]) => pattern.test(path))?.[1];
  return hint === undefined ? undefined : `No such path. ${hint}`;
}
