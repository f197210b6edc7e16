import { expect } from 'chai';
import { extent } from '../../extent.ts';
import type { Case } from '../../logsql/conformance.ts';
import { ODDITIES } from '../../logsql/not-built.ts';
import type { Plain } from '../../logsql/support.ts';
import { until } from '../instance.ts';
import { at, faultsOf, selectFaults, startSelect, type Parameters, type SelectHost, type Values } from '../query-setup.ts';

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

describe("VictoriaLogs' read API", function () {
  this.timeout(600_000);
  let select: SelectHost;
  before(async () => {
    select = await startSelect({ two: { tenantId: 2 }, big: { tenantId: 3 }, conformance: { tenantId: 8 } });
    await select.own.insert(1, [
      at(1, { app: 'a', level: 'info', n: 1, _stream: '{app="a",env="prod"}', env: 'prod' }),
      at(2, { app: 'a', level: 'error', n: 2, 'odd "name"': '<x>' }),
      at(3, { level: 'error', n: 3, _stream: '{app="b"}', app: 'b', hits: 'h' }),
    ]);
    await select.own.insert(2, [at(1, { secret: 'other tenant' })]);
  });
  after(() => select.stop());

  const call: SelectHost['call'] = (...call) => select.call(...call);
  const get: SelectHost['get'] = (name, parameters, key) => select.get(name, parameters, key);
  const rows: SelectHost['rows'] = (parameters, key) => select.rows(parameters, key);

  it('gives rows as lines of texts: all of them, or the newest, oldest first', async () => {
    const [first] = await rows({ query: 'n:1' });
    expect(first).to.deep.equal({
      ...{ _time: '2026-11-18T10:00:01Z', _stream: '{app="a",env="prod"}', _stream_id: first?.['_stream_id'], _msg: 'm' },
      ...{ level: 'info', n: '1', app: 'a', env: 'prod' },
    });
    expect(await rows({ query: `_stream_id:${String(first?.['_stream_id'])} | fields n` })).to.deep.equal([{ n: '1' }]);
    expect(await rows({ query: 'n:1 | fields _msg, n' })).to.deep.equal([{ _msg: 'm', n: '1' }]);
    expect((await rows({ query: 'n:1 | delete _stream_id' }))[0]).to.not.have.property('_stream_id');
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

  it('takes forms of both kinds, whose arguments come first', async () => {
    const post = async (query: string, body: string | URLSearchParams | FormData): Promise<string> => {
      const response = await fetch(`${select.url}/select/logsql/query?api_key=one&${query}`, { method: 'POST', body });
      return response.text();
    };
    const multipart = new FormData();
    multipart.append('query', 'n:3 | fields n');
    multipart.append('extra_filters', 'n:*');
    multipart.append('file', new Blob(['x']), 'x.txt');
    for (const form of [new URLSearchParams({ query: 'n:3 | fields n' }), multipart])
      expect(await post('query=nothing&limit=1', form)).to.equal('{"n":"3"}\n');
    expect(await post('query=n:2%20|%20fields%20n', '{"query":"x"}')).to.equal('{"n":"2"}\n');
    expect(await post('query=n:2%20|%20fields%20n&extra_filters=n:3', new URLSearchParams({ extra_filters: 'n:*' }))).to.equal('');
    const torn = await fetch(`${select.url}/select/logsql/query?api_key=one`, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
      body: '--x\r\n',
    });
    expect([torn.status, await torn.text()]).to.deep.equal([400, 'The body is not a multipart form.\n']);
    for (const name of PATHS) {
      const query = name.startsWith('stats') ? '* | stats count()' : '*';
      const parameters = { query, field: 'level', limit: '2', start: '2026-11-18', end: '2026-11-18', timeout: '5s' };
      const [byUrl, byForm] = [await call(name, parameters), await call(name, parameters, { method: 'POST' })];
      expect([byUrl.status, byForm.status, byForm.text], name).to.deep.equal([200, 200, byUrl.text]);
      expect(byForm.headers.get('vl-request-duration-seconds')).to.match(/^\d+\.\d{3}$/);
    }
  });

  it('streams more than it holds, and ends where the client does', async () => {
    await select.own.insert(
      3,
      Array.from({ length: 40_000 }, (_none, index) => at(Math.floor(index / 100), { n: String(index), text: 'x'.repeat(100) })),
    );
    expect(await rows({ query: '* | fields n' }, 'big')).to.have.length(40_000);
    expect(await rows({ query: '* | fields n', limit: '30000' }, 'big')).to.have.length(30_000);
    expect(await rows({ query: '* | filter n:~"7$" | fields n', limit: '15000' }, 'big')).to.have.length(4000);
    const response = await fetch(`${select.url}/select/logsql/query?query=*`, { headers: { Authorization: 'Bearer big' } });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).to.equal(false);
    await reader?.cancel();
    await until(
      'the end of the query of a client that has gone',
      () => select.own.store.ownerRows(`SELECT count() FROM system.processes WHERE query LIKE '%FROM logs%' AND query NOT LIKE '%system%'`),
      (running) => Number(running[0]?.[0]) === 0,
    );
    const head = await fetch(`${select.url}/select/logsql/query?query=*`, { method: 'HEAD', headers: { Authorization: 'Bearer big' } });
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
    expect(await values('field_names', { filter: 'dd' })).to.deep.equal([['odd "name"', 1]]);
    expect(await values('field_values', { field: 'level', filter: 'nf', limit: '1' })).to.deep.equal([['info', 1]]);
    expect(await values('stream_field_names', { filter: 'nv' })).to.deep.equal([['env', 1]]);
    expect(await values('stream_field_values', { field: 'app', filter: 'b' })).to.deep.equal([['b', 1]]);
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
    const shifted = await get<Prometheus>('stats_query_range', { query: '* | stats count() c', step: '1d', offset: '12h' });
    expect(shifted.data.result).to.deep.equal([{ metric: { __name__: 'c' }, values: [[1794916800, '3']] }]);
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

  it('answers the conformance cases', async () => {
    const kinds = ['hits', 'streams', 'field_values'];
    // every search without HTTP: logsql.e2e.test.ts
    const oneIn = extent(3, 1);
    let searches = 0;
    const isAsked = ({ kind, feature, id }: Case): boolean =>
      kinds.includes(kind) || (feature.startsWith('search.') && !ODDITIES.has(id) && searches++ % oneIn === 0);
    const faults = await faultsOf(select.own, 8, isAsked, selectFaults(select, 'conformance'));
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });
});
