// Logs with Splunk's client to the HTTP Event Collector path: npm install splunk-logging
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import splunk from 'splunk-logging';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const logger = new splunk.Logger({
  url: LOGWEIR_INGEST_URL,
  token: LOGWEIR_API_KEY,
  batchInterval: 1000,
  maxBatchCount: 100,
  maxRetries: 5,
});
logger.eventFormatter = (event, severity) => ({ ...event, severity });

// The client sends "Authorization: Splunk …", which is not a valid credential here: let it send Bearer.
const post = logger._post.bind(logger);
logger._post = (options, done) => post({ ...options, headers: { ...options.headers, Authorization: `Bearer ${LOGWEIR_API_KEY}` } }, done);

const metadata = { source: 'checkout', host: 'web-1' };
logger.send({ message: { message: 'order created for Zoë ☕', order: { id: 'A-77', items: 3, total: 49.5 } }, severity: 'info', metadata });
logger.send({ message: { message: 'payment failed', reason: 'card declined' }, severity: 'error', metadata });
logger.flush();
