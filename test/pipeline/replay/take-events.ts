import { httpErrorOf } from '../../../pipeline/core/errors.ts';
import type { Rejection } from '../../../pipeline/intake/rejections.ts';
import type { RowsRequest } from '../../../pipeline/intake/rows.ts';
import type { Ack, IngestRequest, Normalizer } from '../../../pipeline/normalizers/normalizer.ts';
import { replayLayout, type ReplayChunk } from '../../../pipeline/replay/chunk.ts';
import { ReplayWriter } from '../../../pipeline/replay/replay-writer.ts';
import { SessionBounds } from '../../../pipeline/replay/session-bounds.ts';
import { RECEIVED_AT } from '../logs/entry-lines.ts';
import type { RequestOptions } from '../normalizers/normalize.ts';

/** An event as it is read back, and what its row says. */
export type TakenEvent = { readonly row: Omit<ReplayChunk, 'body' | 'seq'> & { readonly seq: string }; readonly event: unknown };

export type TakenEvents = {
  readonly entries: TakenEvent[];
  readonly rows: readonly ReplayChunk[];
  readonly partitions: readonly number[];
  readonly rejected: readonly Rejection[];
  readonly rejectedCount: number;
  readonly total: number;
  readonly ack: Ack;
};

export type ReplayOptions = RequestOptions & {
  readonly retentionDays?: number;
  readonly partitions?: readonly number[];
  readonly bounds?: SessionBounds;
};

/** What a writer is made for, where a test does not care. */
export const rowsRequest = (more: Partial<RowsRequest> = {}): RowsRequest => ({
  ...{ tenantId: 1, partitions: [0], retentionDays: 0, receivedAt: RECEIVED_AT, streamsPerDay: Infinity, seriesPerDay: Infinity },
  ...{ utf8Names: false, maxRowBytes: Infinity, expectedBytes: 0, envelope: { header: () => '', query: new URLSearchParams() } },
  ...more,
});

/** The events of a row, with their times and types as its lines have them. */
export const linesOf = ({ body }: Pick<ReplayChunk, 'body'>): (readonly [after: number, type: number, event: unknown])[] =>
  body
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [, after, type, json = ''] = /^(\d+) (\d) (.*)$/.exec(line) ?? [];
      return [Number(after), Number(type), JSON.parse(json) as unknown] as const;
    });

/** Runs the format of replay over a body; an HttpError comes back as its status and detail. Rows went through a record and back. */
export function takeEvents(
  normalizer: Normalizer<ReplayWriter>,
  body: string | Buffer,
  options: ReplayOptions = {},
): TakenEvents | { status: number; detail: string } {
  const { retentionDays = 0, partitions = [0], bounds = new SessionBounds() } = options;
  const out = new ReplayWriter(bounds, rowsRequest({ retentionDays, partitions }));
  const request: IngestRequest = {
    path: options.path ?? normalizer.paths[0] ?? '',
    contentType: options.contentType ?? '',
    query: new URLSearchParams(options.query),
    header: (name) => options.headers?.[name] ?? '',
    body: Buffer.from(body),
    maxBytes: options.maxBytes ?? 8 * 1024 * 1024,
    receivedAt: RECEIVED_AT,
  };
  try {
    normalizer.normalize(request, out);
  } catch (error) {
    const found = httpErrorOf(error);
    if (found === null) throw error;
    return { status: found.status, detail: found.message };
  }
  const { accepted, total, rejected } = out;
  const chunks = out.chunks();
  const rows = chunks.flatMap((chunk) => {
    const { count } = chunk;
    const read = replayLayout.read(chunk.encode().value, count);
    if (typeof read === 'string') throw new Error(read);
    return read;
  });
  const entries = rows.flatMap((row) =>
    linesOf(row).map(([after, type, event]): TakenEvent => {
      const { body: lines, seq, ...rest } = row;
      if (lines.length === 0) throw new Error('a row without events');
      return { row: { ...rest, seq: String(seq) }, event: { after, type, event } };
    }),
  );
  return {
    ...{
      entries,
      rows,
      partitions: chunks.map(({ partition }) => partition),
      rejected: rejected.first,
      rejectedCount: rejected.count,
      total,
    },
    ack: normalizer.ack(request, { accepted, rejected, total }, 1),
  };
}
