// Logs with winston to the Loki path: npm install winston winston-loki
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import winston from 'winston';
import LokiTransport from 'winston-loki';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const loki = new LokiTransport({
  host: LOGWEIR_INGEST_URL,
  basicAuth: `${LOGWEIR_API_KEY}:`,
  labels: { service: 'checkout', env: 'production' },
  json: true, // false: protobuf
  format: winston.format.json(),
  interval: 1,
});
const logger = winston.createLogger({ transports: [loki] });

logger.info('order created for Zoë ☕', { order: { id: 'A-77', total: 49.5 } });
logger.error('payment failed', { reason: 'card declined' });
await loki.flush();
