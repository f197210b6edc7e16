import { from, type Section } from './limit.ts';

const WRITER = 'test/pipeline/replay/replay-writer.test.ts';
const FORMATS = 'test/contract/normalizers.test.ts';
const batch = from('pipeline/normalizers/replay/batch.ts');
const bounds = from('pipeline/replay/session-bounds.ts');
const recall = from('pipeline/replay/session-recall.ts');
const RECALL = 'test/pipeline/replay/session-recall.test.ts';

/** From a body to the events of a session; what is not said here is as for entries. */
export const REPLAY: Section = {
  title: 'Session replay',
  rows: [
    {
      what: 'Event, and depth of one',
      of: 'an entry',
      bound: [
        from('pipeline/replay/replay-writer.ts')('MAX_EVENT_BYTES', 'bytes'),
        from('pipeline/normalizers/replay/event.ts')('MAX_DEPTH', 'levels'),
      ],
      beyond: 'The event is rejected.',
      others: 'nothing',
      attack: ['replay-deep', 'replay-one-event'],
      test: FORMATS,
    },
    {
      what: 'Events of a body',
      of: 'a request',
      bound: [from('pipeline/normalizers/replay/event.ts')('MAX_EVENTS', 'events')],
      beyond: 'Further ones are rejected.',
      others: 'nothing',
      test: 'test/pipeline/normalizers/many-events.test.ts',
    },
    {
      what: 'Session: its events as JSON, and how long it lasts',
      of: 'a tenant',
      bound: [bounds('MAX_SESSION_BYTES', 'bytes'), from('pipeline/replay/chunk.ts')('MAX_SESSION_MS', 'milliseconds')],
      beyond: '413',
      others: 'nothing',
      attack: ['replay-long-session', 'replay-endless-session'],
      test: WRITER,
    },
    {
      what: 'Sessions whose size is remembered, in each of two generations',
      of: 'a process',
      bound: [bounds('MAX_KNOWN', 'sessions')],
      beyond: 'Those used longest ago are forgotten, and count from what is stored of them.',
      others: 'nothing',
      attack: ['replay-sessions'],
      test: WRITER,
    },
    {
      what: 'Sessions that a process does not know and that wait to be looked for; those of one statement',
      of: 'a tenant',
      bound: [recall('MAX_WAITING', 'sessions'), recall('MAX_AT_ONCE', 'sessions in a statement')],
      beyond: 'Further ones count from what the process has taken.',
      others: 'nothing: one statement at a time, tenant by tenant',
      attack: ['replay-sessions'],
      test: RECALL,
    },
    {
      what: 'User, service and version of a batch; address of a page; pages of a row; traces of a batch',
      of: 'an entry',
      bound: [
        batch('MAX_LABEL', 'characters'),
        from('pipeline/normalizers/replay/facts.ts')('MAX_URL', 'characters'),
        from('pipeline/replay/event-batch.ts')('MAX_URLS', 'pages'),
        batch('MAX_TRACES', 'traces'),
      ],
      beyond: 'They are cut, or not listed.',
      others: 'nothing',
      attack: ['replay-strings'],
      test: FORMATS,
    },
    {
      what: 'Sessions of an answer; traces of a session that are looked for; sessions with repeated batches that a list names',
      of: 'a request',
      bound: [
        from('api/replay/parameters.ts')('MAX_SESSIONS', 'sessions'),
        from('api/replay/sessions.ts')('MAX_SESSION_TRACES', 'traces'),
        from('api/replay/sessions.ts')('MOST_REPEATED', 'sessions with repeated batches'),
        from('api/replay/session-parts.ts')('MOST_NAMED', 'traces in a search of entries'),
      ],
      beyond: '400; further traces are not looked for; all rows are looked at for repeats.',
      others: 'nothing',
      test: 'test/e2e/store/replay-read.e2e.test.ts',
    },
    {
      what: 'Text of a parameter',
      of: 'a request',
      bound: [from('api/replay/parameters.ts')('MOST_TEXT', 'characters')],
      beyond: '400',
      others: 'nothing',
      test: 'test/e2e/store/replay-read.e2e.test.ts',
    },
  ],
};
