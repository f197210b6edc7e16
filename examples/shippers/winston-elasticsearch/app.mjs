// Logs with winston to the Elasticsearch path: npm install winston winston-elasticsearch
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import winston from 'winston';
import { ElasticsearchTransport } from 'winston-elasticsearch';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const transport = new ElasticsearchTransport({
  clientOpts: { node: `${LOGWEIR_INGEST_URL}/insert/elasticsearch`, auth: { bearer: LOGWEIR_API_KEY } },
  ensureIndexTemplate: false,
  flushInterval: 1000,
  retryLimit: 5,
  transformer: ({ level, message, meta }) => ({ '@timestamp': new Date().toISOString(), message, level, service: 'checkout', ...meta }),
});
const logger = winston.createLogger({ transports: [transport] });

logger.info('order created for Zoë ☕', { order: { id: 'A-77', items: 3, total: 49.5, gift: true } });
logger.error('payment failed', { reason: 'card declined' });
await transport.flush();
logger.end();
