import { HttpError } from '../core/errors.ts';
import { SAMPLES } from '../samples/sample.ts';
import type { SamplesWriter } from '../samples/samples-writer.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { readVersion1 } from './remote-write/version-1.ts';
import { readVersion2 } from './remote-write/version-2.ts';
import { METRICS_PLANE, partialAnswer } from './shared/metrics-answer.ts';

const [MIB, WIRE_MIB, INFLATED_MIB] = [1_048_576, 8, 64];
const MESSAGES: Readonly<Record<string, (body: Buffer, out: SamplesWriter) => void>> = {
  'prometheus.WriteRequest': readVersion1,
  'io.prometheus.write.v2.Request': readVersion2,
};

/** Prometheus' remote write 1.0 and 2.0: protobuf in snappy, whether a header says so or not. */
export const remoteWrite: Normalizer<SamplesWriter> = {
  ...METRICS_PLANE,
  name: 'remote_write',
  signal: SAMPLES,
  paths: ['/api/v1/write'],
  caps: { wire: WIRE_MIB * MIB, inflated: INFLATED_MIB * MIB },
  batchSettings: '`max_samples_per_send` of the `queue_config`',
  methods: ['POST'],
  impliedCoding: () => 'snappy',

  normalize(request: IngestRequest, out: SamplesWriter): void {
    const message = messageOf(request.header('content-type'));
    const read = Object.hasOwn(MESSAGES, message) ? MESSAGES[message] : undefined;
    if (read === undefined)
      throw new HttpError(415, 'unsupported_media_type', `The message ${JSON.stringify(message.slice(0, 100))} is not one of remote write: send ${Object.keys(MESSAGES).join(' or ')}.`); // prettier-ignore
    out.countsTaken = read === readVersion2;
    read(request.body, out);
  },

  ack(_request: IngestRequest, written: Written): Ack {
    return partialAnswer(written, 'samples') ?? { status: 204 };
  },
};

/** The message that a media type names; that of version 1.0 where it names none. */
function messageOf(contentType: string): string {
  const named = /;\s*proto\s*=\s*"?([^;"\s]*)/i.exec(contentType);
  return named === null ? 'prometheus.WriteRequest' : (named[1] ?? '');
}
