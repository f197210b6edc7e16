// Logs with winston's own HTTP transport to the JSON path: npm install winston
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import winston from 'winston';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const { hostname, port, protocol } = new URL(LOGWEIR_INGEST_URL);
const { combine, timestamp, errors, json } = winston.format;
const logger = winston.createLogger({
  defaultMeta: { service: 'checkout', host: 'web-1' },
  format: combine(errors({ stack: true }), timestamp(), json()),
  transports: [
    new winston.transports.Http({
      ssl: protocol === 'https:',
      host: hostname,
      port: Number(port),
      path: '/api/v1/ingest',
      auth: { bearer: LOGWEIR_API_KEY },
      batch: true,
      batchInterval: 1000,
    }),
  ],
});

logger.info('order created for Zoë ☕', { order: { id: 'A-77', items: 3, total: 49.5, gift: true } });
logger.error('payment failed', { reason: 'card declined' });
