import { payloadTooLarge } from '../core/errors.ts';
import type { Coding } from '../compression/inflate.ts';
import { inflateSnappy } from '../compression/snappy.ts';
import type { EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { isJsonBody } from './shared/body-encoding.ts';
import { readLokiJson } from './loki/json.ts';
import { readLokiProtobuf } from './loki/protobuf.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { rejectedHeader } from './shared/answers.ts';

/** Loki's push API (https://grafana.com/docs/loki/latest/reference/loki-http-api/#ingest-logs): JSON, and protobuf in snappy. */
export const loki: Normalizer = {
  name: 'loki',
  signal: LOGS,
  paths: ['/loki/api/v1/push', '/insert/loki/api/v1/push'],
  batchSettings: '`batch_size` in Alloy and Promtail, `loki-batch-size` in the Docker driver, `batch.max_bytes` in Vector',
  methods: ['POST'],

  impliedCoding(contentType: string): Coding | null {
    return contentType.includes('protobuf') ? 'snappy' : null;
  },

  normalize(request: IngestRequest, out: EntryWriter): void {
    if (isJsonBody(request)) readLokiJson(request, out);
    else readLokiProtobuf(uncompressed(request), request, out);
  },

  ack(_request: IngestRequest, written: Written): Ack {
    return { status: 204, headers: rejectedHeader(written) };
  },
};

/** The protobuf body; where neither the media type nor a header states that it is in snappy, its bytes decide. */
function uncompressed({ body, contentType, header, maxBytes }: IngestRequest): Buffer {
  const isDeclared = contentType.includes('protobuf') || header('content-encoding') !== '';
  // a message begins with its first field, 0x0a; in snappy that would be a length of 10
  if (isDeclared || body.length === 0 || body[0] === 0x0a) return body;
  return inflateSnappy(body, maxBytes, (received, more) => payloadTooLarge(received, maxBytes, { more }));
}
