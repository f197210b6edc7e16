import { gzipSync } from 'node:zlib';
import type { AttackRequest, RequestAttack, Target } from './attack.ts';

const PATH = '/v1/rum/replay';
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** Events of a body. */
const MANY = 5000;
/** What an attack sends at once. */
const MOST = 2 * 1024 * 1024;
/** The session that all rounds of an attack share. */
const SHARED = 'attack';

const send = (name: string, atOnce: number, bodyOf: (round: number) => string): RequestAttack => ({
  ...{ name, kind: 'ingest', atOnce },
  request: (_target, round): AttackRequest => ({ host: 'app', method: 'POST', path: PATH, headers: JSON_TYPE, body: bodyOf(round) }),
});
const many = (count: number, one: (index: number) => string): string => Array.from({ length: count }, (_none, index) => one(index)).join();
const event = (data: string, after = 0): string => `{"type":3,"data":${data},"timestamp":${String(Date.now() - after)}}`;
const batch = (session: string, events: string, more = ''): string => `{"session_id":"${session}"${more},"events":[${events}]}`;
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

let bodies: readonly Buffer[] | null = null;
/** Batches of one session, nearly as long as one may be, whose id stands before the event and behind it. Compressed once, so that the attacker's own work is small. */
function endless(): readonly Buffer[] {
  const long = event(`"${'x'.repeat(7_900_000)}"`);
  bodies ??= [batch('endless', long), `{"events":[${long}],"session_id":"endless"}`].map((body) => gzipSync(body));
  return bodies;
}
const SCRIPT = '<script>alert(1)</script>';

/** What a tenant does with the path that takes session replay. */
const IN: readonly RequestAttack[] = [
  send('replay-flood', 32, (round) =>
    batch(
      `s${String(round)}`,
      many(MANY, (i) => event('{"source":1}', i)),
    ),
  ),
  send('replay-deep', 32, () =>
    batch(
      SHARED,
      many(20, () => event(nested(10_000))),
    ),
  ),
  send('replay-one-event', 8, (round) => batch(`s${String(round)}`, event(`"${'x'.repeat(MOST - 1000)}"`))),
  send('replay-long-session', 16, (round) => batch(SHARED, event(`"${'x'.repeat(1_000_000)}"`), `,"seq":${String(round)}`)),
  // 10 GB in 1,300 batches: refused from the 34th on, also where whose they are stands behind the events
  {
    ...{ name: 'replay-endless-session', kind: 'ingest', atOnce: 16 },
    request: (_target, round): AttackRequest => ({
      ...{ host: 'app', method: 'POST', path: PATH, headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } },
      body: endless()[round % 2] as Buffer,
    }),
  },
  // a batch is a session of its own, and another tenant's are remembered no longer
  send(
    'replay-sessions',
    32,
    (round) =>
      `[${many(2000, (i) => `{"event":"$snapshot","properties":{"$session_id":"s${String(round)}-${String(i)}","$snapshot_data":[${event('{}')}]}}`)}]`,
  ),
  send('replay-times', 32, (round) =>
    batch(
      `s${String(round)}`,
      many(MANY, (i) => `{"type":0,"data":{},"timestamp":${String(i % 2 === 0 ? 1000 : 4_102_444_800_000)}}`),
    ),
  ),
  send('replay-strings', 16, (round) =>
    batch(
      `s${String(round)}`,
      many(
        500,
        (i) => `{"type":4,"data":{"href":"javascript:alert(${String(i)})//${'u'.repeat(2000)}"},"timestamp":${String(Date.now())}}`,
      ),
      `,"user":"${SCRIPT}","service":"s${String(round)}","version":"${'v'.repeat(10_000)}","trace_ids":[${many(5000, (i) => `"${i.toString(16).padStart(32, '0')}"`)}]`,
    ),
  ),
  // batches that all overlap: a reader must hold them
  send('replay-overlaps', 16, (round) =>
    batch('overlaps', `${event(`"${'x'.repeat(100_000)}"`, 3_600_000 - (round % 1000))},${event('{}')}`, `,"seq":${String(round)}`),
  ),
  send('replay-clicks', 16, (round) =>
    batch(
      'clicks',
      many(MANY, (i) => event('{"source":2,"type":2,"x":1,"y":1}', i)),
      `,"seq":${String(round)}`,
    ),
  ),
];

const query = (name: string, atOnce: number, pathOf: (target: Target) => string): RequestAttack => ({
  ...{ name, kind: 'query', atOnce },
  request: (target): AttackRequest => ({
    host: 'app',
    path: `/api/v1/tenants/${String(target.tenantId)}/replay/sessions${pathOf(target)}`,
  }),
});

/** What a tenant does with the paths that read it. */
const OUT: readonly RequestAttack[] = [
  query('replay-list', 16, () => '?start=-30d&limit=1000'),
  query('replay-list-regexp', 16, () => `?start=-30d&query=${encodeURIComponent('urls:~"(a|b|ab)*c"')}`),
  query('replay-list-rage', 16, () => `?start=-30d&query=${encodeURIComponent('rage_clicks:>0 | sort by (clicks)')}`),
  query('replay-events-overlaps', 16, () => '/overlaps/events'),
  query('replay-events-from', 16, () => '/attack/events?from=-1s'),
  query('replay-session-clicks', 16, () => '/clicks'),
  query('replay-logs', 16, () => '/clicks/logs'),
];

export const REPLAY_ATTACKS: readonly RequestAttack[] = [...IN, ...OUT];
