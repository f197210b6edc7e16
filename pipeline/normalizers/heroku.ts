import { invalidBody } from '../core/errors.ts';
import { FixedName } from '../logs/names.ts';
import type { EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import type { IngestRequest, Normalizer } from './normalizer.ts';
import { acceptedAnswer } from './shared/answers.ts';
import { clockOf, takeFrames } from './syslog/take-frames.ts';

const DRAIN_TOKEN = new FixedName('drain_token');
/** A longer one is none of Heroku's, and would be stored with every frame. */
const MAX_TOKEN_LENGTH = 256;

/**
 * Heroku's HTTPS drains (https://devcenter.heroku.com/articles/log-drains#https-drains): frames of Logplex, which are RFC 5424 without
 * STRUCTURED-DATA, counted in bytes. The drain's token becomes a field.
 */
export const heroku: Normalizer = {
  name: 'heroku',
  signal: LOGS,
  paths: ['/api/v1/drain/heroku'],
  methods: ['POST'],
  keyInQuery: true,

  normalize(request: IngestRequest, out: EntryWriter): void {
    takeLogplex(request, out);
    if (out.total === 0) throw invalidBody('The body is empty; send the frames of a Logplex drain.');
  },

  ack: acceptedAnswer,
};

/** Takes the frames of Logplex. */
export function takeLogplex(request: IngestRequest, out: EntryWriter): void {
  const token = request.header('logplex-drain-token');
  const shared = token === '' || token.length > MAX_TOKEN_LENGTH ? {} : { shared: { name: DRAIN_TOKEN, value: token } };
  takeFrames(request.body, out, { clock: clockOf(request), structured: false, ...shared });
}
