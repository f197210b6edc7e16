import { invalidBody } from '../../pipeline/core/errors.ts';
import type { IngestRequest, Normalizer } from '../../pipeline/normalizers/normalizer.ts';

/** A wire format that takes each line as a message; lines that begin with `bad` are rejected, the body `unreadable` is a 400. */
export const linesFormat: Normalizer = {
  name: 'lines',
  signal: 'logs',
  paths: ['/lines', '/lines/:tag'],
  methods: ['POST'],
  normalize(request, out) {
    const text = request.body.toString();
    if (text === 'unreadable') throw invalidBody('The body cannot be read.');
    if (text === 'bug') throw new Error('BUG: in the normalizer.');
    for (const line of text.split('\n')) {
      if (line.startsWith('bad')) out.reject('not a line', Buffer.from(line));
      else if (line !== '') out.add({ _msg: line, path: request.path, host: 'h1' });
    }
  },
  ack: (_request, { accepted, rejected }) => ({
    status: 200,
    headers: rejected.count === 0 ? {} : { 'X-Rejected-Entries': String(rejected.count) },
    body: { accepted },
  }),
};

/** The format of the drains: its key may be in the query. Answers 204 and keeps the last request. */
export const drainFormat: Normalizer & { last: IngestRequest | null } = {
  name: 'drain',
  signal: 'logs',
  paths: ['/api/v1/drain'],
  methods: ['POST'],
  keyInQuery: true,
  last: null,
  normalize(request, out) {
    drainFormat.last = request;
    out.add({ _msg: 'x' });
  },
  ack: () => ({ status: 204 }),
};

/** A format of Elasticsearch's: a header on every answer, JSON as text, POST and PUT. */
export const elasticFormat: Normalizer = {
  name: 'elastic',
  signal: 'logs',
  paths: ['/_bulk', '/:index/_bulk'],
  methods: ['POST', 'PUT'],
  answerHeaders: { 'X-Elastic-Product': 'Elasticsearch' },
  normalize: (_request, out) => out.add({ _msg: 'x' }),
  ack: () => ({ status: 200, body: '{"took":0,"errors":false,"items":[]}' }),
};
