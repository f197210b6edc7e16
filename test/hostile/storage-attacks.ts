import { createHash } from 'node:crypto';
import type { Arena, Attack, AttackRequest, RequestAttack, Target } from './attack.ts';
import { SMALL } from './attack.ts';
import { frameOf, post, upgrade } from './http-bytes.ts';

const DAY_MS = 86_400_000;
const JSON_PATH = '/api/v1/ingest';
/** Of a body, below the cap. */
const MOST = 1_900_000;

const lines = (count: number, one: (index: number) => object): string =>
  Array.from({ length: count }, (_none, index) => JSON.stringify(one(index))).join('\n');
const requests = (
  name: string,
  atOnce: number,
  made: (target: Target, round: number) => Omit<AttackRequest, 'host'> & Partial<AttackRequest>,
): RequestAttack => ({
  ...{ name, kind: 'ingest', atOnce },
  request: (target, round) => ({ host: 'ingest', ...made(target, round) }),
});
const writes = (name: string, atOnce: number, body: (round: number) => string, host: 'ingest' | 'app' = 'ingest'): RequestAttack =>
  requests(name, atOnce, (_target, round) => ({ host, path: JSON_PATH, body: body(round) }));

/** Letters that no other number has. */
const word = (number: number): string =>
  createHash('sha1')
    .update(String(number))
    .digest('hex')
    .replace(/[0-9]/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '');

/** A tail of this query as a frame. */
const tails = (arena: Arena, count: number, query: (index: number) => string): void => {
  for (let index = 0; index < count; index++) {
    const socket = arena.connect('app');
    socket.write(upgrade(arena.target), 'latin1');
    socket.once('data', () => socket.write(frameOf(JSON.stringify({ query: query(index) }))));
  }
};
const keepsWriting = (arena: Arena, everyMs: number, body: () => string): void => {
  const socket = arena.connect('ingest');
  arena.every(everyMs, () => {
    if (socket.writableLength === 0) socket.write(post(arena.target, JSON_PATH, body()));
  });
};

/** What a tenant does with what it stores, and what follows from it: parts, templates, tails, alerts. */
export const STORAGE_ATTACKS: readonly Attack[] = [
  writes('days-of-one-stream', 16, (round) =>
    lines(360, (i) => ({ _msg: `of round ${String(round)}`, app: 'days', _time: new Date(Date.now() - i * DAY_MS).toISOString() })),
  ),
  writes('a-day-a-request', 16, (round) =>
    JSON.stringify({ _msg: 'of a day', app: 'days', _time: new Date(Date.now() - (round % 360) * DAY_MS).toISOString() }),
  ),
  writes('new-templates', 16, (round) =>
    lines(4000, (i) => ({ _msg: Array.from({ length: 8 }, (_none, n) => word(round * 50_000 + i * 8 + n)).join(' '), app: 'templates' })),
  ),
  writes('errors-of-new-templates', 16, (round) =>
    lines(4000, (i) => ({
      _msg: Array.from({ length: 8 }, (_none, n) => word(-round * 50_000 - i * 8 - n)).join(' '),
      level: 'error',
      service: `s${String(i % 90)}`,
    })),
  ),
  writes('one-long-word', 16, (round) => JSON.stringify({ _msg: word(round).repeat(Math.floor(MOST / 40)), app: 'word' })),
  // values of columns whose parts have one dictionary for all tenants
  writes('large-levels', 16, (round) =>
    JSON.stringify({ _msg: 'x', level: word(round).repeat(Math.floor(MOST / 80)), service: word(-round).repeat(Math.floor(MOST / 80)) }),
  ),
  writes('large-hosts', 16, (round) => JSON.stringify({ _msg: 'x', host: word(round).repeat(Math.floor(MOST / 40)) })),
  // the same of promoted fields, one of which the quiet tenant asks for (`found`)
  writes('long-promoted', 16, (round) =>
    JSON.stringify({
      _msg: 'x',
      ...Object.fromEntries(['app', 'host', 'status'].map((name, n) => [name, word(round * 3 + n).repeat(Math.floor(MOST / 120))])),
    }),
  ),
  writes(
    'flood-of-the-app-host',
    48,
    (round) => lines(6000, (i) => ({ _msg: `request ${String(i)} of round ${String(round)}`, service: 'checkout' })),
    'app',
  ),
  requests('exports-at-once', 18, () => ({
    host: 'app',
    path: `/select/logsql/query?${new URLSearchParams({ query: '*', ...SMALL }).toString()}`,
  })),
  {
    name: 'tails-of-all',
    kind: 'query',
    open: (arena) => {
      tails(arena, 100, () => '*');
      keepsWriting(arena, 50, () => lines(500, (i) => ({ _msg: `entry ${String(i)} that each of a hundred tails gets`, app: 'tails' })));
    },
  },
  {
    name: 'heavy-tails',
    kind: 'query',
    open: (arena) => {
      const regexps = (index: number): string =>
        Array.from({ length: 12 }, (_none, n) => `_msg:~"(a|b|ab)*c${String(index)}_${String(n)}$"`).join(' or ');
      tails(arena, 95, regexps);
      keepsWriting(arena, 50, () => lines(100, () => ({ _msg: 'ab'.repeat(900), app: 'tails' })));
    },
  },
  {
    name: 'rules-of-many-groups',
    kind: 'query',
    open: (arena) => {
      const { target } = arena;
      const path = `/api/v1/tenants/${String(target.tenantId)}`;
      const setup = arena.connect('app');
      for (let n = 0; n < 10; n++)
        setup.write(post(target, `${path}/webhooks`, JSON.stringify({ url: `https://hooks-${String(n)}.invalid/x` })));
      for (let n = 0; n < 50; n++)
        setup.write(
          post(
            target,
            `${path}/rules`,
            JSON.stringify({
              name: `rule ${String(n)}`,
              query: `n:>=${String(n)} | stats by (host) count()`,
              if: 'value > 0',
              severity: 'critical',
            }),
          ),
        );
      keepsWriting(arena, 50, () => lines(500, (i) => ({ _msg: `entry ${String(i)}`, host: `h${String(i % 100)}`, n: 100 })));
    },
  },
];
