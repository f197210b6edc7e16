import { expect } from 'chai';
import { pino } from 'pino';
import { appEndpoint } from '../../../../api/http/endpoint.ts';
import { createReplayRoutes } from '../../../../api/replay/routes.ts';
import { sql } from '../../../../pipeline/core/sql.ts';
import { Store } from '../../../../pipeline/store/client.ts';
import { migrate } from '../../../../pipeline/store/migrations.ts';
import { ReplayErasure } from '../../../../sinks/replay-erasure.ts';
import { isWhole } from '../../../extent.ts';
import { FakeKeyStore } from '../../../fakes/key-store.ts';
import { REPLAY_AT, replayEvent, storeBatches, storeChunks, storeTogether } from '../../../fakes/stored-chunks.ts';
import { startHost } from '../../../fakes/test-host.ts';
import { Random } from '../../../fuzz/random.ts';
import { until } from '../../instance.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { runtimeOver } from '../../query-setup.ts';

type Session = Readonly<Record<string, unknown>> & { readonly session_id: string };
type Listed = { readonly sessions: readonly Session[]; readonly has_more: boolean; readonly oldest_time: string | null };
type Given = Readonly<Record<string, string>>;

const HOUR = 3_600_000;
const NOW = BigInt(REPLAY_AT + 48 * HOUR) * 1_000_000n;
const [SESSIONS, SEED] = [80, 20_261_118];
const moment = (after: number): string => new Date(REPLAY_AT + after).toISOString();

/** How statements are planned that give rows. */
class Explaining extends Store {
  readonly plans: string[] = [];
  override async *query(...[statement, options]: Parameters<Store['query']>): ReturnType<Store['query']> {
    for await (const lines of super.query(sql`EXPLAIN projections = 1 ${statement}`, options)) this.plans.push(lines.join('\n'));
    yield* super.query(statement, options);
  }
}

/** A batch of a session; `at` in milliseconds after REPLAY_AT. */
function batchOf(random: Random, session: string, seq: number, at: number): object {
  const page = `https://shop.example/${random.pick(['', 'cart', 'pay', 'item?id=7'])}`;
  return {
    ...{ session_id: session, seq, user: random.pick(['', 'ada', 'bob', 'eve']), service: random.pick(['', 'shop', 'admin']) },
    events: [
      replayEvent(at, 4, { href: page, width: 1, height: 1 }),
      ...(random.below(6) === 0 ? [replayEvent(at + 1, 5, { tag: 'error', payload: {} })] : []),
      ...(random.below(9) === 0 ? [replayEvent(at + 2, 5, { tag: 'request', payload: { failed: true } })] : []),
      replayEvent(at + random.below(9000), 3, { source: 0 }),
    ],
  };
}

/** Batches of sessions over three days, some through midnight, in any order, a third of them twice. */
function randomBatches(random: Random, count: number): object[] {
  const batches: object[] = [];
  for (let session = 0; session < count; session++) {
    const [begin, length] = [random.below(60 * HOUR) - 24 * HOUR, random.pick([10_000, HOUR, 11 * HOUR])];
    for (let seq = 0; seq <= random.below(6); seq++) {
      const batch = batchOf(random, `s-${String(session)}`, seq, begin + random.below(length));
      batches.splice(random.below(batches.length + 1), 0, batch);
      if (random.below(3) === 0) batches.splice(random.below(batches.length + 1), 0, batch);
    }
  }
  return batches;
}

const WINDOWS: readonly Given[] = [
  { start: moment(-72 * HOUR), end: moment(72 * HOUR) },
  { start: moment(0), end: moment(24 * HOUR) },
  { start: moment(11 * HOUR), end: moment(13 * HOUR) },
  { start: moment(-14 * HOUR), end: moment(-12 * HOUR) },
];
const FILTERS: readonly Given[] = [
  {},
  { user: 'ada' },
  { service: 'shop' },
  { url: 'item?id=7' },
  { errors: 'true' },
  { min_length: '30m' },
  { user: 'eve', service: 'admin', min_length: '1s' },
  { limit: '7' },
];
/** A sample has each window, and each filter, half of the times. */
const LISTS: readonly Given[] = WINDOWS.flatMap((window, row) =>
  FILTERS.filter((_filter, column) => isWhole || (row + column) % 2 === 0).map((filter) => ({ limit: '1000', ...window, ...filter })),
);

describe('lists of sessions by the projection', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let store: Explaining;
  let host: Awaited<ReturnType<typeof startHost>>;

  before(async () => {
    own = await LogsqlStore.start();
    store = own.open(Explaining);
    const routes = createReplayRoutes({ runtime: runtimeOver(store, { now: () => NOW }), remove: () => Promise.resolve() });
    host = await startHost({ keys: new FakeKeyStore({ 1: {}, 2: { tenantId: 2 } }), endpoints: routes.map((route) => appEndpoint(route)) });
  });
  after(async () => {
    await host.stop();
    await store.close();
    await own.stop();
  });

  async function get<T>(path: string, given: Given = {}, tenant = 1): Promise<T> {
    const url = `${host.url}/api/v1/tenants/${String(tenant)}/replay/sessions${path}?${new URLSearchParams(given).toString()}`;
    const response = await fetch(url, { headers: { Authorization: `Bearer ${String(tenant)}` } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return JSON.parse(text) as T;
  }

  /** Each list is the one that all rows at once give: what asks for counts. Gives how many sessions there were, and lists that read the projection. */
  async function compare(): Promise<{ readonly sessions: number; readonly projected: number }> {
    let [sessions, projected] = [0, 0];
    for (const given of LISTS) {
      store.plans.length = 0;
      const found = await get<Listed>('', given);
      if (store.plans[0]?.includes('ReadFromMergeTree (sessions)') === true) projected += 1;
      const whole = await get<Listed>('', { ...given, query: 'events:>0' });
      expect(store.plans.at(-1)).not.to.include('(sessions)');
      expect(found.sessions, JSON.stringify(given)).to.deep.equal(whole.sessions);
      expect([found.has_more, found.oldest_time]).to.deep.equal([whole.has_more, whole.oldest_time]);
      sessions += found.sessions.length;
    }
    return { sessions, projected };
  }
  /** Of so few sessions ClickHouse reads the rows where these have no more granules. */
  const MOST = LISTS.length / 2;
  const settled = (): Promise<unknown> =>
    until('the parts of before', async () => Number((await own.store.ownerRows("SELECT count() FROM system.mutations WHERE database = currentDatabase() AND table = 'replay_chunks' AND NOT is_done"))[0]?.[0]), (left) => left === 0); // prettier-ignore

  it('has the sessions that all rows give: of parts of before, new ones and merged ones, late, repeated and deleted ones, through midnight', async () => {
    const random = new Random(SEED);
    // as a version before has left it
    await own.store.command('ALTER TABLE replay_chunks DROP PROJECTION sessions SETTINGS mutations_sync = 2');
    await own.store.command('ALTER TABLE migrations DELETE WHERE number IN (30, 31) SETTINGS mutations_sync = 2');
    const batches = randomBatches(random, SESSIONS);
    const third = Math.ceil(batches.length / 3);
    await storeTogether(own.store, 1, batches.slice(0, third));
    await storeBatches(own.store, 2, [{ session_id: 's-0', user: 'ada', events: [replayEvent(0, 4, { href: 'https://other.example/' })] }]);

    expect(await migrate(own.store, 30)).to.deep.equal([30]);
    await storeTogether(own.store, 1, batches.slice(third, 2 * third));
    for (const deleted of [3, 30, 60])
      await storeChunks(own.store, 1, (out) => {
        out.remove(`s-${String(deleted)}`, REPLAY_AT - 12 * HOUR);
      });
    const before = await compare();
    expect(before.sessions).to.be.above(SESSIONS);

    expect(await migrate(own.store)).to.deep.equal([31]);
    await settled();
    // and what comes late
    await storeTogether(own.store, 1, batches.slice(2 * third));
    expect((await compare()).projected).to.be.above(MOST);
    await own.store.command('OPTIMIZE TABLE replay_chunks FINAL');
    expect((await compare()).projected).to.be.above(MOST);
  });

  it('has nothing any more of who a deleted session was of, and where', async () => {
    const ofDeleted = async (): Promise<unknown> => {
      const deleted = "tenant_id = 1 AND session IN ('s-3', 's-30', 's-60')";
      const [row] = await own.store.ownerRows(`SELECT groupUniqArrayArray(urls) AS pages, argMaxIf(user, last, notEmpty(user)) FROM replay_chunks WHERE ${deleted} SETTINGS force_optimize_projection_name = 'sessions'`); // prettier-ignore
      return row;
    };
    expect(await ofDeleted()).not.to.deep.equal([[], '']);
    await new ReplayErasure({ stores: [own.store], log: pino({ level: 'silent' }) }).look();
    expect(await ofDeleted()).to.deep.equal([[], '']);
    expect((await compare()).projected).to.be.above(MOST);
  });

  it('has nothing of a tenant whose rows were deleted', async () => {
    await own.store.command('ALTER TABLE replay_chunks DELETE WHERE tenant_id IN (2)', { mutations_sync: '1' });
    await own.store.command('OPTIMIZE TABLE replay_chunks FINAL');
    const [row] = await own.store.ownerRows("SELECT (SELECT sum(rows) FROM system.projection_parts WHERE active AND database = currentDatabase() AND table = 'replay_chunks') AS projected, uniqExact(session, bitShiftRight(toUnixTimestamp64Milli(first), 22)) AS sessions, uniqExact(tenant_id) FROM replay_chunks"); // prettier-ignore
    expect(row?.[0]).to.equal(row?.[1]);
    expect(Number(row?.[2])).to.equal(1);
    expect((await compare()).projected).to.be.above(MOST);
  });

  it('has one session where two browsers send under one id: all of both, in the order of their times, with the labels of the latest', async () => {
    const browser = (user: string, service: string, after: number): object[] =>
      [0, 1, 2].map((seq) => {
        const at = after + 5000 * seq;
        const events = [replayEvent(at, 4, { href: `https://${service}.example/` }), replayEvent(at + 3000, 3, { source: seq })];
        return { session_id: 'shared', seq, user, service, events };
      });
    const [ada, eve] = [browser('ada', 'shop', 0), browser('eve', 'admin', 2500)];
    // in turn, and one batch again
    for (let seq = 0; seq < 3; seq++) await storeBatches(own.store, 2, [ada[seq] as object, eve[seq] as object]);
    await storeBatches(own.store, 2, [ada[1] as object]);
    const url = `${host.url}/api/v1/tenants/2/replay/sessions/shared/events`;
    const text = await (await fetch(url, { headers: { Authorization: 'Bearer 2' } })).text();
    const times = text.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { timestamp: number }).timestamp - REPLAY_AT])); // prettier-ignore
    expect(times).to.deep.equal([0, 2500, 3000, 5000, 5500, 7500, 8000, 10_000, 10_500, 12_500, 13_000, 15_500]);
    const shown = await get<Session>('/shared', {}, 2);
    expect(shown).to.include({ user: 'eve', service: 'admin', url: 'https://shop.example/', events: 12, pages: 2, duration_ms: 15_500 });
    for (const [user, expected] of [
      ['eve', [shown]],
      ['ada', []],
    ] as const)
      expect((await get<Listed>('', { ...WINDOWS[1], user }, 2)).sessions).to.deep.equal(expected);
  });
});
