// Traces with Zipkin's client: npm install zipkin zipkin-transport-http. Each span is printed, too.
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY node app.mjs
import zipkin from 'zipkin';
import { HttpLogger } from 'zipkin-transport-http';

const { Annotation, BatchRecorder, ExplicitContext, InetAddress, Tracer, jsonEncoder } = zipkin;
const { LOGWEIR_INGEST_URL, LOGWEIR_API_KEY } = process.env;
const http = new HttpLogger({
  endpoint: `${LOGWEIR_INGEST_URL}/api/v2/spans`,
  headers: { Authorization: `Bearer ${LOGWEIR_API_KEY}` },
  jsonEncoder: jsonEncoder.JSON_V2,
  httpInterval: 200,
});
const logger = {
  logSpan(span) {
    console.log(jsonEncoder.JSON_V2.encode(span));
    http.logSpan(span);
  },
};
const recorder = new BatchRecorder({ logger });
const tracer = new Tracer({ ctxImpl: new ExplicitContext(), recorder, localServiceName: 'checkout' });

const request = tracer.createRootId();
tracer.scoped(() => {
  tracer.setId(request);
  tracer.recordServiceName('checkout');
  tracer.recordRpc('POST /orders');
  tracer.recordBinary('http.method', 'POST');
  tracer.recordAnnotation(new Annotation.ServerRecv());
  tracer.recordAnnotation(new Annotation.LocalAddr({ host: new InetAddress('10.0.0.7'), port: 8080 }));
});
tracer.scoped(() => {
  tracer.setId(request);
  tracer.setId(tracer.createChildId());
  tracer.recordServiceName('checkout');
  tracer.recordRpc('charge card');
  tracer.recordAnnotation(new Annotation.ClientSend());
  tracer.recordAnnotation(new Annotation.ServerAddr({ serviceName: 'cards', host: new InetAddress('10.0.0.9'), port: 443 }));
  tracer.recordBinary('order.id', 'A-77 Zoë ☕');
  tracer.recordBinary('error', 'card declined');
  tracer.recordMessage('retried');
  tracer.recordAnnotation(new Annotation.ClientRecv());
});
tracer.scoped(() => {
  tracer.setId(request);
  tracer.recordAnnotation(new Annotation.ServerSend());
});
// the client sends what it has each `httpInterval`, and keeps no program alive for it
await new Promise((resolve) => {
  setTimeout(resolve, 1000);
});
