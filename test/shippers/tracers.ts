import { goProgram, java, node, python, shell, throughCollector, type Running, type Workplace } from './programs.ts';
import { byGo, byJava, byNode, byPython, byZipkin, type Statement } from './stated-spans.ts';
import type { ToolsetName } from './toolsets.ts';

/** A real client of traces, how it is run, and who says what it sent. */
export type Tracer = {
  readonly name: string;
  /** The folder of `examples/traces/`, and what to replace in it. */
  readonly example: string;
  readonly edit?: readonly [string, string];
  readonly toolset: ToolsetName;
  readonly start: (at: Workplace) => Running | Promise<Running>;
  /** Every upload: method, path, content type, encoding. */
  readonly request: string;
  /** Whether it sends again what was answered 429; then its first upload is. */
  readonly resends: boolean;
  /** How many spans it sends. */
  readonly spans: number;
  /** What its own exporter, which prints, states of them; null where it has none. */
  readonly statement: Statement | null;
};

const PROTOBUF = 'POST /v1/traces application/x-protobuf gzip';

/** The clients of traces that tests run. */
export const TRACERS: readonly Tracer[] = [
  ...['proto', 'http'].map((exporter): Tracer => ({
    name: `OpenTelemetry SDK for JS, ${exporter === 'proto' ? 'protobuf' : 'JSON'}`,
    example: 'opentelemetry-js',
    ...(exporter === 'http' ? { edit: ["exporter-trace-otlp-proto';", "exporter-trace-otlp-http';"] } : {}),
    toolset: 'node',
    start: node('app.mjs'),
    request: exporter === 'proto' ? PROTOBUF : 'POST /v1/traces application/json gzip',
    ...{ resends: true, spans: 3, statement: byNode },
  })),
  {
    ...{ name: 'OpenTelemetry SDK for Python', example: 'opentelemetry-python', toolset: 'python', start: python('app.py') },
    ...{ request: PROTOBUF, resends: true, spans: 3, statement: byPython },
  },
  {
    ...{ name: 'OpenTelemetry SDK for Java', example: 'opentelemetry-java', toolset: 'java', start: java },
    ...{ request: PROTOBUF, resends: true, spans: 3, statement: byJava },
  },
  {
    ...{ name: 'OpenTelemetry SDK for Go', example: 'opentelemetry-go', toolset: 'go', start: goProgram },
    ...{ request: PROTOBUF, resends: true, spans: 3, statement: byGo },
  },
  {
    ...{ name: 'OpenTelemetry Collector', example: 'otelcol', toolset: 'go' },
    start: throughCollector('traces/opentelemetry-go', goProgram),
    ...{ request: PROTOBUF, resends: true, spans: 3, statement: byGo },
  },
  {
    ...{ name: 'telemetrygen', example: 'telemetrygen', toolset: 'go', start: shell('run.sh') },
    ...{ request: 'POST /v1/traces application/x-protobuf', resends: true, spans: 9, statement: null },
  },
  {
    ...{ name: 'Zipkin for JS', example: 'zipkin-js', toolset: 'node', start: node('app.mjs') },
    ...{ request: 'POST /api/v2/spans application/json', resends: false, spans: 2, statement: byZipkin },
  },
];
