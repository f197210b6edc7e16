// Metrics with the OpenTelemetry SDK: npm install @opentelemetry/sdk-metrics @opentelemetry/resources
//   @opentelemetry/exporter-metrics-otlp-proto (or -otlp-http, which sends JSON)
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const exporter = new OTLPMetricExporter({
  url: `${LOGWEIR_INGEST_URL}/v1/metrics`,
  headers: { Authorization: `Bearer ${LOGWEIR_API_KEY}` },
  compression: 'gzip',
});
const provider = new MeterProvider({
  resource: resourceFromAttributes({ 'service.name': 'checkout', 'service.instance.id': 'web-1', 'service.version': '1.4.2' }),
  readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 })],
});

const meter = provider.getMeter('orders', '2.0');
meter.createCounter('orders.created', { description: 'Orders that were created.' }).add(7, { 'order.kind': 'gift ☕' });
meter.createGauge('queue.length', { unit: '{order}' }).record(-2.5);
const duration = meter.createHistogram('checkout.duration', { unit: 's', advice: { explicitBucketBoundaries: [0.5, 1] } });
for (const seconds of [0.2, 0.7, 3]) duration.record(seconds, { method: 'POST' });
await provider.shutdown();
