import { textOf, type LogEntry } from '../../../pipeline/core/entry.ts';
import { parseTime } from '../../../pipeline/core/time.ts';
import type { Rejection } from '../../../pipeline/intake/rejections.ts';
import type { Ack, IngestRequest, Normalizer } from '../../../pipeline/normalizers/normalizer.ts';
import { entriesOfRecord, expectBothWays, taken } from '../logs/both-ways.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';

/** Nanoseconds; entries without a time of their own got one after the other. */
const timeOf = (entry: LogEntry): bigint => parseTime(textOf(entry.get('_time'))) ?? 0n;

export type Result = {
  readonly entries: LogEntry[];
  /** The first 100. */
  readonly rejected: readonly Rejection[];
  readonly rejectedCount: number;
  /** Entries that the writer saw, taken or not. */
  readonly total: number;
  readonly ack: Ack;
};

/** The envelope of a request; names of headers in lower case. */
export type RequestOptions = {
  readonly path?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  /** The cap of a body; 2 MB unless told. */
  readonly maxBytes?: number;
  /** Looks at what it costs, so it runs once, without the comparison with what TypeScript alone gives. */
  readonly timed?: boolean;
};

/** Runs a normalizer over a body; an HttpError comes back as its status and detail. */
export function normalize(
  normalizer: Normalizer,
  body: string | Buffer,
  options: RequestOptions = {},
): Result | { status: number; detail: string } {
  const request: IngestRequest = {
    path: options.path ?? normalizer.paths[0] ?? '',
    contentType: options.contentType ?? '',
    query: new URLSearchParams(options.query),
    header: (name) => options.headers?.[name] ?? '',
    body: Buffer.from(body),
    maxBytes: options.maxBytes ?? 2 * 1024 * 1024,
    receivedAt: RECEIVED_AT,
  };
  const take = options.timed === true ? taken : expectBothWays;
  const { total, accepted, rejected, thrown, records } = take((out) => normalizer.normalize(request, out));
  if (thrown !== null) return thrown;
  const timed = records.flatMap(entriesOfRecord).map((entry) => ({ entry, time: timeOf(entry) }));
  const entries = timed.sort((a, b) => Number(a.time - b.time)).map(({ entry }) => entry);
  const { stream, ...ack } = normalizer.ack(request, { accepted, rejected, total }, 3.4);
  const whole = stream === undefined ? ack : { ...ack, body: [...stream].join('') };
  return { entries, rejected: rejected.first, rejectedCount: rejected.count, total, ack: whole };
}

export const messages = (result: ReturnType<typeof normalize>): unknown =>
  'entries' in result ? result.entries.map((entry) => entry.get('_msg')) : result;
