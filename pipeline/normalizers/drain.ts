import { invalidBody } from '../core/errors.ts';
import { skipSpace, skipValue } from '../wire/json-tokens.ts';
import type { EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { takeLogplex } from './heroku.ts';
import { jsonEntries } from './json-entries.ts';
import type { IngestRequest, Normalizer } from './normalizer.ts';
import { afterByteOrderMark } from './shared/bytes.ts';
import { acceptedAnswer } from './shared/answers.ts';
import { takeLines } from './shared/text-lines.ts';

/**
 * Log drains of no vendor in particular: JSON (an array of objects, or one a line), Logplex frames, or plain text, one entry a line.
 * The media type decides, unless it is missing or cannot be true.
 */
export const drain: Normalizer = {
  name: 'drain',
  signal: LOGS,
  paths: ['/api/v1/drain'],
  methods: ['POST'],
  keyInQuery: true,

  normalize(request: IngestRequest, out: EntryWriter): void {
    const form = formOf(request);
    if (form === 'json') jsonEntries.normalize(request, out);
    else if (form === 'logplex') takeLogplex(request, out);
    else takeLines(request.body, out, request.maxBytes);
    if (out.total === 0 && form !== 'json') throw invalidBody('The body is empty; send JSON, Logplex frames, or lines of text.');
  },

  ack: acceptedAnswer,
};

function formOf({ contentType, body }: IngestRequest): 'json' | 'logplex' | 'text' {
  if (contentType === 'application/logplex-1') return 'logplex';
  const isText = contentType.startsWith('text/') && contentType !== 'text/json';
  if (isText) return 'text';
  const start = skipSpace(body, afterByteOrderMark(body, 0), body.length);
  const opens = body[start] === 0x5b || body[start] === 0x7b;
  if (/[/+](?:x-)?(?:nd)?json/.test(contentType)) return opens || start >= body.length ? 'json' : 'text';
  // no type, or `application/octet-stream`, which means as little: JSON is what begins as such
  return opens && skipValue(body, start, body.length) >= 0 ? 'json' : 'text';
}
