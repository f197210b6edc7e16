import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedFolder, sharedInstance, type Printed } from '../shared.ts';

type Tenant = Awaited<ReturnType<typeof newTenant>>;
type Log = Record<string, unknown>;

describe('a shipper posts, an analyst finds', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Tenant;

  before(async () => {
    instance = await sharedInstance();
  });
  beforeEach(async () => {
    tenant = await newTenant(instance);
  });

  const auth = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  const api = (): string => `${instance.app}/api/v1/tenants/${tenant.id}`;
  const ingest = (body: unknown, headers: Record<string, string> = {}): ReturnType<Instance['call']> =>
    instance.call('POST', `${instance.ingest}/api/v1/ingest`, body, { ...auth(), ...headers });
  const search = async (
    body: Record<string, unknown>,
  ): Promise<{ logs: Log[]; has_more: boolean; oldest_time: string | null; count: number; elapsed_ms: number }> => {
    const answer = await instance.call('POST', `${api()}/search`, { start: '-7d', ...body }, auth());
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body as Awaited<ReturnType<typeof search>>;
  };
  const visible = (count: number): Promise<unknown> =>
    until(
      `${count} entries`,
      () => search({ query: '*', limit: 10_000 }),
      ({ logs }) => logs.length >= count,
    );
  const at = (offsetMs: number): string => new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000 + offsetMs).toISOString();

  it('finds what was sent as JSON, field by field', async () => {
    const time = at(0).replace('.000Z', '.123456789Z');
    const entry = {
      _time: time,
      _msg: 'payment 42 failed',
      service: 'pay',
      level: 'ERROR',
      user: { id: 7 },
      ratio: 1.5,
      big: '18446744073709551615',
      ok: false,
      tags: ['a', 'b'],
    };
    const sent = await ingest(JSON.stringify([entry]).replace('"18446744073709551615"', '18446744073709551615'), {
      'Content-Type': 'application/json',
    });
    expect(sent.body).to.deep.equal({ status: 'ok', accepted: 1 });
    await visible(1);
    const raw = await fetch(`${api()}/search`, {
      method: 'POST',
      headers: { ...auth(), 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: 'user.id:7' }),
    });
    const text = await raw.text();
    expect(text).to.contain('"big":18446744073709551615');
    expect((JSON.parse(text) as { logs: Log[] }).logs[0]).to.deep.include({
      _time: time,
      _msg: 'payment 42 failed',
      _stream: '{service="pay"}',
      service: 'pay',
      level: 'ERROR',
      'user.id': 7,
      ratio: 1.5,
      ok: false,
      tags: '["a","b"]',
    });
    for (const query of [
      'payment',
      '"payment 42"',
      'fail*',
      'level:ERROR',
      'i(PAYMENT)',
      '~"4[0-9]"',
      'ratio:>1',
      '{service="pay"}',
      'big:=18446744073709551615',
      'tags:~"b"',
      'level:in(ERROR, warn)',
      '-nothing',
      'user.id:range[7,8)',
    ]) {
      expect((await search({ query })).logs, query).to.have.length(1);
    }
    for (const query of ['pay', '"42 payment"', 'level:error', 'ratio:>2', '{service="other"}', '!payment'])
      expect((await search({ query })).logs, query).to.have.length(0);
  });

  it('takes bulk on both hosts, gzipped, and rejects one by one', async () => {
    const body = [
      '{"create":{}}',
      '{"_msg":"first","app":"web"}',
      '{"create":{}}',
      '{"level":"x"}',
      '{"index":{}}',
      '{"message":"second","app":"web"}',
      '',
    ].join('\n');
    for (const url of [`${instance.ingest}/insert/elasticsearch/_bulk`, `${instance.app}/_bulk`]) {
      const {
        status,
        body: answer,
        headers,
      } = await instance.call('POST', url, gzipSync(body), {
        ...auth(),
        'Content-Type': 'application/x-ndjson',
        'Content-Encoding': 'gzip',
      });
      expect(status).to.equal(200);
      expect(headers.get('x-elastic-product')).to.equal('Elasticsearch');
      expect(answer).to.deep.include({ errors: true });
      const { items } = answer as { items: Record<string, { status: number }>[] };
      expect(items.map((item) => Object.entries(item).map(([action, { status: own }]) => `${action} ${String(own)}`))).to.deep.equal([
        ['create 201'],
        ['create 400'],
        ['index 201'],
      ]);
    }
    await visible(4);
    expect((await search({ query: 'app:web' })).logs).to.have.length(4);
  });

  it('keeps text as it was sent', async () => {
    const nasty = [
      'NUL \0 here',
      'quotes " \' ` \\',
      'new\nline\ttab\r',
      'emoji 😀 日本語 é',
      '{"json":"in text"}',
      "'; DROP TABLE logs; --",
      '${x} {{y}} %s {p0:String}',
      'a'.repeat(100_000),
    ];
    await ingest(nasty.map((text, index) => ({ _time: at(index), _msg: text, __proto__x: text, [`k${text.slice(0, 20)}`]: text })));
    await visible(nasty.length);
    const { logs } = await search({ query: '*' });
    expect(logs.map(({ _msg }) => _msg)).to.deep.equal([...nasty].reverse());
    for (const log of logs) expect(log[`k${String(log['_msg']).slice(0, 20)}`]).to.equal(log['_msg']);
  });

  it('is newest first, pages without gap or repeat, also through equal times', async () => {
    const same = at(500);
    for (let batch = 0; batch < 3; batch++) {
      await ingest(
        Array.from({ length: 40 }, (_, i) => ({
          _time: i % 2 === 0 ? same : at(batch * 10 + i),
          _msg: `entry ${batch}-${i}`,
          app: `app${i % 7}`,
          n: batch * 40 + i,
        })),
      );
    }
    await visible(120);
    const all = (await search({ query: '*' })).logs.map(({ n }) => n);
    expect(new Set(all).size).to.equal(120);
    for (const limit of [1, 7, 40]) {
      const paged: unknown[] = [];
      let before: string | null = null;
      let more = true;
      while (more) {
        const page: Awaited<ReturnType<typeof search>> = await search({ query: '*', limit, before });
        if (page.has_more) expect(page.logs).to.have.length(limit);
        paged.push(...page.logs.map(({ n }) => n));
        before = page.oldest_time;
        more = page.has_more;
      }
      expect(paged, `limit ${limit}`).to.deep.equal(all);
    }
  });

  it('counts, groups and lists streams', async () => {
    await ingest(
      Array.from({ length: 90 }, (_, i) => ({
        _time: at(i),
        _msg: `m ${i}`,
        app: i % 3 === 0 ? 'web' : 'api',
        status: 200 + (i % 2),
        d: i,
      })),
    );
    await visible(90);
    const get = async (suffix: string): Promise<unknown> => (await instance.call('GET', `${api()}/${suffix}`, undefined, auth())).body;
    const hits = (await get('hits?query=*&start=-10m&step=1m')) as { hits: { time: string; hits: number }[] };
    expect(hits.hits.reduce((sum, bucket) => sum + bucket.hits, 0)).to.equal(90);
    expect(hits.hits.length).to.be.within(10, 11);
    const grouped = (await get('hits?query=*&start=-1h&step=1d&fields_by=_stream')) as { hits: { stream: string; hits: number }[] };
    const byStream = new Map<string, number>();
    for (const { stream, hits: n } of grouped.hits) byStream.set(stream, (byStream.get(stream) ?? 0) + n);
    expect(Object.fromEntries(byStream)).to.deep.equal({ '{app="web"}': 30, '{app="api"}': 60 });
    const { streams, window } = (await get('streams?query=*')) as { streams: unknown; window: { start: string; end: string } };
    expect(streams).to.deep.equal([
      { id: '{app="api"}', hits: 60 },
      { id: '{app="web"}', hits: 30 },
    ]);
    expect(Date.parse(window.end) - Date.parse(window.start)).to.be.within(3_600_000, 3_601_000);
    const rows = async (query: string): Promise<Log[]> => (await search({ query })).logs;
    const text = (list: Log[]): unknown[] =>
      list.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])));
    expect(
      text(await rows('* | stats by (app) count() n, sum(d) s, avg(d) a, min(d) lo, max(d) hi, count_uniq(status) u | sort by (app)')),
    ).to.deep.equal([
      { app: 'api', n: '60', s: '2700', a: '45', lo: '1', hi: '89', u: '2' },
      { app: 'web', n: '30', s: '1305', a: '43.5', lo: '0', hi: '87', u: '2' },
    ]);
    expect(text(await rows('* | top 1 by (app)'))).to.deep.equal([{ app: 'api', hits: '60' }]);
    expect(text(await rows('* | uniq by (app) | sort by (app)'))).to.deep.equal([{ app: 'api' }, { app: 'web' }]);
    expect(text(await rows('* | fields d | sort by (d desc) | limit 2'))).to.deep.equal([{ d: '89' }, { d: '88' }]);
    expect(text(await rows('* | stats quantile(0.5, d) m'))).to.have.length(1);
  });

  it('keeps tenants apart, and says what is wrong', async () => {
    await ingest([{ _msg: 'canary of the first' }]);
    await visible(1);
    const other = await newTenant(instance);
    const otherAuth = { Authorization: `Bearer ${other.key}` };
    const theirs = await instance.call(
      'POST',
      `${instance.app}/api/v1/tenants/${other.id}/search`,
      { query: '*', start: '-7d' },
      otherAuth,
    );
    expect((theirs.body as { logs: Log[] }).logs).to.have.length(0);
    const cases: readonly (readonly [string, string, unknown, Record<string, string>, number])[] = [
      ['POST', `${api()}/search`, { query: '*' }, otherAuth, 403],
      ['POST', `${api()}/search`, { query: '*' }, { Authorization: '' }, 401],
      ['POST', `${api()}/search`, { query: '' }, auth(), 400],
      ['POST', `${api()}/search`, { query: '_msg:"open' }, auth(), 400],
      ['POST', `${api()}/search`, { query: '*', limit: 0 }, auth(), 400],
      ['POST', `${api()}/search`, { query: '*', start: 'yesterdayish' }, auth(), 400],
      ['POST', `${api()}/search`, { query: `_msg:~"${'('.repeat(50)}"` }, auth(), 400],
      ['GET', `${api()}/hits?step=2m`, undefined, auth(), 400],
      ['GET', `${api().replace(instance.app, instance.ingest)}/hits`, undefined, auth(), 404],
      ['GET', `${instance.app}/nowhere`, undefined, {}, 404],
      ['GET', `${instance.ingest}/api/v1/ingest`, undefined, auth(), 405],
      ['POST', `${instance.ingest}/api/v1/ingest`, '{"_msg":', auth(), 400],
      ['POST', `${instance.ingest}/api/v1/ingest`, Buffer.alloc(2_097_153, 0x20), auth(), 413],
    ];
    for (const [method, url, body, headers, status] of cases) {
      const answer = await instance.call(method, url, body, headers);
      expect(answer.status, `${method} ${url} ${JSON.stringify(body ?? null).slice(0, 80)}`).to.equal(status);
      expect(answer.headers.get('x-request-id'), url).to.match(/^[\w.-]+$/);
    }
    const syntax = await instance.call('POST', `${api()}/search`, { query: 'a | stats by (' }, auth());
    expect((syntax.body as { detail: string }).detail).to.match(/offset|position|character/i);
  });

  it('is healthy, ready, and measured', async () => {
    expect((await instance.call('GET', `${instance.app}/health`)).body).to.deep.equal({ status: 'ok' });
    expect((await instance.call('GET', `${instance.ingest}/health`)).body).to.deep.equal({ status: 'ok' });
    await until(
      'ready',
      () => instance.call('GET', `${instance.admin}/ready`),
      ({ status }) => status === 200,
    );
    await ingest([{ _msg: 'counted' }]);
    await visible(1);
    const metrics = String((await instance.call('GET', `${instance.admin}/metrics`)).body);
    for (const wanted of [
      /logweir_entries_total\{[^}]*role="ingest"[^}]*\} [1-9]/,
      /logweir_stored_rows_total\{[^}]*role="sink"[^}]*\} [1-9]/,
      /logweir_consumer_lag\{/,
      /nodejs_eventloop_lag_seconds\{[^}]*role="app"/,
      /logweir_http_request_seconds_bucket\{/,
    ]) {
      expect(metrics).to.match(wanted);
    }
  });

  for (const dataset of ['Apache', 'HDFS']) {
    it(`finds the raw lines of ${dataset}`, async () => {
      const lines = readFileSync(path.join(sharedFolder(), 'conformance/clusters/loghub', dataset, 'raw.log'), 'utf8')
        .split('\n')
        .map((line) => line.replace(/\r$/, ''))
        .filter((line) => line !== '');
      const now = Date.now();
      const body = lines
        .map((line, index) => JSON.stringify({ _time: new Date(now - (lines.length - index)).toISOString(), _msg: line, service: dataset }))
        .join('\n');
      expect((await ingest(body, { 'Content-Type': 'application/x-ndjson' })).body).to.deep.equal({ status: 'ok', accepted: lines.length });
      await visible(lines.length);
      const hits = (await instance.call('GET', `${api()}/hits?query=service:=${dataset}&start=-1h&step=1d`, undefined, auth())).body as {
        hits: { hits: number }[];
      };
      expect(hits.hits.reduce((sum, bucket) => sum + bucket.hits, 0)).to.equal(lines.length);
      const probe = lines[Math.floor(lines.length / 2)] ?? '';
      const found = await search({ query: `${JSON.stringify(probe)} service:${dataset}` });
      expect(found.logs.map(({ _msg }) => _msg)).to.include(probe);
      expect(found.logs).to.have.length(lines.filter((line) => line.includes(probe)).length);
    });
  }

  it('prints what is on the topic', async () => {
    await ingest([{ _msg: 'seen on the topic', service: 'shell', big: 12 }]);
    const read = (...args: string[]): Promise<Printed> => runCli(instance, tenant, ['topic', 'read', ...args]);
    const { stdout, code } = await read('logs.v1', '--from', '-10m', '--tenant', String(tenant.id));
    expect(code).to.equal(0);
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const { _time, ...entry } = entries.find(({ service }) => service === 'shell') ?? {};
    expect(entry).to.deep.equal({ _stream: '{service="shell"}', _msg: 'seen on the topic', service: 'shell', big: 12 });
    expect(_time).to.match(/^\d{4}-/);
    expect((await read('nothing.v1')).code).to.equal(2);
    expect((await read('logs.v1', '--tenant', '4000000000')).stdout).to.equal('');
  });

  it('answers the command line', async () => {
    const cli = (args: string[], env: Record<string, string> = {}): Promise<Printed> => runCli(instance, tenant, args, env);
    expect((await cli(['demo', '--count', '700', '--rate', '50', '--backfill', '1m'])).code).to.equal(0);
    await visible(700);
    const found = await cli(['query', 'service:web | stats count() n', '--start', '-10m']);
    expect(Number((JSON.parse(found.stdout) as { n: unknown }).n)).to.be.greaterThan(50);
    const lines = await cli(['query', '*', '--limit', '5', '--format', 'lines']);
    expect(lines.stderr).to.equal('There is more than these 5; --limit gives more of it.\n');
    expect((await cli(['query', 'nothinglikethis'])).stderr).to.match(/^Nothing matches from \S+Z to \S+Z\.\n$/);
    const times = lines.stdout.trim().split('\n').map((line) => line.split(' ')[0]); // prettier-ignore
    expect(times).to.have.length(5);
    expect(times).to.deep.equal([...times].sort());
    const csv = await cli(['query', 'service:web', '--limit', '2', '--output', 'csv', '--newest-first', '--timezone', 'Asia/Tokyo']);
    expect(csv.stdout).to.match(/^_time,level,service,_msg,_stream,.*\n\S+\+09:00,\w+,web,/);
    expect((await cli(['query', 'level=never'])).stderr).to.include('level:=never');
    expect((await cli(['query', 'a | nope('])).code).to.equal(2);
    expect((await cli(['query', '*'], { LOGWEIR_API_KEY: 'wrong' })).code).to.equal(3);
    expect((await cli(['query', '*', '--url', 'http://127.0.0.1:1'])).code).to.equal(1);
    const processes = JSON.parse((await cli(['ps', '--json'])).stdout) as { role: string }[];
    const listed = processes.map(({ role }) => role);
    expect(listed).to.include.members(['kafka', 'clickhouse', 'ingest', 'app', 'sink', 'processors']);
    expect(listed.slice(listed.indexOf('app') + 1, listed.indexOf('app') + 4)).to.deep.equal([
      'query worker',
      'query worker',
      'query worker',
    ]);
    const made = JSON.parse(
      (await cli(['admin', 'key', 'create', '--tenant', String(tenant.id), '--scopes', 'ingest', '--json'])).stdout,
    ) as { key: string };
    expect((await ingest([{ _msg: 'x' }], { Authorization: `Bearer ${made.key}` })).status).to.equal(200);
    expect((await instance.call('POST', `${api()}/search`, { query: '*' }, { Authorization: `Bearer ${made.key}` })).status).to.equal(403);
  });
});

describe('the second wall between tenants', function () {
  this.timeout(600_000);

  it('shows the reader nothing without a tenant, and lets it neither write nor read elsewhere', async () => {
    const instance = await sharedInstance();
    const read = (name: string): string => readFileSync(path.join(instance.dataDir, 'clickhouse', name), 'utf8').trim();
    const { readerPassword } = JSON.parse(read('secrets.json')) as { readerPassword: string };
    const ask = async (query: string, settings = ''): Promise<{ ok: boolean; text: string }> => {
      const response = await fetch(`${read('url')}/?database=logweir${settings}`, {
        method: 'POST',
        body: query,
        headers: { 'X-ClickHouse-User': 'reader', 'X-ClickHouse-Key': readerPassword },
      });
      return { ok: response.ok, text: (await response.text()).trim() };
    };
    await instance.call('POST', `${instance.ingest}/api/v1/ingest`, [{ _msg: 'behind the wall' }]);
    await until(
      'an entry of tenant 1',
      () => ask('SELECT count() > 0 FROM logs', '&log_comment=1'),
      ({ text }) => text === '1',
    );
    expect(await ask('SELECT count() FROM logs')).to.deep.equal({ ok: true, text: '0' });
    expect(await ask('SELECT count() FROM logs', '&log_comment=4000000')).to.deep.equal({ ok: true, text: '0' });
    expect(await ask('SELECT count() FROM streams')).to.deep.equal({ ok: true, text: '0' });
    for (const query of [
      'INSERT INTO logs (tenant_id) VALUES (1)',
      "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')",
      "SELECT * FROM file('/etc/passwd', CSV, 'a String')",
      'SELECT * FROM system.processes',
      'DROP TABLE logs',
    ]) {
      expect((await ask(query)).ok, query).to.equal(false);
    }
  });
});
