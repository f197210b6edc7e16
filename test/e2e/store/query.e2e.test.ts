import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import type { RouteContext } from '../../../api/http/route.ts';
import { Query } from '../../../logsql/base/query.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import type { LogEntry } from '../../../pipeline/core/entry.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { WINDOW, comparePairs, compareRows, type Case, type Row } from '../../logsql/conformance.ts';
import { isWhole } from '../../extent.ts';
import { NOW, entryOf, parse } from '../../logsql/support.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { at, faultsOf, runtimeOver } from '../query-setup.ts';

type Call = {
  readonly tenantId?: number;
  readonly retentionDays?: number;
  readonly signal?: AbortSignal;
  readonly seconds?: number;
  readonly now?: bigint;
};
type Answer = Readonly<Record<string, unknown>> & { readonly logs: Row[]; readonly has_more: boolean; readonly oldest_time: string | null };

describe('The query endpoints', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
  });
  after(() => own.stop());

  async function call(name: string, query: URLSearchParams, body: unknown, settings: Call, store = own.store): Promise<Answer> {
    const { tenantId = 1, retentionDays = 0, signal = new AbortController().signal, seconds = 30, now = NOW } = settings;
    const routes = createQueryRoutes(runtimeOver(store, { now: () => now, seconds }));
    const route = routes.find(({ path }) => path.endsWith(`/${name}`));
    const principal = {
      tenantId,
      keyId: 'k',
      scopes: new Set(['read'] as const),
      plan: { name: 'test', retentionDays } as unknown as RouteContext['principal']['plan'],
      demo: false,
    };
    const answer = await route?.handle({
      principal,
      params: { tenant_id: String(tenantId) },
      query,
      requestId: 'r',
      signal,
      startedAt: performance.now(),
      body: () => Promise.resolve(body),
    });
    return JSON.parse(answer?.body as string) as Answer;
  }
  const search = (body: Readonly<Record<string, unknown>>, settings: Call = {}): Promise<Answer> =>
    call('search', new URLSearchParams(), { ...WINDOW, ...body }, settings);
  const get = (name: string, parameters: Readonly<Record<string, string | readonly string[]>>, settings: Call = {}): Promise<Answer> =>
    call(
      name,
      new URLSearchParams(
        Object.entries({ ...WINDOW, ...parameters }).flatMap(([key, value]) => [value].flat().map((one): [string, string] => [key, one])),
      ),
      undefined,
      settings,
    );
  const refusal = async (run: Promise<unknown>): Promise<HttpError> => {
    const error = await run.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(HttpError);
    return error as HttpError;
  };

  it('pages through runs of equal times without a gap or a repeat', async () => {
    const entries = Array.from({ length: 230 }, (_none, index) => at(index < 40 ? index : index < 200 ? 40 : index, { n: String(index) }));
    await own.insert(2, entries.slice(0, 120));
    await own.insert(2, entries.slice(120));
    for (const [query, limit] of [
      ['*', 7],
      // entry by entry into the run of equal times, or through all
      [isWhole ? '*' : 'n:range[30, 60]', 1],
      ['n:*', 50],
      ['n:range[10, 210]', 33],
      ['* | fields _time, n', 64],
      ['* | filter n:~"[02468]$"', 9],
    ] as const) {
      const all = await search({ query, limit: 10_000 }, { tenantId: 2 });
      expect(all.has_more).to.equal(false);
      const seen: unknown[] = [];
      let before: string | null = null;
      for (let more = true; more;) {
        const page = await search({ query, limit, before }, { tenantId: 2 });
        seen.push(...page.logs.map((row) => row['n']));
        expect(page['count']).to.equal(page.logs.length);
        more = page.has_more;
        if (more) expect(page.logs.length, query).to.equal(limit);
        before = page.oldest_time;
      }
      expect(seen, query).to.deep.equal(all.logs.map((row) => row['n']));
    }
    const first = await search({ query: '*', limit: 30 }, { tenantId: 2 });
    expect(first.oldest_time).to.equal('2026-11-18T10:03:20Z');
    const inside = await search({ query: '*', limit: 40 }, { tenantId: 2 });
    expect(inside.oldest_time).to.match(/^2026-11-18T10:00:40\.000000000\d{49}Z$/);
    expect((await search({ query: '*', before: '2026-11-18T10:00:40Z' }, { tenantId: 2 })).logs).to.have.length(40);
  });

  it('answers with entries, and with the rows of pipes', async () => {
    await own.insert(3, [at(1, { level: 'info' }), at(2, { level: 'error', app: 'x' })]);
    const entries = await search({ query: '*', unknown: 1 }, { tenantId: 3 });
    expect(entries.logs).to.deep.equal([
      { _time: '2026-11-18T10:00:02Z', _stream: '{app="a"}', _msg: 'm', level: 'error', app: 'x' },
      { _time: '2026-11-18T10:00:01Z', _stream: '{app="a"}', _msg: 'm', level: 'info' },
    ]);
    expect(Object.keys(entries)).to.have.members(['logs', 'count', 'elapsed_ms', 'has_more', 'oldest_time', 'window', 'hints']);
    const counted = await search({ query: '* | stats by (level) count() n | sort by (level)', limit: 1 }, { tenantId: 3 });
    expect(counted).to.include({ count: 1, has_more: false, oldest_time: null, truncated: true });
    expect(counted.logs).to.deep.equal([{ level: 'error', n: 1 }]);
    expect((await search({ query: '* | fields level' }, { tenantId: 3 })).oldest_time).to.equal(null);
    expect((await search({ query: 'nothing' }, { tenantId: 3 })).logs).to.deep.equal([]);
    const meant = await search({ query: 'level=fatal' }, { tenantId: 3 });
    expect(meant['hints']).to.satisfy((hints: string[]) => hints.some((hint) => hint.includes('level:=fatal')));
    expect(await search({ query: 'level:=fatal' }, { tenantId: 3 })).to.not.have.property('hints');
  });

  it('searches with a query inside the whole window of the outer one, and reports that', async () => {
    const ago = (minutes: number): string => formatTime(NOW - BigInt(minutes) * 60_000_000_000n);
    const entry = (minutes: number, _msg: string, k: string): LogEntry => entryOf({ _time: ago(minutes), _stream: '{}', _msg, k });
    await own.insert(51, [entry(100, 'seed', 'a'), entry(5, 'new', 'a'), entry(4, 'new', 'b')]);
    const took = `has no _time filter; it searched the window of the outer query, ${ago(120)} to ${ago(0)}.`;
    for (const [query, name, ...expected] of [
      ['new k:in(seed | fields k)', 'in', 'new'],
      ['new k:contains_any(seed | fields k)', 'contains_any', 'new'],
      ['new | filter k:contains_all(seed | uniq by (k))', 'contains_all', 'new'],
      ['_time:30m new k:in(seed | fields k)', 'in', 'new'],
      ['new | join by (k) (seed | fields k) inner', 'join', 'new'],
      ['nosuch | union (seed)', 'union', 'seed'],
    ] as const) {
      const answer = await search({ query, start: '-2h', end: 'now' }, { tenantId: 51 });
      expect(answer.logs.map(({ _msg }) => _msg), query).to.deep.equal(expected); // prettier-ignore
      expect(answer['hints'], query).to.deep.equal([`The query inside ${name}(…) ${took}`]);
    }
    const ofOwnTime = await search({ query: 'new k:in(_time:1h seed | fields k)', start: '-2h', end: 'now' }, { tenantId: 51 });
    expect(ofOwnTime.logs).to.deep.equal([]);
    expect(ofOwnTime).to.not.have.property('hints');
  });

  it('never shows another tenant, nor what is older than the plan keeps', async () => {
    await own.insert(4, [at(-3 * 86_400), at(1)]);
    const window = { start: '2026-11-01', end: '2026-11-30' };
    expect((await search({ query: '*', ...window }, { tenantId: 4 })).logs).to.have.length(2);
    expect((await search({ query: '*', ...window }, { tenantId: 4, retentionDays: 2 })).logs).to.have.length(1);
    expect(
      (await search({ query: 'options(ignore_global_time_filter=true) *', ...window }, { tenantId: 4, retentionDays: 2 })).logs,
    ).to.have.length(1);
    expect((await search({ query: '* | stats count() n', ...window }, { tenantId: 4, retentionDays: 2 })).logs).to.deep.equal([{ n: 1 }]);
    expect((await get('streams', { query: '*', ...window }, { tenantId: 4, retentionDays: 2 }))['streams']).to.deep.equal([
      { id: '{app="a"}', hits: 1 },
    ]);
    expect((await search({ query: '*', ...window }, { tenantId: 5 })).logs).to.deep.equal([]);
    expect(
      (await get('hits', { query: '*', step: '1d', start: '2026-11-10', end: '2026-11-12' }, { tenantId: 4, retentionDays: 2 }))['hits'],
    ).to.deep.equal([]);
  });

  it('counts hits in steps of UTC, with zeroes between, grouped without', async () => {
    await own.insert(6, [at(61, { level: 'info' }), at(62), at(200, { level: 'info' })]);
    const parameters = { query: '* | limit 1', step: '1m', start: '2026-11-18T10:00:30Z', end: '2026-11-18T10:03:59Z' };
    expect((await get('hits', parameters, { tenantId: 6 }))['hits']).to.deep.equal([
      { time: '2026-11-18T10:00:00Z', hits: 0 },
      { time: '2026-11-18T10:01:00Z', hits: 2 },
      { time: '2026-11-18T10:02:00Z', hits: 0 },
      { time: '2026-11-18T10:03:00Z', hits: 1 },
    ]);
    const grouped = (await get('hits', { ...parameters, fields_by: ['level', '_stream'] }, { tenantId: 6 }))['hits'] as Row[];
    const stream = '{app="a"}';
    expect(grouped).to.have.deep.members([
      { time: '2026-11-18T10:01:00Z', hits: 1, level: 'info', stream },
      { time: '2026-11-18T10:01:00Z', hits: 1, level: '', stream },
      { time: '2026-11-18T10:03:00Z', hits: 1, level: 'info', stream },
    ]);
  });

  it('says what is wrong with a query', async () => {
    const syntax = await refusal(search({ query: 'a AND (b' }));
    expect(syntax.status).to.equal(400);
    expect(syntax.message).to.match(/position|offset|character/);
    expect((await refusal(search({ query: '~"["' }))).status).to.equal(400);
    expect((await refusal(search({ query: '' }))).status).to.equal(400);
    expect((await refusal(search({ query: 'x'.repeat(10_001) }))).status).to.equal(400);
    expect((await refusal(search({ query: '*', start: 'now', end: '-1h' }))).message).to.contain('after end');
    expect((await refusal(get('hits', { step: '7m' }))).status).to.equal(400);
    expect((await refusal(get('hits', { fields_by: ['hits'] }))).status).to.equal(400);
  });

  it('ends queries that take too long, or whose client has gone, in ClickHouse too', async () => {
    // What RE2 has no automaton for: it takes a minute for these texts.
    const heavy = { query: 't:~"a.{200}b.{200}a.{200}x"' };
    const texts = "repeat(replaceRegexpAll(lower(hex(cityHash64(number))), '[0-9]', 'a'), 60)";
    await own.store.command(
      `INSERT INTO logs (tenant_id, _time, arrived, kafka_part, kafka_off, kafka_idx, fields) SELECT 7, toDateTime64('2026-11-18 10:00:00', 9, 'UTC'), now64(3), 0, number, 0, map('t', ${texts}) FROM numbers(60000)`,
    );
    const none = async (): Promise<void> => {
      for (let attempt = 0; attempt < 1000; attempt += 1) {
        const [row] = await own.store.ownerRows(
          `SELECT count() FROM system.processes WHERE query LIKE '%arrived%' AND query NOT LIKE '%system.processes%'`,
        );
        if (Number(row?.[0]) === 0) return;
        await delay(100);
      }
      expect.fail('a query still runs in ClickHouse');
    };
    const timedOut = await refusal(search(heavy, { tenantId: 7, seconds: 1 }));
    expect(timedOut.status).to.equal(504);
    await none();
    const client = new AbortController();
    const gone = search(heavy, { tenantId: 7, signal: client.signal }).then(
      () => null,
      (error: unknown) => error,
    );
    await delay(300);
    client.abort();
    expect(await gone).to.not.equal(null);
    await none();
  });

  it('says 503 when the store does not answer', async () => {
    const away = new Store({ url: 'http://127.0.0.1:9', user: 'u', password: '', database: 'd', readerUser: 'r', readerPassword: '' });
    const error = await refusal(call('search', new URLSearchParams(), { query: '*' }, {}, away));
    expect(error.status).to.equal(503);
    await away.close();
  });

  it('an entry has every member that a LogEntry must have, whatever else it lacks, however it is found', async () => {
    const tenantId = 77;
    const bare = [at(1, { _msg: '' }), at(2, { _msg: '', level: 'error' }), at(3, { _msg: '', n: '5' }), at(4, { _msg: 'm' })];
    await own.insert(tenantId, bare);
    for (const query of [
      '*',
      'n:5 or _msg:""',
      '* | sort by (n)',
      '* | filter n:5',
      '* | limit 3',
      '* | unroll n',
      'level:error',
      '* | offset 1',
    ]) {
      const { logs } = await search({ query, limit: 10 }, { tenantId });
      expect(logs.length, query).to.be.above(0);
      for (const entry of logs) expect(entry, query).to.include.all.keys('_time', '_msg', '_stream');
    }
    expect((await search({ query: '* | fields n', limit: 10 }, { tenantId })).logs).to.deep.equal([{ n: '5' }]);
  });

  it('answers the conformance cases of hits, streams and field values', async () => {
    const isAsked = ({ kind }: Case): boolean => ['hits', 'streams', 'field_values'].includes(kind);
    const faults = await faultsOf(own, 8, isAsked, async (test, base) => {
      const answer = await fault(test, base).catch((error: unknown) => error);
      if (test.expect.error === true) return answer instanceof HttpError && answer.status === 400 ? null : 'it is accepted';
      return answer instanceof Error ? answer.message : (answer as string | null);
    });
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });
  async function fault(test: Case, base: readonly Row[]): Promise<string | null> {
    const window = { start: test.start ?? WINDOW.start, end: test.end ?? WINDOW.end };
    if (test.kind === 'hits') {
      const { hits } = await get(
        'hits',
        { ...window, query: test.query, step: test.step ?? '1m', fields_by: test.fields_by ?? [] },
        { tenantId: 8 },
      );
      const counted = (hits as Row[]).filter((row) => Number(row['hits']) > 0);
      return compareRows(
        test,
        counted.map((row) => new Map(Object.entries(row).map(([name, value]) => [name === 'stream' ? '_stream' : name, String(value)]))),
        base,
      );
    }
    if (test.kind === 'streams') {
      const { streams } = await get('streams', { ...window, query: test.query }, { tenantId: 8 });
      return comparePairs(
        test,
        (streams as Row[]).map((row) => [String(row['id']), Number(row['hits'])]),
      );
    }
    const field = test.field ?? '';
    const { options, filter } = parse(test.query);
    const query = `${new Query(options, filter, []).toString()} | field_values ${JSON.stringify(field)}`;
    const { logs } = await search({ ...window, query, limit: 10_000 }, { tenantId: 8 });
    return comparePairs(
      test,
      logs.map((row) => [(row[field] ?? '') as string, Number(row['hits'])]),
    );
  }
});
