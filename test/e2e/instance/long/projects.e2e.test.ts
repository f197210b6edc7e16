import { expect } from 'chai';
import WebSocket from 'ws';
import { once } from 'node:events';
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
      60_000,
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
      'patterns',
      'alerts',
      'incidents',
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
    const socket = new WebSocket(`${instance.app.replace('http', 'ws')}/ws/alerts/${String(tenant.id)}`, [`logweir.bearer.${red}`]);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).to.equal(403);
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
      30_000,
    );
    for (const name of ['blue', 'red'])
      await as(keys[name] ?? '', 'POST', `${instance.ingest}/api/v1/ingest`, JSON.stringify({ _msg: `live of ${name}` }));
    await until(
      'the entry',
      () => Promise.resolve(seen.some((text) => text.includes('live of red'))),
      (is) => is,
      30_000,
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
