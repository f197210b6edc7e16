// Ships NDJSON from standard input with Elastic's own client (9 and 8): npm install @elastic/elasticsearch
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node ship.mjs < app.ndjson
import { Client } from '@elastic/elasticsearch';
import { createInterface } from 'node:readline';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const client = new Client({
  node: `${LOGWEIR_INGEST_URL}/insert/elasticsearch`,
  auth: { bearer: LOGWEIR_API_KEY }, // not apiKey: that scheme is Elasticsearch's own
  compression: true,
});

const { total, successful, failed } = await client.helpers.bulk({
  flushBytes: 1_000_000, // a body may have 2 MiB
  datasource: createInterface({ input: process.stdin }),
  onDocument: () => ({ create: { _index: 'logs' } }),
  onDrop: ({ document, error }) => console.error('refused:', error?.reason, document),
});
console.log(`total ${total} successful ${successful} failed ${failed}`);
