// Logs with pino to the Loki path: npm install pino pino-loki
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import pino from 'pino';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const transport = pino.transport({
  target: 'pino-loki',
  options: {
    host: LOGWEIR_INGEST_URL,
    basicAuth: { username: LOGWEIR_API_KEY, password: '' },
    labels: { service: 'checkout', env: 'production' },
    batching: { interval: 1 },
  },
});
const logger = pino(transport);

logger.info({ meta: { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' }, order: { id: 'A-77', total: 49.5 } }, 'order created for Zoë ☕');
logger.error(new Error('card declined'), 'payment failed');
