// Traces with the OpenTelemetry SDK: npm install @opentelemetry/api @opentelemetry/sdk-trace-base @opentelemetry/resources
//   @opentelemetry/exporter-trace-otlp-proto (or -otlp-http, which sends JSON). Each span is printed, too.
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const exporter = new OTLPTraceExporter({
  url: `${LOGWEIR_INGEST_URL}/v1/traces`,
  headers: { Authorization: `Bearer ${LOGWEIR_API_KEY}` },
  compression: 'gzip',
});
const provider = new BasicTracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'checkout', 'service.version': '1.4.2' }),
  spanProcessors: [new BatchSpanProcessor(exporter), new SimpleSpanProcessor(new ConsoleSpanExporter())],
});

const tracer = provider.getTracer('orders', '2.0');
const request = tracer.startSpan('POST /orders', { kind: SpanKind.SERVER, attributes: { 'http.request.method': 'POST' } });
const within = trace.setSpan(ROOT_CONTEXT, request);
const payment = tracer.startSpan('charge card', { kind: SpanKind.CLIENT }, within);
payment.setAttributes({
  'order.id': 'A-77 Zoë ☕',
  'order.number': 7,
  'order.total': 49.5,
  'order.gift': true,
  'order.items': ['cup', 'tea'],
});
payment.recordException(new Error('card declined'));
payment.setStatus({ code: SpanStatusCode.ERROR, message: 'card declined' });
payment.end();
const links = [{ context: payment.spanContext(), attributes: { reason: 'refund' } }];
tracer.startSpan('orders publish', { kind: SpanKind.PRODUCER, links }, within).end();
request.end();
await provider.shutdown();
