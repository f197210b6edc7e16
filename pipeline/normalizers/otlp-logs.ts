import type { EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { isJsonBody } from './shared/body-encoding.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { exportAnswer } from './otlp/answer.ts';
import { readOtlpJson } from './otlp/json.ts';
import { readOtlpProtobuf } from './otlp/protobuf.ts';

/** OTLP/HTTP logs (https://opentelemetry.io/docs/specs/otlp/#otlphttp), JSON and protobuf. */
export const otlpLogs: Normalizer = {
  name: 'otlp_logs',
  signal: LOGS,
  paths: ['/v1/logs', '/insert/opentelemetry/v1/logs', '/otlp/v1/logs'],
  batchSettings:
    'in the OpenTelemetry Collector `sending_queue: {batch: {sizer: bytes, max_size: 1000000}}` of the exporter, or `send_batch_max_size` of the batch processor; in an SDK `OTEL_BLRP_MAX_EXPORT_BATCH_SIZE`',
  methods: ['POST'],

  normalize(request: IngestRequest, out: EntryWriter): void {
    if (isJsonBody(request)) readOtlpJson(request, out);
    else readOtlpProtobuf(request, out);
  },

  ack(request: IngestRequest, written: Written): Ack {
    return exportAnswer(request, written, 'rejectedLogRecords', 'log records');
  },
};
