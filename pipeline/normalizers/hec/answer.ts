import { nextAckId } from './ack-ids.ts';
import type { Ack, IngestRequest, Written } from '../normalizer.ts';
import { rejectedHeader } from '../shared/answers.ts';

/** The channel of an HEC request, by header or query parameter; empty where it has none. */
export function hecChannel(request: Pick<IngestRequest, 'header' | 'query'>): string {
  return request.header('x-splunk-request-channel') || (request.query.get('channel') ?? '');
}

/** Splunk's own answer to events and raw lines; with an `ackId` where the request has a channel. */
export function hecAnswer(request: IngestRequest, written: Written): Ack {
  const channel = hecChannel(request);
  const body = { text: 'Success', code: 0, ...(channel === '' ? {} : { ackId: nextAckId(channel) }) };
  return { status: 200, headers: rejectedHeader(written), body };
}
