// Logs with the OpenTelemetry SDK: npm install @opentelemetry/api-logs @opentelemetry/sdk-logs
//   @opentelemetry/resources @opentelemetry/exporter-logs-otlp-proto (or -otlp-http, which sends JSON)
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import { SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const exporter = new OTLPLogExporter({
  url: `${LOGWEIR_INGEST_URL}/v1/logs`,
  headers: { Authorization: `Bearer ${LOGWEIR_API_KEY}` },
  compression: 'gzip',
});
const provider = new LoggerProvider({
  resource: resourceFromAttributes({ 'service.name': 'checkout', 'service.version': '1.4.2' }),
  processors: [new BatchLogRecordProcessor({ exporter })],
});

const logger = provider.getLogger('orders', '2.0');
logger.emit({
  severityNumber: SeverityNumber.INFO,
  severityText: 'INFO',
  body: 'order created for Zoë ☕',
  attributes: { 'order.id': 'A-77', 'order.items': 3, 'order.total': 49.5, 'order.gift': true },
});
logger.emit({
  severityNumber: SeverityNumber.ERROR,
  severityText: 'ERROR',
  body: 'payment failed',
  attributes: { 'exception.type': 'Error', 'exception.message': 'card declined' },
});
await provider.shutdown();
