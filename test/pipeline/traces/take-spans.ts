import { httpErrorOf } from '../../../pipeline/core/errors.ts';
import type { Rejection } from '../../../pipeline/intake/rejections.ts';
import type { Ack, IngestRequest, Normalizer } from '../../../pipeline/normalizers/normalizer.ts';
import { spanLayout, type SpanRow } from '../../../pipeline/traces/span.ts';
import { SpanCodec, SpansWriter } from '../../../pipeline/traces/spans-writer.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';
import type { RequestOptions } from '../normalizers/normalize.ts';

/** A span as it is read back: ids in hexadecimal, numbers that JSON has, and no member that is empty. */
export type TakenSpan = Readonly<Record<string, unknown>>;

export type TakenSpans = {
  readonly entries: TakenSpan[];
  readonly rejected: readonly Rejection[];
  readonly rejectedCount: number;
  readonly total: number;
  readonly ack: Ack;
};

const codec = new SpanCodec();

/** What a row says, in JSON's values; empty ones are left out. */
function shown(row: SpanRow): TakenSpan {
  const value = (one: unknown): unknown =>
    typeof one === 'bigint' ? String(one) : Buffer.isBuffer(one) ? one.toString('hex').replace(/^0+$/, '') : one;
  return Object.fromEntries(
    Object.entries(row)
      .map(([name, one]) => [name, value(one)] as const)
      .filter(([, one]) => one !== '' && one !== 0 && !(Array.isArray(one) && one.length === 0)),
  );
}

/** The rows of what a writer took, by their records. */
function rowsOf(writer: SpansWriter): SpanRow[] {
  return writer.chunks().flatMap((chunk) => {
    const { count } = chunk;
    const rows = spanLayout.read(chunk.encode().value, count);
    if (typeof rows === 'string') throw new Error(rows);
    return rows;
  });
}

export type SpanOptions = RequestOptions & {
  readonly retentionDays?: number;
  readonly partitions?: readonly number[];
  readonly maxRowBytes?: number;
  readonly codec?: SpanCodec;
};

/** Runs a normalizer of spans over a body; an HttpError comes back as its status and detail. */
export function takeSpans(
  normalizer: Normalizer<SpansWriter>,
  body: string | Buffer,
  options: SpanOptions = {},
): TakenSpans | { status: number; detail: string } {
  const request: IngestRequest = {
    path: options.path ?? normalizer.paths[0] ?? '',
    contentType: options.contentType ?? '',
    query: new URLSearchParams(options.query),
    header: (name) => options.headers?.[name] ?? '',
    body: Buffer.from(body),
    maxBytes: options.maxBytes ?? 2 * 1024 * 1024,
    receivedAt: RECEIVED_AT,
  };
  const { partitions = [3], retentionDays = 0, maxRowBytes = Infinity } = options;
  const writer = new SpansWriter(options.codec ?? codec, { tenantId: 1, partitions, retentionDays, receivedAt: RECEIVED_AT, maxRowBytes });
  try {
    normalizer.normalize(request, writer);
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    if (error === null) throw thrown;
    return { status: error.status, detail: error.message };
  }
  const { total, accepted, rejected } = writer;
  const entries = rowsOf(writer).map(shown);
  return {
    entries,
    rejected: rejected.first,
    rejectedCount: rejected.count,
    total,
    ack: normalizer.ack(request, { accepted, rejected, total }, 3.4),
  };
}
