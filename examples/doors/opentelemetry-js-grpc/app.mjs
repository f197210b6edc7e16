// Logs, spans and metrics over gRPC with the OpenTelemetry SDK, to the door otlp_grpc: npm install @grpc/grpc-js @opentelemetry/api
//   @opentelemetry/api-logs @opentelemetry/sdk-logs @opentelemetry/sdk-trace-base @opentelemetry/sdk-metrics @opentelemetry/resources
//   @opentelemetry/exporter-logs-otlp-grpc @opentelemetry/exporter-trace-otlp-grpc @opentelemetry/exporter-metrics-otlp-grpc
// LOGWEIR_INGEST_URL=http://127.0.0.1:4317 LOGWEIR_API_KEY=KEY node app.mjs
// With TLS: https://, and OTEL_EXPORTER_OTLP_CERTIFICATE=ca.crt for an authority of your own. A client that the door knows by its certificate needs
//   no key: OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=web-1.crt OTEL_EXPORTER_OTLP_CLIENT_KEY=web-1.key
import { Metadata } from '@grpc/grpc-js';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

const metadata = new Metadata();
if (process.env.LOGWEIR_API_KEY) metadata.set('authorization', `Bearer ${process.env.LOGWEIR_API_KEY}`);
const door = { url: process.env.LOGWEIR_INGEST_URL, metadata, compression: 'gzip' };
const resource = resourceFromAttributes({ 'service.name': 'checkout', 'service.version': '1.4.2' });

const spans = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(door))] });
const request = spans.getTracer('orders').startSpan('POST /orders', { kind: SpanKind.SERVER });
const logs = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(door) })] });
logs.getLogger('orders').emit({
  severityNumber: SeverityNumber.INFO,
  body: 'order created for Zoë ☕',
  attributes: { 'order.items': 3 },
  context: trace.setSpan(ROOT_CONTEXT, request),
});
request.end();
const meters = new MeterProvider({ resource, readers: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(door) })] });
meters.getMeter('orders').createCounter('orders').add(3, { channel: 'web' });
await Promise.all([logs.shutdown(), spans.shutdown(), meters.shutdown()]);
