import { from, type Section } from './limit.ts';

const tails = from('api/limits/live-tails.ts');
const sockets = from('api/live/sockets/live-sockets.ts');
const socket = from('api/live/sockets/tail-socket.ts');
const meter = from('api/live/sockets/receive-meter.ts');
const unsent = from('api/live/unsent-share.ts');
const alerts = from('api/live/alerts/alert-sockets.ts');
const session = from('api/live/tail-session.ts');
const held = from('api/live/held-entries.ts');
const rate = from('api/live/worker/open-tail.ts');
const cpu = from('api/live/worker/cpu-share.ts');
const feed = from('api/live/worker/live-feed.ts');
const hub = from('api/live/live-hub.ts');
const query = from('api/live/match/live-query.ts');

/** Tails, and what comes over WebSockets. */
export const LIVE: Section = {
  title: 'Live tails and sockets',
  rows: [
    {
      what: 'Tails; streams of alerts',
      of: 'a tenant',
      bound: [],
      by: 'the plan',
      beyond: '403',
      others: 'nothing',
      attack: ['tails-of-all', 'tails', 'upgrades'],
    },
    {
      what: 'The same',
      of: 'a key',
      bound: [tails('MAX_OF_KEY', '')],
      beyond: '429',
      others: 'nothing',
      test: 'test/api/limits/live-tails.test.ts',
    },
    {
      what: 'Time for the first query; time to confirm a close',
      of: 'a connection',
      bound: [socket('FIRST_QUERY_MS', 'ms'), sockets('CLOSE_MS', 'ms')],
      beyond: 'Closed with 1008; cut off.',
      others: 'nothing',
      attack: ['upgrades', 'socket-fragments'],
    },
    {
      what: 'Time to answer a ping',
      of: 'a connection',
      bound: [sockets('PING_MS', 'ms')],
      beyond: 'The connection is cut off.',
      others: 'nothing',
      test: 'test/api/live/sockets.test.ts',
    },
    {
      what: 'Messages at once',
      of: 'a connection',
      bound: [socket('MAX_MESSAGES', ''), socket('MESSAGE_MS', 'ms for one more')],
      beyond: 'Closed with 1008.',
      others: 'nothing',
      test: 'test/e2e/instance/live.e2e.test.ts',
    },
    {
      what: 'Message',
      of: 'a connection',
      bound: [sockets('MAX_PAYLOAD', 'bytes')],
      beyond: 'Closed with 1009.',
      others: 'nothing',
      attack: ['socket-bytes'],
    },
    {
      what: 'Fragments of a message, and pieces of a frame',
      of: 'a connection',
      bound: [meter('PARTS', 'fragments', 'maxFragments'), meter('PARTS', 'pieces', 'maxBufferedChunks')],
      beyond: 'Closed with 1008.',
      others: 'nothing',
      attack: ['socket-fragments', 'socket-bytes'],
    },
    {
      what: 'Bytes of messages that are not whole',
      of: 'a process',
      bound: [sockets('MAX_HELD', 'bytes')],
      beyond: 'Closed with 1013.',
      others: 'The same: some tenants together can fill it.',
      attack: ['socket-bytes', 'socket-fragments'],
    },
    {
      what: 'Part of them that one tenant may have',
      of: 'a tenant',
      bound: [from('api/http/bodies-in-flight.ts')('TENANT_SHARE', 'part')],
      beyond: 'Closed with 1013.',
      others: 'nothing',
      attack: ['socket-bytes'],
    },
    {
      what: 'Pings and pongs at once',
      of: 'a connection',
      bound: [meter('MAX_CONTROLS', ''), meter('CONTROL_MS', 'ms for one more')],
      beyond: 'Closed with 1008.',
      others: 'nothing',
      attack: ['socket-pongs'],
    },
    {
      what: 'Bytes that wait for a client',
      of: 'a tail',
      bound: [unsent('MOST_OF_SLOW', 'bytes if it takes nothing', 0), unsent('MOST_OF_FAST', 'bytes if it reads', 0)],
      beyond: 'Entries are counted as dropped.',
      others: 'nothing',
      attack: ['unread-tails', 'tails-of-all'],
    },
    {
      what: 'Bytes that wait for all clients; for one of them beyond that',
      of: 'a process',
      bound: [
        unsent('MOST_OF_ALL', 'bytes'),
        unsent('MOST_OF_SLOW', 'bytes if it takes nothing', 1),
        unsent('MOST_OF_FAST', 'bytes if it reads', 1),
      ],
      beyond: 'Entries are counted as dropped.',
      others: 'Less may wait for theirs too: more may be dropped of a slow one.',
      attack: ['unread-tails'],
    },
    {
      what: 'Bytes that wait for a stream of alerts',
      of: 'a connection',
      bound: [alerts('MAX_UNSENT', 'bytes')],
      beyond: 'Closed with 1013.',
      others: 'nothing',
      test: 'test/e2e/instance/live.e2e.test.ts',
    },
    {
      what: 'Stored entries that a tail begins with; alerts that a stream begins with',
      of: 'a tail',
      bound: [session('MAX_BACKFILL', 'entries'), from('api/live/alerts/published-since.ts')('MAX_ALERTS', 'alerts')],
      beyond: 'Older ones are left out, which is reported.',
      others: 'nothing',
      attack: ['tails', 'unread-tails'],
    },
    {
      what: 'Bytes from which on stored entries wait for the client, and how long one does',
      of: 'a tail',
      bound: [session('BACKFILL_UNSENT', 'bytes'), session('BACKFILL_WAIT_MS', 'ms')],
      beyond: 'The next entry is given all the same.',
      others: 'nothing',
      attack: ['unread-tails'],
    },
    {
      what: 'Entries that come meanwhile',
      of: 'a tail',
      bound: [held('MAX_COUNT', ''), held('MAX_BYTES', 'bytes')],
      beyond: 'They are read from storage, or counted as dropped.',
      others: 'nothing',
      attack: ['tails', 'unread-tails'],
    },
    {
      what: 'Wait for what comes before a tail to be stored',
      of: 'a tail',
      bound: [from('api/live/place/stored-places.ts')('WAIT_MS', 'ms')],
      beyond: 'The tail ends with 503.',
      others: 'nothing',
      test: 'test/api/live/tail-session.test.ts',
    },
    {
      what: 'Characters of the values of queries inside',
      of: 'a tail',
      bound: [from('api/live/operations.ts')('MAX_VALUES', '')],
      beyond: '400',
      others: 'nothing of one tail; those of many are not added up',
      test: 'test/e2e/instance/live.e2e.test.ts',
    },
    {
      what: 'Entries a second',
      of: 'a tail',
      bound: [rate('MAX_RATE', '')],
      beyond: 'Counted as dropped (`rate`).',
      others: 'nothing',
      attack: ['tails-of-all'],
    },
    {
      what: 'Entries a second of all tails: tenants have equal parts, and tails those of their tenant',
      of: 'a process',
      bound: [rate('MAX_RATE_OF_ALL', '')],
      beyond: 'Counted as dropped (`rate`).',
      others: 'They have their part, however many tails another has; it is smaller with many tenants.',
      attack: ['tails-of-all', 'heavy-tails'],
    },
    {
      what: 'Time of its filters in a second',
      of: 'a tenant',
      bound: [cpu('SHARE_MS', 'ms'), cpu('SAVED_MS', 'ms saved up')],
      beyond: 'Entries are counted as dropped (`busy`).',
      others: 'nothing',
      attack: ['heavy-tails', 'tails-of-slow-regexps'],
    },
    {
      what: 'Time of all filters in a second',
      of: 'all tenants',
      bound: [cpu('ALL_MS', 'ms')],
      beyond: 'Entries are counted as dropped (`busy`).',
      others: 'Those whose filters take much have an equal part; the rest nothing.',
      attack: ['heavy-tails'],
    },
    {
      what: 'Time of a heavy tail with one record',
      of: 'a tail',
      bound: [feed('RECORD_MS', 'ms'), feed('TURN_MS', 'ms of all heavy tails in a turn')],
      beyond: 'The rest of the record is counted as dropped (`busy`).',
      others: 'Their heavy tails may lack the rest of that turn.',
      attack: ['heavy-tails', 'tails-of-slow-regexps'],
    },
    {
      what: 'Rows and bytes that an entry becomes in pipes',
      of: 'a tail',
      bound: [query('MEMORY', 'rows', 'maxRows'), query('MEMORY', 'bytes', 'maxBytes')],
      beyond: 'The tail ends with 504.',
      others: 'nothing',
      test: 'test/api/live/live-feed.test.ts',
    },
    {
      what: 'Silence of the live worker with one entry',
      of: 'a tail',
      bound: [hub('SILENT_MS', 'ms'), hub('PENALTY_MS', 'ms without a new tail')],
      beyond: 'The heavy tails of the tenant end with 504; new ones are refused with 429.',
      others: 'Their tails pause, and go on where they were.',
      attack: ['tails-of-slow-regexps'],
      test: 'test/api/live/stuck-worker.test.ts',
    },
    {
      what: 'Memory of the live worker for objects',
      of: 'a process',
      bound: [hub('PROGRAM', 'MB', 'heapMb')],
      beyond: 'It ends, and another one takes its place.',
      others: 'Their tails pause, and go on where they were.',
      test: 'test/e2e/instance/live.e2e.test.ts',
    },
  ],
};
