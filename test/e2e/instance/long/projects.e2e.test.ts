import { expect } from 'chai';
import WebSocket from 'ws';
import { once } from 'node:events';
import type { Alert } from '../../../../pipeline/alerting/book/alert.ts';
import { alert } from '../../../fakes/alerts-record.ts';
import { alertTeller } from '../../alert-source.ts';
import { until, type Instance } from '../../instance.ts';
import { newTenant, sharedInstance } from '../../shared.ts';

/** Two projects of one tenant stand where two tenants do: neither may see an entry of the other, whatever it sends. */
describe('projects of a tenant', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Awaited<ReturnType<typeof newTenant>>;
  const keys: Record<string, string> = {};
  const ids: Record<string, string> = {};
  const bearer = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' });
  const base = (): string => `${instance.app}/api/v1/tenants/${String(tenant.id)}`;
  const as = (key: string, method: string, url: string, body?: unknown): ReturnType<Instance['call']> =>
    instance.call(method, url, body, bearer(key));
  const search = async (key: string, query: string): Promise<string> => {
    const { status, body } = await as(key, 'POST', `${base()}/search`, { query, start: '-1h', limit: 1000 });
    expect(status, `${query}: ${JSON.stringify(body)}`).to.be.oneOf([200, 400]);
    return JSON.stringify(body);
  };
  const select = async (key: string, path: string, parameters: Record<string, string>): Promise<string> => {
    const response = await fetch(`${instance.app}/select/logsql/${path}?${String(new URLSearchParams(parameters))}`, {
      headers: bearer(key),
    });
    expect(response.status, path).to.be.oneOf([200, 400]);
    return response.text();
  };

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    for (const name of ['red', 'blue']) {
      const project = await as(tenant.key, 'POST', `${instance.app}/api/v1/account/projects`, { name });
      expect(project.status, JSON.stringify(project.body)).to.equal(201);
      ids[name] = (project.body as { id: string }).id;
      const key = await as(tenant.key, 'POST', `${base()}/keys`, { scopes: ['read', 'write', 'ingest'], project: ids[name] });
      expect(key.status, JSON.stringify(key.body)).to.equal(201);
      keys[name] = (key.body as { key: string }).key;
    }
    const other = { red: 'blue', blue: 'red' } as const;
    for (const name of ['red', 'blue'] as const) {
      const key = keys[name] ?? '';
      // what claims to be of the other project is of the own one
      const entry = JSON.stringify({ _msg: `secret of ${name}`, service: 'cart', owner: name, project: other[name], trace_id: 'shared' });
      expect((await as(key, 'POST', `${instance.ingest}/api/v1/ingest`, entry)).status).to.equal(200);
      expect(
        (
          await as(
            key,
            'POST',
            `${instance.ingest}/api/v1/ingest?_stream_fields=owner&extra_fields=project=${other[name]}&ignore_fields=project`,
            entry,
          )
        ).status,
      ).to.equal(200);
      const now = `${String(Date.now())}000000`;
      const loki = { streams: [{ stream: { app: 'cart', project: other[name] }, values: [[now, `secret of ${name} by loki`]] }] };
      expect((await as(key, 'POST', `${instance.ingest}/loki/api/v1/push`, loki)).status).to.equal(204);
      const otlp = {
        resourceLogs: [
          {
            resource: {
              attributes: [
                { key: 'service.name', value: { stringValue: 'cart' } },
                { key: 'project', value: { stringValue: other[name] } },
              ],
            },
            scopeLogs: [{ logRecords: [{ timeUnixNano: now, body: { stringValue: `secret of ${name} by otlp` } }] }],
          },
        ],
      };
      expect((await as(key, 'POST', `${instance.ingest}/v1/logs`, otlp)).status).to.equal(200);
    }
    await as(tenant.key, 'POST', `${instance.ingest}/api/v1/ingest`, JSON.stringify({ _msg: 'secret of no project', service: 'cart' }));
    await until(
      'all entries',
      async () => (await search(tenant.key, 'secret')).split('secret of').length - 1,
      (count) => count >= 9,
    );
  });

  it('have what their keys sent, by every format, with the labels', async () => {
    for (const name of ['red', 'blue']) {
      const { body } = await as(keys[name] ?? '', 'POST', `${base()}/search`, { query: '*', start: '-1h' });
      const { logs } = body as { logs: { _msg: string; _stream: string; project: string }[] };
      expect(logs.map(({ _msg }) => _msg).sort()).to.deep.equal([
        `secret of ${name}`,
        `secret of ${name}`,
        `secret of ${name} by loki`,
        `secret of ${name} by otlp`,
      ]);
      for (const entry of logs) {
        expect(entry.project).to.equal(name);
        expect(entry._stream).to.contain(`project="${name}"`);
      }
    }
  });

  const HOSTILE = [
    '*',
    'secret',
    'secret or *',
    '* or project:blue',
    'project:=blue',
    '{project="blue"}',
    '{project=~".*"}',
    '!project:red',
    'NOT red',
    '_stream:{project="blue"}',
    '* | union (*)',
    'red | union (project:=blue)',
    '* | join by (service) (*) prefix x_',
    '* | join by (trace_id) (project:=blue | fields trace_id, _msg) prefix x_',
    'service:in(project:=blue | fields service) or blue',
    '_msg:in(* | fields _msg)',
    '_msg:contains_any(blue | fields _msg)',
    '_stream_id:in(project:=blue | fields _stream_id)',
    '* | stream_context before 100 after 100',
    'otlp | stream_context before 100 after 100 time_window 1h',
    'options(ignore_global_time_filter=true) *',
    '* | stats by (_msg) count()',
    '* | uniq by (_msg)',
    '* | top 10 by (_msg)',
    '* | facets',
    '* | field_names',
    '* | field_values project',
    '* | sort by (project) desc',
    '* | first 10 by (_time)',
    '* | last 10 by (_time)',
    '* | blocks_count',
    '* | limit 1000 offset 0',
    '* | delete project',
    '* | fields _msg',
    '* | format "<_msg>" as x',
    '* | extract "secret of <who>"',
    '* | filter blue or red',
    ') or (project:=blue',
    '*) or (*',
    '* | query_stats',
    "' OR 1=1 --",
  ];
  for (const query of HOSTILE)
    it(`show nothing of the other by ${query}`, async () => {
      const red = keys['red'] ?? '';
      const found = [
        await search(red, query),
        await select(red, 'query', { query, start: '-1h' }),
        await select(red, 'stats_query', { query: `${query} | stats by (_msg) count()` }),
      ];
      found.push(
        await select(red, 'query', {
          query,
          start: '-1h',
          extra_filters: 'project:=blue or *',
          extra_stream_filters: '{"project":["blue","red"]}',
        }),
      );
      for (const name of ['hits', 'facets', 'streams']) {
        const parameters = new URLSearchParams({ query, start: '-1h', ...(name === 'hits' ? { step: '1h', fields_by: '_msg' } : {}) });
        const { status, body } = await as(red, 'GET', `${base()}/${name}?${String(parameters)}`);
        expect(status, name).to.be.oneOf([200, 400]);
        found.push(JSON.stringify(body));
      }
      for (const path of [
        'hits',
        'facets',
        'field_names',
        'field_values',
        'streams',
        'stream_ids',
        'stream_field_names',
        'stream_field_values',
      ])
        found.push(await select(red, path, { query, start: '-1h', step: '1h', field: path.startsWith('stream_') ? 'project' : '_msg' }));
      // a query may name the other project, and is shown again by no answer but an error
      for (const answer of found) {
        expect(answer).not.to.match(/secret of blue|secret of no project/);
        if (!query.includes('blue')) expect(answer.replaceAll(/"hints":\[[^\]]*\]/g, '')).not.to.contain('blue');
      }
    });

  it('refuse what no filter narrows', async () => {
    const red = keys['red'] ?? '';
    const paths = [
      'traces',
      'services',
      'service-map',
      'measures',
      'rejections',
      'rules',
      'webhooks',
      'detectors',
      'metric-rules',
      'spans/hits',
      'spans/facets',
      'metrics/cardinality',
      'replay/sessions',
    ];
    for (const path of [...paths, 'prometheus/api/v1/labels', 'jaeger/api/services']) {
      const { status, body } = await as(red, 'GET', `${base()}/${path}`);
      expect(status, `${path}: ${JSON.stringify(body)}`).to.equal(403);
    }
    expect((await as(red, 'GET', `${instance.app}/select/tenant_ids`)).status).to.equal(403);
    expect((await as(red, 'POST', `${instance.app}/v1/traces`, '{"resourceSpans":[]}')).status).to.equal(403);
    expect((await as(red, 'POST', `${instance.app}/v1/metrics`, '{"resourceMetrics":[]}')).status).to.equal(403);
  });

  type Patterns = {
    readonly patterns: readonly {
      readonly fingerprint: string;
      readonly normalized_message: string;
      readonly count: number;
      readonly streams: readonly string[];
    }[];
  };
  const get = async (key: string, path: string): Promise<{ readonly status: number; readonly body: unknown; readonly text: string }> => {
    const { status, body } = await as(key, 'GET', `${base()}/${path}`);
    return { status, body, text: JSON.stringify(body) };
  };

  it('have the patterns of their own entries, and no word of the others', async () => {
    const red = keys['red'] ?? '';
    const own = (await get(red, 'patterns')).body as Patterns;
    expect(own.patterns.map(({ normalized_message: template, count }) => [template, count]).sort()).to.deep.equal([
      ['secret of red by loki', 1],
      ['secret of red by otlp', 1],
      ['secret of red', 2],
    ]);
    for (const { streams } of own.patterns) expect(streams.every((stream) => stream.includes('project="red"'))).to.equal(true);
    const theirs = ((await get(keys['blue'] ?? '', 'patterns')).body as Patterns).patterns.find(({ count }) => count === 2);
    expect(theirs?.normalized_message).to.equal('secret of blue');
    const found = [
      ...[
        'patterns?search=secret',
        'patterns?search=blue',
        'patterns?sort=first_seen&order=asc&limit=2&offset=1',
        'patterns?service=cart',
        `patterns?service=${encodeURIComponent('x"} or {project="blue')}`,
      ],
      ...['patterns/diff?a=-2h..-1h&b=-1h..now', 'patterns/diff?a=-1h..now&b=-3h..-2h', `patterns/${own.patterns[0]?.fingerprint ?? ''}`],
    ];
    for (const path of found) {
      const { status, text } = await get(red, path);
      expect(status, path).to.equal(200);
      expect(text, path).not.to.match(/blue|no project/);
    }
    expect((await get(red, found.at(-1) ?? '')).text).to.contain('secret of red');
    expect((await get(red, found[5] ?? '')).body)
      .to.have.property('new')
      .with.length(3);
    expect((await get(red, found[1] ?? '')).body).to.deep.include({ patterns: [], has_more: false });
    expect((await get(red, `patterns/${theirs?.fingerprint ?? ''}`)).status).to.equal(404);
  });

  const WINDOWED = JSON.stringify({ window: { start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z' }, links: { query: '*' } });
  it('are shown the alerts of their own streams alone, as they come too', async () => {
    const red = keys['red'] ?? '';
    const teller = alertTeller(instance);
    const now = Math.floor(Date.now() / 1000);
    const told: readonly Partial<Alert>[] = [
      ...[
        { stream: '{project="blue",service="cart"}', title: 'of blue' },
        { stream: '{service="cart"}', title: 'of the service' },
        { stream: '{}', title: 'of all' },
      ],
      {
        stream: '{operation="GET /",project="red",service="cart"}',
        title: 'of requests',
        evidence: WINDOWED.replace('{', '{"operation":"GET /",'),
      },
      { stream: '{project="red"}', title: 'of a rule', detector: 'rule' },
      { stream: '{project="red",service="cart"}', title: 'of red' },
    ];
    const tell = async (version: number): Promise<void> => {
      for (const [n, more] of told.entries())
        await teller.tell(
          {
            ...alert({ evidence: WINDOWED, ...more }),
            id: 7001 + n,
            tenantId: tenant.id,
            service: 'cart',
            firedAt: now,
            updatedAt: now + version,
            incidentId: 77,
          },
          version,
        );
    };
    await tell(1);
    const listed = await until('all alerts', () => get(tenant.key, 'alerts'), ({ body }) => (body as { total: number }).total === told.length); // prettier-ignore
    expect(listed.text).to.contain('of blue');
    const { body, text } = await get(red, 'alerts');
    expect((body as { items: { title: string }[]; total: number }).items.map(({ title }) => title)).to.deep.equal(['of red']);
    expect(body).to.include({ total: 1, has_more: false });
    expect(text).not.to.match(/of blue|of the service|of all|of a rule|of requests/);
    const incidents = (await get(red, 'incidents')).body as { items: { alert_count: number; alerts: { title: string }[] }[] };
    expect(incidents.items.map(({ alert_count: count, alerts }) => [count, alerts.map(({ title }) => title)])).to.deep.equal([
      [1, ['of red']],
    ]);
    expect(
      [await get(red, 'alerts/7001'), await get(red, 'alerts/7002'), await get(red, 'alerts/7006')].map(({ status }) => status),
    ).to.deep.equal([404, 404, 200]);
    expect((await as(red, 'POST', `${base()}/alerts/7001/resolve`, {})).status).to.equal(404);
    const seen: string[] = [];
    const socket = new WebSocket(`${instance.app.replace('http', 'ws')}/ws/alerts/${String(tenant.id)}?since=-1h&updates=true`, [
      `logweir.bearer.${red}`,
    ]);
    socket.on('message', (data: Buffer) => seen.push(data.toString('utf8')));
    await once(socket, 'open');
    await until(
      'the own alert',
      () => Promise.resolve(seen.length),
      (count) => count >= 1,
    );
    expect(seen[0]).to.contain('of red');
    let version = 1;
    await until(
      'it as it changes',
      async () => {
        await tell((version += 1));
        return seen.length;
      },
      (count) => count >= 2,
    );
    await teller.close();
    socket.close();
    expect(seen.join()).not.to.match(/of blue|of the service|of all|of a rule|of requests/);
  });

  it('whose filter looks at fields have no alerts, and patterns', async () => {
    const made = await as(tenant.key, 'POST', `${instance.app}/api/v1/account/projects`, { name: 'fields', filter: 'owner:=blue' });
    const key = await as(tenant.key, 'POST', `${base()}/keys`, { scopes: ['read'], project: (made.body as { id: string }).id });
    const { key: secret } = key.body as { key: string };
    for (const path of ['alerts', 'incidents', 'alerts/7001']) {
      const { status, text } = await get(secret, path);
      expect([status, text.includes('labels of streams')], path).to.deep.equal([403, true]);
    }
    const { text } = await get(secret, 'patterns');
    expect(text)
      .to.contain('secret of blue')
      .and.not.to.match(/of red|no project/);
    const socket = new WebSocket(`${instance.app.replace('http', 'ws')}/ws/alerts/${String(tenant.id)}`, [`logweir.bearer.${secret}`]);
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).to.equal(1008);
  });

  it('are what a live tail of their keys follows', async () => {
    const red = keys['red'] ?? '';
    const socket = new WebSocket(`${instance.app.replace('http', 'ws')}/ws/livetail/${String(tenant.id)}`, [
      'logweir.v1',
      `logweir.bearer.${red}`,
    ]);
    const seen: string[] = [];
    socket.on('message', (data: Buffer) => seen.push(data.toString('utf8')));
    await once(socket, 'open');
    socket.send(JSON.stringify({ query: '* or project:=blue', since: '-1h', control: true }));
    await until(
      'ready',
      () => Promise.resolve(seen.some((text) => text.includes('"ready"'))),
      (is) => is,
    );
    for (const name of ['blue', 'red'])
      await as(keys[name] ?? '', 'POST', `${instance.ingest}/api/v1/ingest`, JSON.stringify({ _msg: `live of ${name}` }));
    await until(
      'the entry',
      () => Promise.resolve(seen.some((text) => text.includes('live of red'))),
      (is) => is,
    );
    socket.close();
    expect(seen.filter((text) => text.includes('secret of red')).length).to.equal(4);
    expect(seen.join('\n')).not.to.match(/of blue|no project/);
  });

  it('end with their key', async () => {
    expect((await as(tenant.key, 'DELETE', `${instance.app}/api/v1/account/projects/${ids['red'] ?? ''}`)).status).to.equal(204);
    expect((await as(keys['red'] ?? '', 'POST', `${base()}/search`, { query: '*' })).status).to.equal(403);
    expect(await search(tenant.key, '"secret of red"')).to.contain('secret of red');
  });
});
