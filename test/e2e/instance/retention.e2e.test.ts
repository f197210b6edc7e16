import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { effectivePlan } from '../../../api/control/flags.ts';
import type { Route } from '../../../api/http/route.ts';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import { LocalEngine } from '../../../api/engine/local-engine.ts';
import { QueryRuntime, type QueryContext } from '../../../api/query/runtime.ts';
import type { EngineAnswer } from '../../../api/query/engine.ts';
import { logRecord, rangeOf, streamOf } from '../../fakes/log-record.ts';
import { retentionClass } from '../../../pipeline/intake/retention.ts';
import { formatTime, MAX_TIME, parseTime } from '../../../pipeline/core/time.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { extent, isWhole } from '../../extent.ts';
import { entryOf } from '../../logsql/support.ts';
import { askClickHouse } from '../engine.ts';
import { until } from '../instance.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const DAY = 86_400_000;
const DAY_NS = 86_400_000_000_000n;

const unlimited = effectivePlan({ plan: 'unlimited', flags: {} });

describe('the floor of a plan', function () {
  this.timeout(600_000);
  const NOW = parseTime('2026-11-18T12:00:00.000000007Z') ?? 0n;
  const tenantId = 5;
  /** Ages of the entries: around each end of a retention to the nanosecond. */
  const ages = [
    0n,
    3_600_000_000_000n,
    ...[14n, 30n, 365n].flatMap((days) => [-1n, 0n, 1n].map((ns) => days * DAY_NS + ns)),
    4000n * DAY_NS,
  ];
  let own: LogsqlStore;
  let runtime: QueryRuntime;
  let routes: readonly Route[];

  before(async () => {
    own = await LogsqlStore.start();
    const limits = { platformEntriesPerSecond: 0, queryTimeoutSeconds: 60, maxFacetFields: 50 };
    runtime = new QueryRuntime({ engine: new LocalEngine({ store: own.store, now: () => NOW, limits }), limits });
    routes = createQueryRoutes(runtime);
    const oldestFirst = [...ages].sort((a, b) => (a > b ? -1 : 1));
    await own.insert(
      tenantId,
      oldestFirst.map((age) => entryOf({ _time: formatTime(NOW - age), _stream: '{app="a"}', _msg: 'x', app: 'a', level: 'info' })),
    );
  });
  after(() => own.stop());

  const contextOf = (retentionDays: number): QueryContext => ({
    principal: {
      tenantId,
      keyId: 'k',
      scopes: new Set(['read']),
      plan: { ...unlimited, queriesPerMinute: Infinity, retentionDays },
      demo: false,
    },
    startedAt: performance.now(),
    requestId: 'r',
    signal: new AbortController().signal,
  });
  async function route(name: string, retentionDays: number, query: Record<string, string>, body?: object): Promise<string> {
    const found = routes.find((each) => each.path.endsWith(`/${name}`));
    const context = { ...contextOf(retentionDays), params: {}, query: new URLSearchParams(query), body: () => Promise.resolve(body) };
    const answer = await found?.handle(context);
    return typeof answer?.body === 'string' ? answer.body : JSON.stringify(answer?.body);
  }
  const select = (name: string, retentionDays: number, query: Record<string, string>): Promise<EngineAnswer> =>
    runtime.run(contextOf(retentionDays), `select/${name}`, new URLSearchParams(query).toString());
  const json = (text: unknown): unknown => (typeof text === 'string' ? (JSON.parse(text) as unknown) : text);
  /** The sum of the numbers that have this name, wherever they stand. */
  const sum = (value: unknown, name: string): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Object.entries(value).reduce(
          (total, [key, part]) => total + (key === name && typeof part === 'number' ? part : sum(part, name)),
          0,
        );

  const WINDOW = { start: '1990-01-01T00:00:00Z', end: 'now' };
  const search =
    (query: string) =>
    async (days: number): Promise<number> => {
      const { logs } = json(await route('search', days, {}, { query, ...WINDOW })) as { logs: Record<string, unknown>[] };
      return logs.length === 1 && logs[0]?.['n'] !== undefined ? Number(logs[0]['n']) : logs.length;
    };
  const paths: readonly (readonly [string, (days: number) => Promise<number>])[] = [
    ['search', search('*')],
    ['search of a word', search('x')],
    ['search of a time filter', search('_time:[1990-01-01, 2030-01-01]')],
    ['search of all times', search('options(ignore_global_time_filter=true) *')],
    ['search of a stream', search('{app="a"}')],
    ['search of values of a query inside', search('app:in(_time:>1990-01-01 | fields app)')],
    ['stats', search('* | stats count() n')],
    ['stats by a label', search('* | stats by (app) count() n')],
    ['stats of a word', search('x | stats count() n')],
    ['stats of all times', search('options(ignore_global_time_filter=true) * | stats by (level) count() n')],
    ['top', search('* | top 5 by (app) hits as n')],
    ['hits', async (days) => sum(json(await route('hits', days, { ...WINDOW, step: '1d' })), 'hits')],
    ['hits of a word', async (days) => sum(json(await route('hits', days, { ...WINDOW, query: 'x', step: '6h' })), 'hits')],
    ['facets', async (days) => sum((json(await route('facets', days, WINDOW)) as { facets: { app: unknown } }).facets.app, 'hits')],
    ['streams', async (days) => sum(json(await route('streams', days, WINDOW)), 'hits')],
    [
      'select query',
      async (days) => {
        const { stream } = await select('query', days, { query: '*' });
        let text = '';
        for await (const part of stream as AsyncIterable<string>) text += part;
        return text.split('\n').length - 1;
      },
    ],
    ['select hits', async (days) => sum(json((await select('hits', days, { query: '*', step: '1d' })).body), 'total')],
    [
      'select facets',
      async (days) => {
        const { facets } = json((await select('facets', days, { query: 'x', keep_const_fields: '1' })).body) as { facets: { field_name: string }[] }; // prettier-ignore
        return sum(
          facets.find((facet) => facet.field_name === 'app'),
          'hits',
        );
      },
    ],
    [
      'select stats_query',
      async (days) => Number((json((await select('stats_query', days, { query: '* | stats count() n' })).body) as { data: { result: { value: [number, string] }[] } }).data.result[0]?.value[1]), // prettier-ignore
    ],
    [
      'select stats_query_range',
      async (days) => {
        const { body } = await select('stats_query_range', days, { query: '* | stats count() n', step: '1d' });
        const { data } = json(body) as { data: { result: { values: [number, string][] }[] } };
        return data.result.flatMap(({ values }) => values).reduce((total, [, value]) => total + Number(value), 0);
      },
    ],
    ['select field_values', async (days) => sum(json((await select('field_values', days, { query: '*', field: 'app' })).body), 'hits')],
    ['select streams', async (days) => sum(json((await select('streams', days, { query: '*' })).body), 'hits')],
  ];

  for (const [name, count] of paths)
    it(`is exact to the nanosecond, whichever way the plan changes: ${name}`, async () => {
      for (const days of isWhole ? [14, 30, 365, 0, 365, 30, 14, 1] : [14, 365, 0, 30, 1]) {
        const kept = ages.filter((age) => days === 0 || age <= BigInt(days) * DAY_NS).length;
        expect(await count(days), `${days} days`).to.equal(kept);
      }
    });
});

describe('the age of entries in the tables', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let writer: TableWriter;
  let offset = 0;

  before(async () => {
    own = await LogsqlStore.start();
    writer = new TableWriter({
      sink: createLogsSink(),
      store: own.store,
      log: pino({ level: 'silent' }),
      metrics: { stored: () => undefined },
      mostRefused: 1,
    });
    for (const table of ['logs', 'streams'])
      await own.store.command(`ALTER TABLE ${table} MODIFY SETTING merge_selecting_sleep_ms = 200, max_merge_selecting_sleep_ms = 400`);
  });
  after(() => own.stop());

  /** Stores a record whose entries have these times (milliseconds; nanoseconds where they are bigints). */
  async function put(retentionDays: number, times: readonly (number | bigint)[], stream = '5'): Promise<void> {
    const ns = times.map((at) => (typeof at === 'bigint' ? at : BigInt(Math.trunc(at)) * 1_000_000n));
    const days = [...new Set(ns.map((at) => Math.floor(Number(at / 1_000_000n) / DAY)))];
    const record = logRecord({
      offset: ++offset,
      retentionDays,
      count: times.length,
      streams: streamOf(stream, '{app="a"}', ...days),
      timestamp: Date.now(),
      value: Buffer.from(ns.map((at) => `{"_time":"${String(at)}","_stream_id":"${stream}","severity":0,"_msg":"m"}\n`).join('')),
    });
    await writer.store(rangeOf(record), false);
  }
  const number = async (text: string): Promise<number> => Number((await own.store.ownerRows(text))[0]?.[0]);
  const rows = (days: number): Promise<number> => number(`SELECT count() FROM logs WHERE retention_days = ${days}`);

  it('are dropped as whole parts of their class; others stay, and nothing is rewritten', async () => {
    const began = Date.now();
    await put(90, [began]);
    // they must all be stored before the first of them is too old, however slow the machine
    const soon = Date.now() - 14 * DAY + Math.max(6000, 20 * (Date.now() - began));
    await put(14, [soon, soon - 60_000, soon - 120_000]);
    await put(30, [soon, soon - DAY]);
    await put(365, [soon]);
    await put(0, [soon, 0]);
    // a part whose last entry is too young keeps all of them: the floor of queries hides them
    const day = Math.floor(soon / DAY) * DAY;
    await put(14, [day + DAY + 1, day + 2 * DAY - 1]);
    const before = await own.store.ownerRows("SELECT name FROM system.parts WHERE table = 'logs' AND active");
    expect(before.length).to.be.above(5);
    expect([await rows(14), await rows(30), await rows(365), await rows(0)]).to.deep.equal([5, 2, 1, 2]);
    await until('the part to be dropped', () => rows(14), (left) => left === 2, 240_000); // prettier-ignore
    expect([await rows(30), await rows(365), await rows(0)]).to.deep.equal([2, 1, 2]);
    const names = async (): Promise<string[]> =>
      (await own.store.ownerRows("SELECT name FROM system.parts WHERE table = 'logs' AND active AND rows > 0")).map(([name]) =>
        String(name),
      );
    const kept = await names();
    expect(before.map(([name]) => String(name))).to.include.members(kept);
    expect(kept).to.have.length(before.length - 1);
  });

  it('never have two classes in one part, and a custom number of days makes none of its own', async () => {
    for (const days of [1, 7, 14, 15, 30, 31, 60, 90, 180, 365]) await put(retentionClass(days), [Date.now()]);
    await own.store.command('OPTIMIZE TABLE logs FINAL');
    expect(await number('SELECT max(n) FROM (SELECT uniqExact(retention_days) AS n FROM logs GROUP BY _part)')).to.equal(1);
    const classes = (await own.store.ownerRows('SELECT DISTINCT retention_days FROM logs ORDER BY 1')).map(([days]) => Number(days));
    expect(classes).to.deep.equal([0, 14, 30, 90, 180, 365]);
  });

  it('leave their streams behind for a while, then these go too', async () => {
    const count = (days: number): Promise<number> =>
      number(`SELECT count() FROM streams FINAL WHERE retention_days = ${days} AND stream_id = 9`);
    const day = (ago: number): number => Math.floor(Date.now() / DAY) * DAY - ago * DAY;
    await put(30, [day(20)], '9');
    await put(0, [day(500)], '9');
    // the last day of which a stream is kept, and the first of which it is not
    await put(14, [day(14)], '9');
    expect([await count(14), await count(30), await count(0)]).to.deep.equal([1, 1, 1]);
    await own.store.command(
      "INSERT INTO streams (tenant_id, day, stream_id, _stream, labels, retention_days) SELECT 1, toDate(now('UTC')) - 46, 9, '{}', map(), 14",
    );
    await until('the old stream to go', () => count(14), (left) => left === 1, 240_000); // prettier-ignore
    expect([await count(30), await count(0)]).to.deep.equal([1, 1]);
  });

  it('may be any years, however many at once', async () => {
    const months = (parseTime('2262-01-01T00:00:00Z') ?? 0n) - (parseTime('1900-01-01T00:00:00Z') ?? 0n);
    const count = extent(1000, 4343);
    const step = months / BigInt(count);
    const times = Array.from({ length: count }, (_, at) => (parseTime('1900-01-01T00:00:00Z') ?? 0n) + BigInt(at) * step);
    expect((times.at(-1) ?? 0n) < MAX_TIME).to.equal(true);
    const before = await rows(0);
    await put(0, times, '77');
    expect((await rows(0)) - before).to.equal(count);
    expect(await number("SELECT uniqExact(partition) FROM system.parts WHERE table = 'logs' AND active")).to.be.below(500);
    expect(await number("SELECT uniqExact(partition) FROM system.parts WHERE table = 'streams' AND active")).to.be.below(300);
    // 1970 to 2149 are days of their own, what is beyond shares the ends
    expect(await number('SELECT count() FROM streams FINAL WHERE stream_id = 77')).to.be.above(0.46 * count);
  });
});

describe('a change of the plan', function () {
  this.timeout(600_000);

  it('hides and shows entries at once', async () => {
    const instance = await sharedInstance();
    const tenant = await newTenant(instance);
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const auth = { Authorization: `Bearer ${tenant.key}` };
    const lines = [0, 10, 20, 100, 1000].map((days) =>
      JSON.stringify({ _time: new Date(Date.now() - days * DAY - 1000).toISOString(), _msg: `old ${days}` }),
    );
    expect((await instance.call('POST', `${instance.ingest}/api/v1/ingest`, lines.join('\n'), auth)).body).to.include({ accepted: 5 });
    const count = async (): Promise<number> => {
      const { body } = await instance.call(
        'POST',
        `${instance.app}/api/v1/tenants/${tenant.id}/search`,
        { query: '*', start: '-20y' },
        auth,
      );
      return (body as { count: number }).count;
    };
    await until('the entries', count, (found) => found === 5);
    const admin = async (at: string, body: object): Promise<void> => {
      const { status } = await instance.call('PUT', `${instance.admin}/admin/tenants/${tenant.id}${at}`, body, { Authorization: `Bearer ${token}` }); // prettier-ignore
      expect(status).to.equal(200);
    };
    for (const [plan, found] of Object.entries({ team: 3, trial: 2, custom: 4, growth: 3, unlimited: 5 })) {
      await admin('/plan', { plan });
      expect(await count(), plan).to.equal(found);
    }
    await admin('/plan', { plan: 'custom' });
    await admin('/flags/retention_days', { value: 60 });
    expect(await count()).to.equal(3);
    await instance.call('POST', `${instance.ingest}/api/v1/ingest`, '{"_msg":"of the class that is not shorter"}', auth);
    await until('the entry', count, (found) => found === 4);
    const classes = await askClickHouse(
      instance,
      `SELECT retention_days, count() FROM logs WHERE tenant_id = ${tenant.id} GROUP BY 1 ORDER BY 1`,
    );
    expect(classes.map((row) => row.map(Number))).to.deep.equal([
      [0, 5],
      [90, 1],
    ]);
  });
});
