import { invalidBody } from '../core/errors.ts';
import type { EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import type { IngestRequest, Normalizer } from './normalizer.ts';
import { acceptedAnswer } from './shared/answers.ts';
import { clockOf, takeFrames } from './syslog/take-frames.ts';

/**
 * Syslog over HTTP: frames of RFC 5424 and RFC 3164 and plain messages, one a line, or counted in bytes as in RFC 6587. Each is an
 * entry, whatever of its header can be read. `?tz=` names the zone of times that have none.
 */
export const syslog: Normalizer = {
  name: 'syslog',
  signal: LOGS,
  paths: ['/api/v1/syslog'],
  methods: ['POST'],

  normalize(request: IngestRequest, out: EntryWriter): void {
    takeFrames(request.body, out, { clock: clockOf(request), structured: true });
    if (out.total === 0) throw invalidBody('The body is empty; send syslog frames, one a line.');
  },

  ack: acceptedAnswer,
};
