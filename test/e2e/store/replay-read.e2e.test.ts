import { expect } from 'chai';
import { pino } from 'pino';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import { createReplayRoutes, type Deletion } from '../../../api/replay/routes.ts';
import { fakePrincipal, FakeKeyStore } from '../../fakes/key-store.ts';
import { REPLAY_AT, replayEvent as event, storeBatches, storeChunks, storeTogether } from '../../fakes/stored-chunks.ts';
import { insertSpans, spanId, traceId } from '../../fakes/stored-spans.ts';
import { startHost } from '../../fakes/test-host.ts';
import { ReplayErasure } from '../../../sinks/replay-erasure.ts';
import { storedSizes } from '../../../sinks/session-sizes.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { at, runtimeOver } from '../query-setup.ts';

type Session = Readonly<Record<string, unknown>> & { readonly session_id: string };
type Listed = { readonly sessions: readonly Session[]; readonly has_more: boolean; readonly oldest_time: string | null };
type Event = { readonly type: number; readonly timestamp: number; readonly data: Readonly<Record<string, unknown>> };

const DAY = { start: '2026-11-18T00:00:00Z', end: '2026-11-19T00:00:00Z' };
const NOW = BigInt(REPLAY_AT + 3_600_000) * 1_000_000n;
const click = (after: number, x: number, y: number): object => event(after, 3, { source: 2, type: 2, id: 1, x, y });
const meta = (after: number, href: string): object => event(after, 4, { href, width: 100, height: 100 });
const snapshot = (after: number): object => event(after, 2, { node: {}, initialOffset: {} });
const moment = (after: number): string => new Date(REPLAY_AT + after).toISOString();

/** A session of four batches, of which the second comes last, and the third twice. */
const WHOLE = [
  { seq: 0, user: 'ada', service: 'shop', version: '1', events: [meta(0, 'https://shop.example/'), snapshot(1), click(100, 10, 10), click(4900, 10, 10)] }, // prettier-ignore
  { seq: 2, user: 'ada', service: 'shop', trace_ids: [traceId(1)], events: [meta(120_000, 'https://shop.example/cart'), snapshot(120_001), event(121_000, 5, { tag: 'error', payload: {} })] }, // prettier-ignore
  { seq: 2, user: 'ada', service: 'shop', trace_ids: [traceId(1)], events: [meta(120_000, 'https://shop.example/cart'), snapshot(120_001), event(121_000, 5, { tag: 'error', payload: {} })] }, // prettier-ignore
  { seq: 3, user: 'ada', service: 'shop', version: '2', events: [event(130_000, 5, { tag: 'request', payload: { failed: true } }), meta(240_000, 'https://shop.example/pay'), snapshot(240_000), event(250_000, 3, { source: 0 })] }, // prettier-ignore
  { seq: 1, user: 'ada', service: 'shop', events: [click(5100, 12, 12), click(5300, 15, 9), click(5400, 400, 400), event(60_000, 3, { source: 1 })] }, // prettier-ignore
].map((batch) => ({ session_id: 'whole', ...batch }));
const COUNTS = { events: 15, pages: 3, clicks: 5, rage_clicks: 1, errors: 1, failed_requests: 1 };

describe('session replay that is read', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let host: Awaited<ReturnType<typeof startHost>>;
  const deletions: Deletion[] = [];

  before(async () => {
    own = await LogsqlStore.start();
    const { store } = own;
    await storeBatches(store, 1, WHOLE);
    for (let index = 0; index < 30; index++)
      await storeBatches(store, 1, [
        {
          ...{ session_id: `s-${String(index)}`, user: `u${String(index % 3)}`, service: index % 2 === 0 ? 'shop' : 'admin' },
          events: [meta(3_600_000 + index, `https://shop.example/item?id=${String(index)}`), event(3_600_000 + index + 1000 * index, 3)],
        },
      ]);
    // the same id, of another tenant
    await storeBatches(store, 2, [{ session_id: 'whole', user: 'eve', events: [meta(0, 'https://other.example/')] }]);
    await storeBatches(store, 2, [{ session_id: 'secret', user: 'eve', events: [meta(0, 'https://other.example/')] }]);
    const script = '<script>alert(1)</script>';
    await storeBatches(store, 3, [
      { session_id: 'hostile', user: `${script}' OR 1=1 --`, url: 'javascript:alert(1)', service: '\\\'"`{p0:String}', events: [event(0, 3, { text: script, line: 'a\nb\u2028' })] }, // prettier-ignore
    ]);
    await own.insert(1, [
      at(0, { _msg: 'of the session', session_id: 'whole', _time: moment(500) }),
      at(0, { _msg: 'of its trace', trace_id: traceId(1).toUpperCase(), _time: moment(900) }),
      at(0, { _msg: 'of its user', user: 'ada', _time: moment(950) }),
      at(0, { _msg: 'long before', session_id: 'whole', _time: moment(-3_600_000) }),
      at(0, { _msg: 'of a user without traces', user: 'u1', _time: moment(3_600_500) }),
    ]);
    await insertSpans(store, 1, [
      { trace: traceId(1), span: spanId(1), at: 121_500 },
      { trace: traceId(2), span: spanId(1), at: 3_601_000, attributes: [['enduser.id', 'u1']] },
    ]);
    const remove = async (deletion: Deletion): Promise<void> => {
      deletions.push(deletion);
      await storeChunks(store, deletion.principal.tenantId, (out) => {
        out.remove(deletion.session, deletion.start);
      });
    };
    const routes = createReplayRoutes({ runtime: runtimeOver(store, { now: () => NOW }), remove });
    const short = { plan: { ...fakePrincipal().plan, retentionDays: 1 } };
    host = await startHost({
      keys: new FakeKeyStore({ one: {}, two: { tenantId: 2 }, three: { tenantId: 3 }, four: { tenantId: 4 }, short, reader: { scopes: new Set(['read']) }, writer: { scopes: new Set(['write']) } }), // prettier-ignore
      endpoints: routes.map((route) => appEndpoint(route)),
    });
  });
  after(async () => {
    await host.stop();
    await own.stop();
  });

  async function call(
    path: string,
    given: Readonly<Record<string, string>> = {},
    key = 'one',
    tenant = 1,
    method = 'GET',
  ): Promise<{ status: number; text: string; type: string }> {
    const url = `${host.url}/api/v1/tenants/${String(tenant)}/replay/sessions${path}?${new URLSearchParams(given).toString()}`;
    const response = await fetch(url, { method, headers: { Authorization: `Bearer ${key}` } });
    return { status: response.status, text: await response.text(), type: response.headers.get('content-type') ?? '' };
  }
  async function get<T>(path: string, given: Readonly<Record<string, string>> = {}, key = 'one', tenant = 1): Promise<T> {
    const { status, text } = await call(path, given, key, tenant);
    if (status !== 200) throw new Error(`${path} answered ${String(status)}: ${text}`);
    return JSON.parse(text) as T;
  }
  const list = (given: Readonly<Record<string, string>> = {}): Promise<Listed> => get<Listed>('', { ...DAY, ...given });
  const ids = async (given: Readonly<Record<string, string>> = {}): Promise<string[]> =>
    (await list(given)).sessions.map(({ session_id: id }) => id);
  async function events(session: string, given: Readonly<Record<string, string>> = {}, key = 'one', tenant = 1): Promise<Event[]> {
    const { status, text, type } = await call(`/${session}/events`, given, key, tenant);
    if (status !== 200) throw new Error(text);
    expect(type).to.equal('application/x-ndjson; charset=utf-8');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Event]));
  }
  const times = async (given: Readonly<Record<string, string>> = {}): Promise<number[]> =>
    (await events('whole', given)).map(({ timestamp }) => timestamp - REPLAY_AT);

  it('is a session with what was counted of all of its batches, each once', async () => {
    const session = await get<Session>('/whole');
    expect(session).to.deep.include({
      ...{
        session_id: 'whole',
        _time: '2026-11-18T12:00:00Z',
        end: moment(250_000),
        duration_ms: 250_000,
        user: 'ada',
        service: 'shop',
        version: '2',
      },
      ...{ url: 'https://shop.example/', ...COUNTS },
    });
    expect((await list({ query: 'session_id:whole' })).sessions).to.deep.equal([session]);
  });

  it('has the size that its row has, where an intake looks for it by some time of its own', async () => {
    const { bytes } = await get<Session>('/whole');
    const span = { first: REPLAY_AT + 200_000, last: REPLAY_AT + 200_000 };
    const looked = new Map(['whole', 'none', 'secret'].map((id) => [id, span]));
    const whole = { bytes: Number(bytes), first: REPLAY_AT, last: REPLAY_AT + 250_000 };
    const away = { ownerRows: () => Promise.reject(new Error('away')) };
    for (const stores of [[own.store], [away, own.store]])
      expect([...(await storedSizes(stores)(1, looked))]).to.deep.equal([['whole', whole]]);
    const fault = await storedSizes([away])(1, looked).catch((error: unknown) => error);
    expect(String(fault)).to.equal('Error: away');
  });

  it('lists the sessions that begin in a window, newest first', async () => {
    const all = await ids();
    expect(all).to.deep.equal([...Array.from({ length: 30 }, (_none, index) => `s-${String(29 - index)}`), 'whole']);
    expect(await ids({ start: moment(3_600_010), end: moment(3_600_011) })).to.deep.equal(['s-11', 's-10']);
    // whose events are in the window, but not its beginning
    expect(await ids({ start: moment(100_000), end: moment(200_000) })).to.deep.equal([]);
  });

  it('goes on from page to page, each session once', async () => {
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page: Listed = await list({ limit: '7', ...(before === null ? {} : { before }) });
      seen.push(...page.sessions.map(({ session_id: id }) => id));
      before = page.has_more ? page.oldest_time : null;
    } while (before !== null);
    expect(seen).to.deep.equal(await ids());
  });

  it('finds sessions by user, page, service, errors, length, and LogsQL over what they have', async () => {
    const rows: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
      [{ user: 'ada' }, ['whole']],
      [{ user: 'ADA' }, []],
      [{ url: '/cart' }, ['whole']],
      [{ url: 'item?id=7' }, ['s-7']],
      [{ errors: 'true' }, ['whole']],
      [{ min_length: '4m' }, ['whole']],
      [{ min_length: '28s', service: 'shop' }, ['s-28', 'whole']],
      [{ query: 'rage_clicks:>0' }, ['whole']],
      [{ query: 'pages:3 clicks:>=5 errors:1' }, ['whole']],
      [{ query: 'cart' }, ['whole']],
      [{ query: 'urls:"pay" or session_id:="s-3"' }, ['s-3', 'whole']],
      [{ query: 'user:=u1 | sort by (duration_ms) | limit 1 | fields session_id' }, ['s-1']],
      [{ query: 'version:2' }, ['whole']],
      [{ query: 'nothing:x' }, []],
    ];
    for (const [given, expected] of rows) expect(await ids(given), JSON.stringify(given)).to.deep.equal(expected);
    const counted = await list({ query: 'service:* | stats by (service) count() as sessions, sum(events) as events' });
    expect([...counted.sessions].sort((a, b) => String(a['service']).localeCompare(String(b['service'])))).to.deep.equal([
      { service: 'admin', sessions: 15, events: 30 },
      { service: 'shop', sessions: 16, events: 45 },
    ]);
  });

  it('shows the same of sessions that are found before their rows are looked at', async () => {
    const pages: readonly Readonly<Record<string, string>>[] = [
      {},
      { user: 'ada' },
      { errors: 'true' },
      { query: 'pages:3' },
      { url: 'item', limit: '3' },
    ];
    for (const given of pages) {
      const found = await list(given);
      // what copies may change is looked at, of all rows at once
      const whole = await list({ ...given, query: `(${given['query'] ?? '*'}) events:>0` });
      expect(found.sessions, JSON.stringify(given)).to.deep.equal(whole.sessions);
      expect([found.has_more, found.oldest_time]).to.deep.equal([whole.has_more, whole.oldest_time]);
    }
    expect((await list({ user: 'ada' })).sessions[0]).to.include(COUNTS);
  });

  it('lists a whole page of sessions whose ids are as long as may be: more than one value of a statement', async () => {
    const idOf = (index: number): string => `long-${String(index)}-`.padEnd(128, 'x');
    const batch = (index: number): object => ({
      session_id: idOf(index),
      seq: 0,
      user: 'long',
      events: [meta(7_200_000 + index, 'https://long.example/')],
    });
    // each batch twice
    const all = Array.from({ length: 1001 }, (_none, index) => batch(index));
    for (const own_ of [all, all]) await storeTogether(own.store, 4, own_);
    const { text } = await call('', { limit: '1000', ...DAY }, 'four', 4);
    const page = JSON.parse(text) as Listed;
    expect(page.sessions, text.slice(0, 200)).to.be.an('array');
    expect(page.sessions.map(({ session_id: id }) => id)).to.deep.equal(Array.from({ length: 1000 }, (_none, index) => idOf(1000 - index)));
    expect(page.has_more).to.equal(true);
    expect(page.sessions.every(({ events }) => events === 1)).to.equal(true);
  });

  it('gives the events in the order of their times, each once, as they were sent', async () => {
    const sent = [...new Map(WHOLE.map((batch) => [batch.seq, batch.events as Event[]])).values()].flat();
    expect(await events('whole')).to.deep.equal(sent.sort((a, b) => a.timestamp - b.timestamp));
  });

  it('gives a part from the last full snapshot on, behind its meta event', async () => {
    expect(await times({ from: moment(120_500), to: moment(240_000) })).to.deep.equal([
      120_000, 120_001, 121_000, 130_000, 240_000, 240_000,
    ]);
    expect(await times({ from: moment(120_000), to: moment(5000) })).to.deep.equal([0, 1, 100, 4900]);
    expect(await times({ from: moment(240_000) })).to.deep.equal([240_000, 240_000, 250_000]);
    expect((await events('whole', { from: moment(240_000) })).map(({ type }) => type)).to.deep.equal([4, 2, 3]);
    expect(await times({ from: moment(-5) })).to.have.length(15);
    expect(await times({ to: moment(99) })).to.deep.equal([0, 1]);
    expect((await events('s-4', { from: moment(3_700_000) })).map(({ type }) => type)).to.deep.equal([4, 3]);
  });

  it('finds what the servers logged, and the traces', async () => {
    type Logs = { readonly logs: readonly { readonly _msg: string }[] };
    const logs = async (session: string): Promise<string[]> => (await get<Logs>(`/${session}/logs`)).logs.map(({ _msg }) => _msg);
    expect(await logs('whole')).to.deep.equal(['of its trace', 'of the session']);
    expect(await logs('s-1')).to.deep.equal(['of a user without traces']);
    const traces = async (session: string): Promise<string[]> =>
      (await get<{ readonly traces: readonly { readonly trace_id: string }[] }>(`/${session}/traces`)).traces.map(({ trace_id: id }) => id);
    expect(await traces('whole')).to.deep.equal([traceId(1)]);
    expect(await traces('s-1')).to.deep.equal([traceId(2)]);
    expect(await traces('s-2')).to.deep.equal([]);
  });

  it('shows no tenant a session of another', async () => {
    for (const path of ['/secret', '/secret/events', '/secret/logs', '/secret/traces', '/none'])
      expect((await call(path)).status, path).to.equal(404);
    expect((await call('/secret', {}, 'one', 1, 'DELETE')).status).to.equal(404);
    expect((await call('/whole', {}, 'one', 2)).status).to.equal(403);
    expect((await get<Session>('/whole', {}, 'two', 2))['user']).to.equal('eve');
    expect(await ids({ user: 'eve' })).to.deep.equal([]);
  });

  it('gives hostile strings back as they are', async () => {
    const [found] = await events('hostile', {}, 'three', 3);
    expect(found?.data).to.deep.equal({ text: '<script>alert(1)</script>', line: 'a\nb\u2028' });
    const session = await get<Session>('/hostile', {}, 'three', 3);
    expect(session).to.include({ user: "<script>alert(1)</script>' OR 1=1 --", url: 'javascript:alert(1)', service: '\\\'"`{p0:String}' });
  });

  it('refuses parameters that cannot be', async () => {
    const rows: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
      ['', { limit: '1001' }, /limit must be less than or equal to 1000/],
      ['', { query: 'errors:>' }, /./],
      ['', { errors: 'maybe' }, /errors must be one of/],
      ['', { min_length: 'long' }, /min_length "long" is not a length of time/],
      ['', { user: 'x'.repeat(2049) }, /user/],
      ['', { start: 'x' }, /start "x" is not a valid time/],
      ['/whole/events', { from: 'x' }, /from "x" is not a valid time/],
      ["/a'b", {}, /The id of a session has/],
      ['/whole/traces', { limit: '1001' }, /limit/],
    ];
    for (const [path, given, detail] of rows) {
      const { status, text } = await call(path, given);
      expect([status, (JSON.parse(text) as { detail: string }).detail], path).to.satisfy(([code, found]: [number, string]) => code === 400 && detail.test(found), text); // prettier-ignore
    }
  });

  it('hides what is older than the plan keeps', async () => {
    const before = { start: '2026-11-01T00:00:00Z', end: '2026-11-19T00:00:00Z' };
    expect((await get<Listed>('', before, 'short')).sessions).to.have.length(31);
    await storeBatches(own.store, 1, [{ session_id: 'old', events: [meta(-90_000_000, 'https://shop.example/')] }]);
    expect((await get<Listed>('', before, 'short')).sessions).to.have.length(31);
    expect((await get<Listed>('', before)).sessions).to.have.length(32);
    for (const path of ['/old', '/old/events', '/old/logs']) expect((await call(path, {}, 'short')).status, path).to.equal(404);
  });

  it('deletes a session: in no answer any more, whatever comes late, and its bytes are emptied', async () => {
    expect((await call('/whole', {}, 'reader', 1, 'DELETE')).status).to.equal(403);
    const { status, text } = await call('/whole', {}, 'writer', 1, 'DELETE');
    expect([status, text]).to.deep.equal([202, '{"status":"ok","session_id":"whole"}']);
    expect(deletions.at(-1)).to.deep.include({ session: 'whole', start: REPLAY_AT, retentionDays: 0 });
    const isHidden = async (): Promise<void> => {
      for (const path of ['/whole', '/whole/events', '/whole/logs', '/whole/traces']) expect((await call(path)).status, path).to.equal(404);
      expect(await ids()).to.have.length(30);
    };
    await isHidden();
    await storeBatches(own.store, 1, [{ session_id: 'whole', seq: 9, user: 'ada', events: [meta(300_000, 'https://late.example/')] }]);
    await isHidden();
    const erasure = new ReplayErasure({ stores: [own.store], log: pino({ level: 'silent' }) });
    await erasure.look();
    const left = await own.store.ownerRows("SELECT tenant_id, count(), sum(length(body)), groupUniqArray(user), sum(length(urls)) FROM replay_chunks WHERE session = 'whole' AND kind = 0 GROUP BY tenant_id ORDER BY tenant_id"); // prettier-ignore
    expect(left[0]).to.deep.equal([1, 6, 0, [''], 0]);
    expect(Number(left[1]?.[2])).to.be.greaterThan(0);
    expect((await get<Session>('/s-1'))['events']).to.equal(2);
    await isHidden();
    expect((await call('/whole', {}, 'writer', 1, 'DELETE')).status).to.equal(404);
  });

  it('is deleted after a rebuild, whose rows come from the log again', async () => {
    await own.store.command('TRUNCATE TABLE replay_chunks');
    await storeBatches(own.store, 1, WHOLE);
    expect((await call('/whole')).status).to.equal(200);
    await storeChunks(own.store, 1, (out) => {
      out.remove('whole', REPLAY_AT);
    });
    for (const path of ['/whole', '/whole/events', '/whole/logs']) expect((await call(path)).status, path).to.equal(404);
    expect(await ids()).to.deep.equal([]);
  });
});
