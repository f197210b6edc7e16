// Metrics with InfluxDB's client: npm install @influxdata/influxdb-client
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import { InfluxDB, Point } from '@influxdata/influxdb-client';

const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const writer = new InfluxDB({ url: LOGWEIR_INGEST_URL, token: LOGWEIR_API_KEY }).getWriteApi('shop', 'metrics', 'ms');
writer.useDefaultTags({ host: 'web-1' });
writer.writePoint(new Point('orders').tag('kind', 'gift, ☕').intField('created', 7).stringField('note', 'no sample'));
writer.writePoint(new Point('queue').floatField('value', -2.5));
await writer.close();
