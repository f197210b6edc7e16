import { invalidBody } from '../core/errors.ts';
import { validUtf8 } from '../logs/writer.ts';
import { REPLAY } from '../replay/chunk.ts';
import type { ReplayWriter } from '../replay/replay-writer.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { BatchReader } from './replay/batch.ts';

const MEGABYTE = 1_048_576;
const CAP = 8 * MEGABYTE;
/** A header or parameter is no longer than the id of a session. */
const firstOf = (...texts: readonly string[]): string => texts.find((text) => text !== '') ?? '';

/** Session replay: events of rrweb (https://github.com/rrweb-io/rrweb/blob/main/docs/recipes/dive-into-event.md) in JSON. */
export const rrweb: Normalizer<ReplayWriter> = {
  name: 'rrweb',
  signal: REPLAY,
  paths: ['/v1/rum/replay'],
  methods: ['POST'],
  plane: 'app',
  errors: 'query',
  feature: 'replay',
  caps: { wire: CAP, inflated: CAP },

  normalize({ body, query, header }: IngestRequest, out: ReplayWriter): void {
    new BatchReader(validUtf8(body), out, firstOf(query.get('session_id') ?? '', header('x-session-id'))).read();
    if (out.accepted > 0) return;
    const [first] = out.rejected.first;
    throw invalidBody(first === undefined ? 'The body has no events.' : `No event of the body could be read: ${first.reason}.`);
  },

  ack: (_request: IngestRequest, { accepted, rejected }: Written): Ack => ({
    status: 202,
    body:
      rejected.count === 0
        ? { status: 'ok' }
        : { status: 'ok', accepted, rejected: rejected.count, errors: rejected.first.map(({ index, reason }) => ({ index, reason })) },
  }),
};
