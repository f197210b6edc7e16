import { httpErrorOf } from '../../../pipeline/core/errors.ts';
import type { Rejection } from '../../../pipeline/intake/rejections.ts';
import type { Ack, IngestRequest, Normalizer } from '../../../pipeline/normalizers/normalizer.ts';
import { readDefinition } from '../../../pipeline/samples/definition.ts';
import { definitionLayout, sampleLayout, type SampleRow } from '../../../pipeline/samples/sample.ts';
import { DEFINITIONS_AT } from '../../../pipeline/samples/samples-record.ts';
import { SamplesCodec } from '../../../pipeline/samples/sample-chunk.ts';
import { SamplesWriter } from '../../../pipeline/samples/samples-writer.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';
import type { RequestOptions } from '../normalizers/normalize.ts';

/** A row as it is read back: its series as Prometheus writes it, the bits of its value in hexadecimal where they are no plain number. */
export type TakenSample = Readonly<Record<string, unknown>>;

export type TakenSamples = {
  readonly entries: TakenSample[];
  readonly rejected: readonly Rejection[];
  readonly rejectedCount: number;
  readonly total: number;
  readonly ack: Ack;
};

const TYPES = ['number', 'histogram', 'exemplar', 'metadata'];
const codec = new SamplesCodec();

export type SampleOptions = RequestOptions & {
  readonly retentionDays?: number;
  readonly partitions?: readonly number[];
  readonly maxRowBytes?: number;
  readonly seriesPerDay?: number;
  readonly utf8Names?: boolean;
  readonly codec?: SamplesCodec;
  readonly tenantId?: number;
  readonly receivedAt?: bigint;
};

/** The number that bits are, where JSON has it. */
function valueOf(bits: bigint): number | string {
  const value = new Float64Array(BigUint64Array.of(bits).buffer)[0] as number;
  return Number.isFinite(value) && !Object.is(value, -0) ? value : `0x${bits.toString(16)}`;
}

const seriesOf = (text: string): string => {
  const read = readDefinition(text);
  if (read === null) throw new Error(`not a definition: ${text}`);
  const labels = read.labels.filter(([name]) => name !== '__name__').map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${read.metric}{${labels.join(',')}}`;
};

/** What a row says, in JSON's values; what is empty is left out. */
function shown({ type, time, start, value, payload }: SampleRow, definition: string): TakenSample {
  const facts = definition.split('\n')[1];
  return {
    ...(type === 0 ? {} : { type: TYPES[type] }),
    series: seriesOf(definition),
    ...(type === 3 ? {} : { time, value: valueOf(value) }),
    ...(start === 0 ? {} : { start }),
    ...(payload.length === 0 ? {} : { payload: type === 1 ? payload.toString('hex') : payload.toString() }),
    ...(facts === undefined ? {} : { facts: JSON.parse(facts) as unknown }),
  };
}

/** The rows of what a writer took, by their records. */
export function rowsOf(writer: SamplesWriter): TakenSample[] {
  return writer.chunks().flatMap((chunk) => {
    const { count } = chunk;
    const { value, headers } = chunk.encode();
    const at = Number(headers[DEFINITIONS_AT]);
    const rows = sampleLayout.read(value.subarray(0, at), count);
    const definitions = definitionLayout.read(value.subarray(at), count);
    if (typeof rows === 'string') throw new Error(rows);
    if (typeof definitions === 'string') throw new Error(definitions);
    return rows.map((row, index) => shown(row, definitions[index]?.definition ?? ''));
  });
}

export function writerOf(options: SampleOptions = {}): SamplesWriter {
  const { partitions = [3], retentionDays = 0, maxRowBytes = Infinity, seriesPerDay = Infinity, utf8Names = false, tenantId = 1 } = options;
  const { receivedAt = RECEIVED_AT } = options;
  const owner = { tenantId, partitions, retentionDays, receivedAt, maxRowBytes, seriesPerDay, utf8Names };
  return new SamplesWriter(options.codec ?? codec, owner);
}

/** Runs a normalizer of samples over a body, which is decompressed; an HttpError comes back as its status and detail. */
export function takeSamples(
  normalizer: Normalizer<SamplesWriter>,
  body: string | Buffer,
  options: SampleOptions = {},
): TakenSamples | { status: number; detail: string } {
  const request: IngestRequest = {
    path: options.path ?? normalizer.paths[0] ?? '',
    contentType: options.contentType ?? '',
    query: new URLSearchParams(options.query),
    header: (name) => options.headers?.[name] ?? '',
    body: Buffer.from(body),
    maxBytes: options.maxBytes ?? 8 * 1024 * 1024,
    receivedAt: RECEIVED_AT,
  };
  const writer = writerOf(options);
  try {
    normalizer.normalize(request, writer);
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    if (error === null) throw thrown;
    return { status: error.status, detail: error.message };
  }
  const { total, accepted, rejected } = writer;
  const ack = normalizer.ack(request, { accepted, rejected, total }, 3.4);
  const headers = { ...ack.headers, ...writer.answerHeaders() };
  return {
    entries: rowsOf(writer),
    rejected: rejected.first,
    rejectedCount: rejected.count,
    total,
    ack: Object.keys(headers).length === 0 ? ack : { ...ack, headers },
  };
}
