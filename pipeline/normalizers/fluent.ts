import { validUtf8, type EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { takeJsonRecords } from './fluent/json.ts';
import { PackedRecords } from './fluent/packed.ts';
import { requestTag } from './fluent/tag.ts';
import { refuseUnreadable } from './shared/json-elements.ts';
import type { IngestRequest, Normalizer } from './normalizer.ts';
import { acceptedAnswer } from './shared/answers.ts';

/**
 * Fluent Bit's and Fluentd's HTTP outputs (https://docs.fluentbit.io/manual/pipeline/outputs/http,
 * https://docs.fluentd.org/output/http): JSON arrays, NDJSON, objects without separators, MessagePack, and the arrays of the forward
 * protocol in both. The first byte distinguishes JSON from MessagePack; the content type is ignored. A record without a message is kept.
 */
export const fluent: Normalizer = {
  name: 'fluent',
  signal: LOGS,
  paths: ['/api/v1/fluent', '/api/v1/fluentd'],
  batchSettings: '`chunk_limit_size` in the buffer of Fluentd',
  methods: ['POST'],

  normalize(request: IngestRequest, out: EntryWriter): void {
    const tag = requestTag(request);
    if (isPacked(request.body)) {
      const records = new PackedRecords(out, request.maxBytes);
      records.take(request.body, tag);
      refuseUnreadable(request.body, out, records.readable);
    } else {
      const body = validUtf8(request.body);
      refuseUnreadable(body, out, takeJsonRecords(body, tag, out, request.maxBytes));
    }
  },

  ack: acceptedAnswer,
};

/** True where the body begins with an array or a map of MessagePack: no JSON text begins with such a byte. */
function isPacked(body: Buffer): boolean {
  const first = body[0] ?? 0;
  return (first >= 0x80 && first <= 0x9f) || (first >= 0xdc && first <= 0xdf);
}
