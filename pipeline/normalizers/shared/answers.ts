import type { Ack, IngestRequest, Written } from '../normalizer.ts';

/** The header that reports rejections in protocols whose answer has no other place for them; none where nothing was rejected. */
export function rejectedHeader({ rejected }: Pick<Written, 'rejected'>): Readonly<Record<string, string>> {
  return rejected.count === 0 ? {} : { 'X-Rejected-Entries': String(rejected.count) };
}

/** The answer of the formats that have none of their own: 200 `{"status":"ok","accepted":N}`. */
export function acceptedAnswer(_request: IngestRequest, written: Written): Ack {
  return { status: 200, headers: rejectedHeader(written), body: { status: 'ok', accepted: written.accepted } };
}
