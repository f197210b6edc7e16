// Logs with pino to the Elasticsearch path: npm install pino pino-elasticsearch
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import pino from 'pino';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const transport = pino.transport({
  target: 'pino-elasticsearch',
  options: {
    node: `${LOGWEIR_INGEST_URL}/insert/elasticsearch`,
    auth: { bearer: LOGWEIR_API_KEY },
    index: 'logs',
    opType: 'create',
    flushInterval: 1000,
  },
});
const logger = pino({ base: { service: 'checkout', host: 'web-1' } }, transport);

logger.info({ order: { id: 'A-77', items: 3, total: 49.5, gift: true } }, 'order created for Zoë ☕');
logger.error(new Error('card declined'), 'payment failed');
