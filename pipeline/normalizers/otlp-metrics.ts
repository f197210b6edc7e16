import { invalidBody } from '../core/errors.ts';
import { SAMPLES } from '../samples/sample.ts';
import type { SamplesWriter } from '../samples/samples-writer.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { exportAnswer } from './otlp/answer.ts';
import { readMetricsJson } from './otlp/metrics-json.ts';
import { readMetricsProtobuf } from './otlp/metrics-protobuf.ts';
import { MetricsSeries } from './otlp/metrics-series.ts';
import { TOKEN_MARKS } from './otlp/series-token.ts';
import { isJsonBody } from './shared/body-encoding.ts';
import { METRICS_CAPS, METRICS_PLANE } from './shared/metrics-answer.ts';

/** Data points of a request, of which each may be many samples. */
const seen = new WeakMap<IngestRequest, { readonly points: number; readonly rejected: number }>();

/** OTLP/HTTP metrics (https://opentelemetry.io/docs/specs/otlp/#otlphttp), JSON and protobuf. */
export const otlpMetrics: Normalizer<SamplesWriter> = {
  ...METRICS_PLANE,
  name: 'otlp_metrics',
  signal: SAMPLES,
  paths: ['/v1/metrics', '/api/v1/otel/v1/metrics'],
  caps: METRICS_CAPS,
  batchSettings:
    'in the OpenTelemetry Collector `sending_queue: {batch: {sizer: bytes, max_size: 4000000}}` of the exporter, or `send_batch_max_size` of the batch processor',
  methods: ['POST'],

  normalize(request: IngestRequest, out: SamplesWriter): void {
    const { body } = request;
    const isJson = isJsonBody(request);
    const series = new MetricsSeries(out, isJson ? TOKEN_MARKS.json : TOKEN_MARKS.protobuf);
    if (isJson) readMetricsJson(body, series);
    else if (body.length > 0 && body[0] !== FIRST_FIELD) throw invalidBody('The body is neither JSON nor protobuf of OTLP.');
    else readMetricsProtobuf(body, series);
    seen.set(request, series);
  },

  ack(request: IngestRequest, { accepted, rejected, total }: Written): Ack {
    const { points, rejected: refused } = seen.get(request) ?? { points: total, rejected: rejected.count };
    const written = { accepted, rejected: { ...rejected, first: rejected.first, count: refused }, total: points };
    return exportAnswer(
      request,
      refused === 0 ? { ...written, rejected: { ...written.rejected, first: [] } } : written,
      'rejectedDataPoints',
      'data points',
    );
  },
};

/** A message begins with its field 1. */
const FIRST_FIELD = 0x0a;
