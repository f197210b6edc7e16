import { expect } from 'chai';
import { queryRate } from '../../api/limits/query-rate.ts';
import { findPlan, type Plan } from '../../api/control/plans.ts';
import { createQueryRuntime } from '../../api/query/runtime.ts';
import { createSelectEndpoints } from '../../api/select/endpoints.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { FakeKeyStore } from '../fakes/key-store.ts';
import { startHost } from '../fakes/test-host.ts';
import {
  WINDOW,
  comparePairs,
  compareRows,
  isPresent,
  loadBase,
  loadCases,
  loadEntries,
  type Case,
  type Row,
} from '../logsql/conformance.ts';
import { ODDITIES } from '../logsql/not-built.ts';
import { NOW, entryOf, nanoseconds, type Plain } from '../logsql/support.ts';
import { LogsqlStore } from './logsql-store.ts';

type Parameters = Readonly<Record<string, string | readonly string[]>>;
type Answer = { readonly status: number; readonly type: string; readonly text: string; readonly headers: Headers };
type Values = { readonly values: readonly { readonly value: string; readonly hits: number }[] };
type Prometheus = {
  readonly status: string;
  readonly data: {
    readonly resultType: string;
    readonly result: readonly { readonly metric: Plain; readonly value: unknown; readonly values: unknown }[];
  };
};

const PATHS = [
  'query',
  'hits',
  'facets',
  'stats_query',
  'stats_query_range',
  'field_names',
  'field_values',
  'stream_field_names',
  'stream_field_values',
  'streams',
  'stream_ids',
];
const START = nanoseconds(WINDOW.start);
const at = (seconds: number, fields: Plain = {}): LogEntry =>
  entryOf({ _time: formatTime(START + BigInt(seconds) * 1_000_000_000n), _stream: '{app="a"}', _msg: 'm', app: 'a', ...fields });

describe("VictoriaLogs' read API", function () {
  this.timeout(120_000);
  let own: LogsqlStore;
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    own = await LogsqlStore.start();
    const limits = { queryTimeoutSeconds: 30, maxFacetFields: 50, platformEntriesPerSecond: 0 };
    const runtime = createQueryRuntime({ store: own.store, now: () => NOW, limits, rate: queryRate() });
    const plan = { ...(findPlan('trial') as Plan), queriesPerMinute: 3, retentionDays: 0 };
    host = await startHost({
      endpoints: createSelectEndpoints(runtime),
      keys: new FakeKeyStore({
        one: { tenantId: 1 },
        two: { tenantId: 2 },
        big: { tenantId: 3 },
        conformance: { tenantId: 8 },
        slow: { tenantId: 1, keyId: 'slow', plan },
        writer: { tenantId: 1, scopes: new Set(['write', 'ingest'] as const) },
      }),
    });
    await own.insert(1, [
      at(1, { level: 'info', n: 1, _stream: '{app="a",env="prod"}', env: 'prod' }),
      at(2, { level: 'error', n: 2, 'odd "name"': '<x>' }),
      at(3, { level: 'error', n: 3, _stream: '{app="b"}', app: 'b', hits: 'h' }),
    ]);
    await own.insert(2, [at(1, { secret: 'other tenant' })]);
  });
  after(async () => {
    await host.stop();
    await own.stop();
  });

  const pairs = (parameters: Parameters): [string, string][] =>
    Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one]));
  async function call(name: string, parameters: Parameters, { key = 'one', method = 'GET' } = {}): Promise<Answer> {
    const form = new URLSearchParams(pairs(parameters)).toString();
    const url = `${host.url}/select/logsql/${name}`;
    const response = await fetch(method === 'GET' ? `${url}?${form}` : url, {
      method,
      headers: { Authorization: `Bearer ${key}` },
      ...(method === 'GET' ? {} : { body: new URLSearchParams(form) }),
    });
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text: await response.text(),
      headers: response.headers,
    };
  }
  async function get<T>(name: string, parameters: Parameters, key?: string): Promise<T> {
    const answer = await call(name, parameters, key === undefined ? {} : { key });
    expect(answer.status, answer.text).to.equal(200);
    return JSON.parse(answer.text) as T;
  }
  const rows = async (parameters: Parameters, key?: string): Promise<Plain[]> => {
    const answer = await call('query', parameters, key === undefined ? {} : { key });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.type).to.contain('application/x-ndjson');
    return answer.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Plain);
  };

  it('gives rows as lines of texts: all of them, or the newest, oldest first', async () => {
    expect(await rows({ query: 'n:1' })).to.deep.equal([
      { _time: '2026-11-18T10:00:01Z', _stream: '{app="a",env="prod"}', _msg: 'm', level: 'info', n: '1', app: 'a', env: 'prod' },
    ]);
    expect((await rows({ query: '*' })).map(({ n }) => n)).to.have.members(['1', '2', '3']);
    expect((await rows({ query: '*', limit: '2' })).map(({ n }) => n)).to.deep.equal(['2', '3']);
    expect((await rows({ query: '*', limit: '1', offset: '1' })).map(({ n }) => n)).to.deep.equal(['2']);
    expect((await rows({ query: '*', limit: '20000', offset: '1' })).map(({ n }) => n)).to.deep.equal(['2', '1']);
    expect(await rows({ query: '* | sort by (n desc) | fields n', limit: '2' })).to.deep.equal([{ n: '3' }, { n: '2' }]);
    expect(await rows({ query: '* | stats by (level) count() c | sort by (c)' })).to.deep.equal([
      { level: 'info', c: '1' },
      { level: 'error', c: '2' },
    ]);
    expect(await rows({ query: 'nothing' })).to.deep.equal([]);
    expect(await rows({ query: 'n:2 | stream_context before 1 | fields n' })).to.deep.equal([{ n: '2' }]);
  });

  it('takes a form, whose arguments come first', async () => {
    const response = await fetch(`${host.url}/select/logsql/query?query=nothing&limit=1&api_key=one`, {
      method: 'POST',
      body: new URLSearchParams({ query: 'n:3 | fields n' }),
    });
    expect(await response.text()).to.equal('{"n":"3"}\n');
    const other = await fetch(`${host.url}/select/logsql/query?query=n:2%20|%20fields%20n&api_key=one`, {
      method: 'POST',
      body: '{"query":"x"}',
    });
    expect(await other.text()).to.equal('{"n":"2"}\n');
    expect((await call('field_names', { query: '*' }, { method: 'POST' })).status).to.equal(200);
  });

  it('streams more than it holds, and ends where the client does', async () => {
    await own.insert(
      3,
      Array.from({ length: 40_000 }, (_none, index) => at(Math.floor(index / 100), { n: String(index), text: 'x'.repeat(100) })),
    );
    expect(await rows({ query: '* | fields n' }, 'big')).to.have.length(40_000);
    expect(await rows({ query: '* | fields n', limit: '30000' }, 'big')).to.have.length(30_000);
    expect(await rows({ query: '* | filter n:~"7$" | fields n', limit: '15000' }, 'big')).to.have.length(4000);
    const response = await fetch(`${host.url}/select/logsql/query?query=*`, { headers: { Authorization: 'Bearer big' } });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).to.equal(false);
    await reader?.cancel();
    for (let attempt = 0; ; attempt += 1) {
      const running = await own.store.ownerRows(
        `SELECT count() FROM system.processes WHERE query LIKE '%FROM logs%' AND query NOT LIKE '%system%'`,
      );
      if (Number(running[0]?.[0]) === 0) break;
      if (attempt > 100) expect.fail('the query of a client that has gone still runs');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const head = await fetch(`${host.url}/select/logsql/query?query=*`, { method: 'HEAD', headers: { Authorization: 'Bearer big' } });
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
  });

  it('counts hits', async () => {
    const { hits } = await get<{ readonly hits: unknown }>('hits', { query: '* | limit 1', step: '2s', field: ['level', 'app'] });
    expect(hits).to.deep.equal([
      { fields: { level: 'error', app: 'a' }, timestamps: ['2026-11-18T10:00:02Z'], values: [1], total: 1 },
      { fields: { level: 'error', app: 'b' }, timestamps: ['2026-11-18T10:00:02Z'], values: [1], total: 1 },
      { fields: { level: 'info', app: 'a' }, timestamps: ['2026-11-18T10:00:00Z'], values: [1], total: 1 },
    ]);
    expect(await get('hits', { query: '*', step: '1s', fields_limit: '1', field: 'level' })).to.deep.equal({
      hits: [
        { fields: { level: 'error' }, timestamps: ['2026-11-18T10:00:02Z', '2026-11-18T10:00:03Z'], values: [1, 1], total: 2 },
        { fields: {}, timestamps: ['2026-11-18T10:00:01Z'], values: [1], total: 1 },
      ],
    });
    expect(await get('hits', { query: '*', offset: '12h' })).to.deep.equal({
      hits: [{ fields: {}, timestamps: ['2026-11-17T12:00:00Z'], values: [3], total: 3 }],
    });
    expect(await get('hits', { query: '*', field: 'hits', step: '1h' })).to.have.nested.property('hits[0].fields.hits', '');
    expect(await get('hits', { query: 'nothing' })).to.deep.equal({ hits: [] });
  });

  it('lists names and values', async () => {
    const values = async (name: string, parameters: Parameters = {}): Promise<readonly (readonly [string, number])[]> =>
      (await get<Values>(name, { query: '* | limit 1', ...parameters })).values.map(({ value, hits }) => [value, hits] as const);
    expect(await values('field_names')).to.deep.equal([
      ...['_msg', '_stream', '_time', 'app', 'level', 'n'].map((name) => [name, 3]),
      ...['env', 'hits', 'odd "name"'].map((name) => [name, 1]),
    ]);
    expect(await values('field_values', { field: 'level' })).to.deep.equal([
      ['error', 2],
      ['info', 1],
    ]);
    expect(await values('field_values', { field: 'level', limit: '1' })).to.deep.equal([['error', 2]]);
    expect(await values('field_values', { field: 'hits', query: 'hits:*' })).to.deep.equal([['h', 1]]);
    expect(await values('field_values', { field: 'odd "name"', query: 'n:2' })).to.deep.equal([['<x>', 1]]);
    expect(await values('streams')).to.have.deep.members([
      ['{app="a",env="prod"}', 1],
      ['{app="a"}', 1],
      ['{app="b"}', 1],
    ]);
    expect(await values('stream_field_names')).to.deep.equal([
      ['app', 3],
      ['env', 1],
    ]);
    expect(await values('stream_field_values', { field: 'app' })).to.deep.equal([
      ['a', 2],
      ['b', 1],
    ]);
    expect(await values('stream_field_values', { field: 'nosuch' })).to.deep.equal([]);
    const ids = await values('stream_ids');
    expect(ids).to.have.length(3);
    expect(await values('streams', { query: `_stream_id:${ids[0]?.[0] ?? ''}` })).to.have.length(1);
  });

  it('gives facets', async () => {
    const { facets } = await get<{ readonly facets: readonly { readonly field_name: string; readonly values: unknown }[] }>('facets', {
      query: '* | limit 1',
      limit: '1',
    });
    expect(facets.find(({ field_name: name }) => name === 'level')?.values).to.deep.equal([{ field_value: 'error', hits: 2 }]);
    expect(facets.map(({ field_name: name }) => name)).to.not.include('_msg');
    const kept = await get<{ readonly facets: readonly { readonly field_name: string }[] }>('facets', {
      query: '*',
      keep_const_fields: '1',
    });
    expect(kept.facets.map(({ field_name: name }) => name)).to.include('_msg');
    const few = await get<{ readonly facets: readonly { readonly field_name: string }[] }>('facets', {
      query: '*',
      max_values_per_field: '1',
      max_value_len: '1',
    });
    expect(few.facets.map(({ field_name: name }) => name)).to.deep.equal(['hits']);
  });

  it('answers stats as a vector and as a matrix', async () => {
    const vector = await get<Prometheus>('stats_query', {
      query: '* | stats by (level) count() c, sum(n) | sort by (level) | rename level as l',
      time: '2026-11-18T10:30:00Z',
    });
    const value = (text: string): unknown => [1794997800, text];
    expect(vector).to.deep.equal({
      status: 'success',
      data: {
        resultType: 'vector',
        result: [
          { metric: { __name__: 'c', l: 'error' }, value: value('2') },
          { metric: { __name__: 'sum(n)', l: 'error' }, value: value('5') },
          { metric: { __name__: 'c', l: 'info' }, value: value('1') },
          { metric: { __name__: 'sum(n)', l: 'info' }, value: value('1') },
        ],
      },
    });
    const matrix = await get<Prometheus>('stats_query_range', {
      query: '* | by (level) count() c | math c * 2 as d | fields d, level',
      step: '2s',
    });
    expect(matrix.data).to.deep.equal({
      resultType: 'matrix',
      result: [
        { metric: { __name__: 'd', level: 'error' }, values: [[1794996002, '4']] },
        { metric: { __name__: 'd', level: 'info' }, values: [[1794996000, '2']] },
      ],
    });
    const top = await get<Prometheus>('stats_query_range', { query: '* | stats by (n) count() c | sort by (n desc) limit 1', step: '1s' });
    expect(top.data.result).to.have.length(3);
    for (const query of ['*', '* | limit 1', '* | stats count() | top 1 by (a)']) {
      const refused = await call('stats_query', { query });
      expect(refused.status).to.equal(400);
      expect(JSON.parse(refused.text))
        .to.include({ status: 'error', errorType: '400' })
        .and.to.have.property('error')
        .that.contains('stats');
    }
  });

  it('holds extra filters against every query inside the query too', async () => {
    const seen = (parameters: Parameters): Promise<unknown[]> => rows({ ...parameters }).then((list) => list.map(({ n }) => n).sort());
    expect(await seen({ query: '*', extra_filters: 'level:error' })).to.deep.equal(['2', '3']);
    expect(await seen({ query: 'n:1 or n:3', extra_filters: '{"level":"error"}', extra_stream_filters: '{app="b"}' })).to.deep.equal(['3']);
    expect(await seen({ query: '*', extra_filters: ['level:error', 'n:2'] })).to.deep.equal(['2']);
    expect(await seen({ query: 'n:3 or n:in(n:1 | fields n)', extra_filters: 'level:error' })).to.deep.equal(['3']);
    expect(await seen({ query: 'n:3 | union (n:1)', extra_filters: 'level:error' })).to.deep.equal(['3']);
    expect(await seen({ query: 'n:3 or !level:error', extra_filters: 'app:b' })).to.deep.equal(['3']);
    expect(await seen({ query: 'options(ignore_global_time_filter=true) *', extra_filters: 'app:b' })).to.deep.equal(['3']);
    for (const name of PATHS.filter((path) => path.startsWith('field_names') || path === 'streams')) {
      const { values } = await get<Values>(name, { query: '*', extra_filters: 'app:b' });
      expect(Math.max(...values.map(({ hits }) => hits))).to.equal(1);
    }
  });

  it('shows no other tenant, by no path and no argument', async () => {
    for (const name of PATHS) {
      const query = name.startsWith('stats') ? '* | stats by (secret) count()' : '*';
      const parameters = { query, field: 'secret', AccountID: '2', ProjectID: '2', tenant_id: '2' };
      const mine = await call(name, parameters);
      expect(mine.status, `${name} ${mine.text}`).to.equal(200);
      expect(mine.text.replaceAll('"secret":""', ''), name).to.not.match(/secret":"o|other tenant/);
    }
    expect((await call('query', { query: '*' }, { key: 'two' })).text).to.contain('other tenant');
  });

  it('refuses what is wrong in plain text, or in the words of Prometheus, before credentials only by path', async () => {
    const bad: readonly (readonly [string, Parameters])[] = [
      ['query', {}],
      ['query', { query: 'a AND (' }],
      ['query', { query: '*', limit: '-1' }],
      ['query', { query: '*', limit: '1e99x' }],
      ['query', { query: '*', offset: '5' }],
      ['query', { query: '*', timeout: 'soon' }],
      ['query', { query: '*', start: "'; DROP TABLE logs; --" }],
      ['query', { query: '*', extra_filters: '{"a":1}' }],
      ['query', { query: `*${' | union (*)'.repeat(900)}` }],
      ['hits', { query: '*', step: '0' }],
      ['hits', { query: '*', step: '\u0000' }],
      ['hits', { query: '*', field: Array.from({ length: 21 }, (_none, index) => `f${String(index)}`) }],
      ['hits', { query: '*', field: '_time' }],
      ['facets', { query: '*', limit: 'many' }],
      ['facets', { query: '(' }],
      ['field_values', { query: '*' }],
      ['field_values', { query: '*', field: 'f'.repeat(1001) }],
      ['stream_field_values', { query: '*' }],
      ['streams', { query: '*', limit: '0x10' }],
      ['stats_query_range', { query: '* | stats count()', step: 'x' }],
    ];
    for (const [name, parameters] of bad)
      for (const method of ['GET', 'POST']) {
        const { status, type, text, headers } = await call(name, parameters, { method });
        expect(status, `${name} ${JSON.stringify(parameters).slice(0, 100)}: ${text}`).to.equal(400);
        expect(type).to.contain(name.startsWith('stats') ? 'application/json' : 'text/plain');
        expect(headers.get('x-request-id')).to.be.a('string');
      }
    expect((await call('query', { query: '*' }, { key: 'unknown' })).status).to.equal(403);
    expect((await call('query', { query: '*' }, { key: 'writer' })).status).to.equal(403);
    expect((await call('query', { query: '*' }, { key: '' })).status).to.equal(401);
    expect((await call('nosuch', { query: '*' }, { key: '' })).status).to.equal(404);
    expect((await call('query', { query: 'x'.repeat(2_000_000) }, { method: 'POST' })).status).to.equal(413);
    expect((await fetch(`${host.url}/select/logsql/query`, { method: 'PUT' })).status).to.equal(405);
  });

  it('takes any text in any argument without failing', async () => {
    const texts = [
      '',
      '\u0000',
      '\'"`\\',
      '{p0:String}',
      '__proto__',
      '-- ',
      '%',
      '\ud800',
      '9'.repeat(50),
      '((((',
      '{"a":{"b":[',
      'ﷺ'.repeat(300),
      '*',
      'now',
      '-',
    ];
    const names = [
      'query',
      'start',
      'end',
      'time',
      'limit',
      'offset',
      'step',
      'field',
      'timeout',
      'extra_filters',
      'extra_stream_filters',
      'fields_limit',
      'max_value_len',
    ];
    for (const path of ['query', 'hits', 'stats_query_range'])
      for (const name of names)
        for (const text of texts) {
          const query = path.startsWith('stats') ? '* | stats count()' : '*';
          const { status, text: answer } = await call(path, { query, field: 'level', [name]: text });
          expect([200, 400], `${path} ${name}=${text}: ${answer}`).to.include(status);
        }
  });

  it('is limited by the rate of the plan, all paths together', async () => {
    const statuses: number[] = [];
    for (const name of ['query', 'hits', 'streams', 'query', 'facets']) {
      const { status, headers, text } = await call(name, { query: '*' }, { key: 'slow' });
      statuses.push(status);
      if (status !== 429) continue;
      expect(Number(headers.get('retry-after'))).to.be.within(1, 20);
      expect(text).to.contain('3 queries a minute');
    }
    expect(statuses).to.deep.equal([200, 200, 200, 429, 429]);
  });

  it('answers the conformance cases', async () => {
    if (!isPresent) expect.fail('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED');
    await own.insert(8, loadEntries());
    const base = loadBase();
    const faults: string[] = [];
    const kinds = ['hits', 'streams', 'field_values'];
    const cases = loadCases().filter(
      ({ kind, feature, id }) => kinds.includes(kind) || (feature.startsWith('search.') && !ODDITIES.has(id)),
    );
    for (const test of cases) {
      const fault = await faultOf(test, base);
      if (fault !== null) faults.push(`${test.id} ${test.kind} ${test.query}\n    ${fault}`);
    }
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });

  async function faultOf(test: Case, base: readonly Row[]): Promise<string | null> {
    const window = { start: test.start ?? WINDOW.start, end: test.end ?? WINDOW.end, query: test.query };
    const name = test.kind === 'search' ? 'query' : test.kind;
    const answer = await call(
      name,
      {
        ...window,
        ...(test.field === undefined ? {} : { field: test.field }),
        ...(test.limit === undefined ? {} : { limit: String(test.limit) }),
        ...(test.kind === 'hits' ? { step: test.step ?? '1m', field: test.fields_by ?? [] } : {}),
      },
      { key: 'conformance' },
    );
    if (test.expect.error === true) return answer.status === 400 ? null : `status ${String(answer.status)}`;
    if (answer.status !== 200) return answer.text;
    if (test.kind === 'search') {
      const lines = answer.text.split('\n').filter((line) => line !== '');
      return compareRows(
        test,
        lines.map((line) => new Map(Object.entries(JSON.parse(line) as Record<string, string>))),
        base,
      );
    }
    if (test.kind !== 'hits')
      return comparePairs(
        test,
        (JSON.parse(answer.text) as Values).values.map(({ value, hits }) => [value, hits]),
      );
    const { hits } = JSON.parse(answer.text) as {
      readonly hits: readonly {
        readonly fields: Readonly<Record<string, string>>;
        readonly timestamps: readonly string[];
        readonly values: readonly number[];
      }[];
    };
    const counted = hits.flatMap(({ fields, timestamps, values }) =>
      timestamps.map(
        (time, index) => new Map([...Object.entries(fields), ['time', time], ['hits', String(values[index])]] as [string, string][]),
      ),
    );
    return compareRows(test, counted, base);
  }
});
