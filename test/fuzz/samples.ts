import { definitionLayout, sampleLayout } from '../../pipeline/samples/sample.ts';
import { DEFINITIONS_AT } from '../../pipeline/samples/samples-record.ts';
import { samplesSignal } from '../../pipeline/samples/samples-signal.ts';
import { SamplesCodec } from '../../pipeline/samples/sample-chunk.ts';
import { SamplesWriter } from '../../pipeline/samples/samples-writer.ts';
import type { IngestRequest } from '../../pipeline/normalizers/normalizer.ts';
import { RECEIVED_AT } from '../pipeline/logs/entry-lines.ts';
import type { Outcome } from './outcome.ts';
import type { SampleSeed } from './seeds.ts';

/** One for all requests, as a process has: known series and pages of definitions go from one to the next. */
const codec = new SamplesCodec();
const SETTINGS = { tenantId: 1, partitions: [0, 1, 2], retentionDays: 0, maxRowBytes: Infinity, seriesPerDay: Infinity, utf8Names: true };

/** Takes the samples of a request, whose records a sink must be able to read. Throws where they are not those that were accepted. */
export function takeSamples({ normalizer }: SampleSeed, request: IngestRequest): Outcome {
  const writer = new SamplesWriter(codec, { ...SETTINGS, receivedAt: RECEIVED_AT });
  normalizer.normalize(request, writer);
  const { accepted, rejected, total } = writer;
  let rows = 0;
  for (const chunk of writer.chunks()) {
    const { count } = chunk;
    const { value, headers } = chunk.encode();
    const about = { tenantId: 1, retentionDays: 0, count, bytes: 0, encoding: 'columns', partition: 0, offset: 0, timestamp: 0 };
    const original = { key: null, value, headers: {}, timestamp: '0' };
    const record = samplesSignal.decode({ ...about, value, replayOf: null, fault: null, original }, (name) => String(headers[name] ?? ''));
    const fault = 'reason' in record ? record : samplesSignal.check(record);
    if (fault !== null) throw new Error(`A record cannot be read: ${fault.detail}`);
    const at = Number(headers[DEFINITIONS_AT]);
    const [read, definitions] = [sampleLayout.read(value.subarray(0, at), count), definitionLayout.read(value.subarray(at), count)];
    if (typeof read === 'string' || typeof definitions === 'string') throw new Error('A record cannot be read.');
    rows += Math.min(read.length, definitions.length);
  }
  if (rows !== accepted || accepted + rejected.count !== total)
    throw new Error(`${String(accepted)} accepted, ${String(rows)} rows, ${String(rejected.count)} rejected of ${String(total)}.`);
  const ack = normalizer.ack(request, { accepted, rejected, total }, 1);
  return { status: ack.status, accepted, rejected: rejected.count };
}
