import { SPANS } from '../traces/span.ts';
import type { SpansWriter } from '../traces/spans-writer.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { exportAnswer } from './otlp/answer.ts';
import { readSpansJson } from './otlp/spans-json.ts';
import { readSpansProtobuf } from './otlp/spans-protobuf.ts';
import { isJsonBody } from './shared/body-encoding.ts';

/** OTLP/HTTP traces (https://opentelemetry.io/docs/specs/otlp/#otlphttp), JSON and protobuf. */
export const otlpTraces: Normalizer<SpansWriter> = {
  name: 'otlp_traces',
  signal: SPANS,
  paths: ['/v1/traces', '/insert/opentelemetry/v1/traces', '/otlp/v1/traces'],
  batchSettings:
    'in the OpenTelemetry Collector `sending_queue: {batch: {sizer: bytes, max_size: 1000000}}` of the exporter, or `send_batch_max_size` of the batch processor; in an SDK `OTEL_BSP_MAX_EXPORT_BATCH_SIZE`',
  methods: ['POST'],

  normalize(request: IngestRequest, out: SpansWriter): void {
    if (isJsonBody(request)) readSpansJson(request, out);
    else readSpansProtobuf(request, out);
  },

  ack(request: IngestRequest, written: Written): Ack {
    return exportAnswer(request, written, 'rejectedSpans', 'spans');
  },
};
