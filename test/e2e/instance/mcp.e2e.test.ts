import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { HOSTILE_LINES } from '../../mcp/hostile-lines.ts';
import { apart, call, dataOf, httpClient, stdioClient } from '../../mcp/mcp-client.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

type Tenant = { readonly id: number; readonly key: string };
const ROOT = path.resolve(import.meta.dirname, '../../..');
type Settings = { readonly url?: string; readonly headers?: Record<string, string>; readonly command?: string; readonly args?: string[]; readonly env?: Record<string, string> }; // prettier-ignore
const DESCRIPTION = path.resolve(import.meta.dirname, '../../../docs/openapi.json');
const ENTRIES = 400;
const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** A call of each tool, with what a client without data can send. */
const CALLS: readonly (readonly [name: string, given: Readonly<Record<string, unknown>>, status: number])[] = [
  ['search_logs', { query: 'service:web', limit: 5 }, 200],
  ['explain_query', { query: 'service:web | stats count()' }, 200],
  ['count_logs', { query: '*', step: '1h', fields_by: ['level'] }, 200],
  ['list_facets', { query: '*' }, 200],
  ['list_streams', {}, 200],
  ['list_patterns', { since: '-1h' }, 200],
  ['get_pattern', { fingerprint: 'f'.repeat(64) }, 404],
  ['diff_patterns', { a: '-2h..-1h', b: '-1h..now' }, 200],
  ['list_alerts', {}, 200],
  ['get_alert', { alert_id: 12_345 }, 404],
  ['list_incidents', {}, 200],
  ['get_incident', { incident_id: 12_345 }, 404],
  ['list_playbooks', {}, 200],
  ['get_playbook', { playbook_id: "x' OR 1=1 --" }, 404],
  ['search_spans', { query: '*' }, 200],
  ['list_traces', { service: 'web' }, 200],
  ['get_trace', { trace_id: TRACE }, 200],
  ['trace_logs', { trace_id: TRACE }, 200],
  ['list_services', {}, 200],
  ['service_map', {}, 200],
  ['promql', { query: 'vector(1)' }, 200],
  ['promql_range', { query: 'vector(1)', start: 1_700_000_000, end: 1_700_000_600, step: '60s' }, 200],
  ['metric_labels', {}, 200],
  ['metric_label_values', { name: '__name__' }, 200],
  ['metric_metadata', {}, 200],
  ['list_sessions', {}, 200],
  ['get_session', { session: 'none' }, 404],
  ['session_logs', { session: 'none' }, 404],
  ['session_traces', { session: 'none' }, 404],
  ['resolve_alert', { alert_id: 12_345, note: 'a test' }, 404],
];

describe('the MCP server', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Tenant;
  let client: Client;
  const open: Client[] = [];
  const opened = async (made: Promise<Client>): Promise<Client> => {
    const one = await made;
    open.push(one);
    return one;
  };
  const keyOf = async ({ id }: Tenant, scopes: readonly string[]): Promise<string> => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const { body } = await instance.call('POST', `${instance.admin}/admin/tenants/${String(id)}/keys`, { scopes }, { Authorization: `Bearer ${token}` }); // prettier-ignore
    const { key } = body as { readonly key: string };
    // a key is known to the app host a moment after it was made
    const own = { Authorization: `Bearer ${key}` };
    const look = async (): Promise<string> =>
      JSON.stringify((await instance.call('GET', `${instance.app}/openapi.json`, undefined, own)).body).slice(0, 100);
    await until('the key', look, (seen) => !seen.includes('not known'));
    return key;
  };
  const send = async ({ key }: Tenant, lines: readonly object[]): Promise<void> => {
    const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, lines, { Authorization: `Bearer ${key}` });
    expect(status).to.equal(200);
  };
  const countOf = async ({ id, key }: Tenant, query: string): Promise<number> => {
    const url = `${instance.app}/api/v1/tenants/${String(id)}/search`;
    const { body } = await instance.call('POST', url, { query, limit: 10_000 }, { Authorization: `Bearer ${key}` });
    return (body as { readonly count: number }).count;
  };

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    client = await opened(httpClient(instance.app, tenant.key));
    await send(
      tenant,
      Array.from({ length: ENTRIES }, (_, at) => ({ _msg: `GET /cart/${String(at)} took ${String(at)} ms`, service: 'web', at, trace_id: TRACE })), // prettier-ignore
    );
    await send(tenant, HOSTILE_LINES.map((line, at) => ({ _msg: line, service: 'hostile', at, level: 'error', note: line }))); // prettier-ignore
    const span = { traceId: TRACE, spanId: '00f067aa0ba902b7', name: 'GET /cart', startTimeUnixNano: String(BigInt(Date.now()) * 1_000_000n), endTimeUnixNano: String(BigInt(Date.now() + 5) * 1_000_000n) }; // prettier-ignore
    const spans = { resourceSpans: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: 'web' } }] }, scopeSpans: [{ spans: [span] }] }] }; // prettier-ignore
    await instance.call('POST', `${instance.ingest}/v1/traces`, spans, { Authorization: `Bearer ${tenant.key}` });
    await until('the trace', () => call(client, 'get_trace', { trace_id: TRACE }), ({ isError }) => !isError); // prettier-ignore
    await until('the entries', () => countOf(tenant, '*'), (count) => count === ENTRIES + HOSTILE_LINES.length); // prettier-ignore
  });
  after(() => Promise.all(open.map((one) => one.close())));

  it('lists a tool for each of these calls, with the parameters of its operation', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.have.members(CALLS.map(([name]) => name));
    const { paths } = JSON.parse(readFileSync(DESCRIPTION, 'utf8')) as {
      paths: Record<string, Record<string, { parameters: { name: string }[] }>>;
    };
    const alerts = tools.find(({ name }) => name === 'list_alerts');
    const described = paths['/api/v1/tenants/{tenant_id}/alerts']?.['get']?.parameters.map(({ name }) => name) ?? [];
    expect(Object.keys(alerts?.inputSchema.properties ?? {})).to.have.members([
      ...described.filter((name) => name !== 'tenant_id'),
      'max_characters',
      'from_character',
    ]);
    for (const { name, annotations, inputSchema } of tools) {
      expect(annotations?.readOnlyHint, name).to.equal(name !== 'resolve_alert');
      for (const property of Object.keys(inputSchema.properties ?? {})) expect(property, name).to.match(/^[a-zA-Z0-9_.-]{1,64}$/);
    }
  });

  for (const [name, given, status] of CALLS)
    it(`answers ${name} with what the endpoint behind it answers`, async () => {
      const answer = await call(client, name, given);
      expect(answer.isError, answer.text).to.equal(status !== 200);
      if (status === 200) expect(answer.outer).to.contain(`of the answer of ${name}.`);
      else expect(answer.outer).to.contain(`The API answered ${String(status)}.`);
    });

  it('has the same entries as the endpoint', async () => {
    const { logs } = (dataOf(await call(client, 'search_logs', { query: 'service:web', limit: 1000, max_characters: 100_000 })) as { logs: { at: number }[] }); // prettier-ignore
    expect(logs.map(({ at }) => at).sort((a, b) => a - b)).to.deep.equal(Array.from({ length: ENTRIES }, (_, at) => at));
  });

  it('pages through an answer that is cut, and the pages together are the whole', async () => {
    const given = { query: 'service:web', limit: 1000 };
    const whole = await call(client, 'search_logs', { ...given, start: '-1h', end: 'now', max_characters: 100_000 });
    const { window } = dataOf(whole) as { window: { start: string; end: string } };
    let pages = '';
    let next: Record<string, unknown> | null = window;
    for (let count = 0; next !== null && count < 100; count += 1) {
      const page = await call(client, 'search_logs', { ...given, ...next, max_characters: 5000 });
      expect(page.text.length).to.be.lessThan(6500);
      pages += page.inner;
      const cut = /the same arguments and (\{.*?\});/.exec(page.outer)?.[1];
      next = cut === undefined ? null : (JSON.parse(cut) as Record<string, unknown>);
      if (next !== null) expect(next).to.include.keys('from_character', 'start', 'end');
    }
    const { logs } = JSON.parse(pages) as { logs: object[] };
    expect(logs).to.deep.equal((dataOf(whole) as { logs: object[] }).logs);
  });

  it('keeps hostile lines inside of the marked data, whatever tool shows them', async () => {
    const marks = new Set<string>();
    const calls: [string, Record<string, unknown>][] = [
      ['search_logs', { query: 'service:hostile', limit: 100, max_characters: 100_000 }],
      ['list_facets', { query: 'service:hostile', limit: 50, max_characters: 100_000 }],
      ['count_logs', { query: 'service:hostile', step: '1d', fields_by: ['note'], max_characters: 100_000 }],
      ['explain_query', { query: `note:=${JSON.stringify(HOSTILE_LINES[5])}` }],
      ...HOSTILE_LINES.map((line): [string, Record<string, unknown>] => ['search_logs', { query: `${line} |`, limit: 1 }]),
    ];
    for (const [name, given] of calls) {
      const { text, inner, outer } = await call(client, name, given);
      marks.add(/<untrusted-data ([0-9a-f]{24})>/.exec(text)?.[1] ?? '');
      for (const line of HOSTILE_LINES) {
        expect(outer, name).not.to.contain(line);
        for (const word of line.match(/[A-Za-z]{9,}/g) ?? []) if (!['untrusted', 'arguments'].includes(word)) expect(outer, name).not.to.contain(word); // prettier-ignore
      }
      // oxlint-disable-next-line no-control-regex
      expect(inner, name).not.to.match(/[\u0000-\u0008\u000b-\u001f\u200b-\u200f\u2028-\u202e\u2060-\u206f]|\udb40/);
    }
    expect(marks.size).to.equal(calls.length);
    const found = await call(client, 'search_logs', { query: 'service:hostile', limit: 100, max_characters: 100_000 });
    const messages = (dataOf(found) as { logs: { at: number; note: string }[] }).logs.sort((a, b) => a.at - b.at).map(({ note }) => note); // prettier-ignore
    expect(messages).to.deep.equal(HOSTILE_LINES);
  });

  it('answers wrong arguments with a sentence', async () => {
    const cases: [string, Record<string, unknown>, RegExp][] = [
      ['search_logs', { query: 'service:(' }, /answered 400/],
      ['search_logs', { query: 'a', nonsense: 1 }, /answered 400.*has no argument/s],
      ['search_logs', { query: { deep: { er: 1 } } }, /answered 400/],
      ['search_logs', { query: "' OR 1=1; DROP TABLE logs --", explain: true }, /has no argument/],
      ['get_alert', { alert_id: '../../2/alerts' }, /answered 400/],
      ['get_alert', {}, /The argument alert_id is required/],
      ['get_alert', { alert_id: [1, 2] }, /must be a string, a number or a boolean/],
      ['list_alerts', { limit: 1e9 }, /answered 400/],
      ['list_alerts', { max_characters: 1e9 }, /max_characters must be an integer from 500 to 100000/],
      ['list_alerts', { from_character: -1 }, /from_character must be/],
      ['list_alerts', { tenant_id: 1 }, /has no argument/],
      ['promql', { query: 'sum(' }, /answered 400/],
      ['list_alerts', JSON.parse('{"__proto__": {"limit": 5}, "constructor": 1}') as Record<string, unknown>, /has no argument/],
    ];
    for (const [name, given, pattern] of cases) {
      const { text, isError } = await call(client, name, given);
      expect(isError, text).to.equal(true);
      expect(text).to.match(pattern);
    }
    expect(await call(client, 'drop_tables').catch((error: unknown) => String(error))).to.match(/no tool of this name/);
  });

  it('shows another tenant nothing, by no id', async () => {
    const other = await newTenant(instance);
    const stranger = await opened(httpClient(instance.app, other.key));
    const { logs } = dataOf(await call(stranger, 'search_logs', { query: '*' })) as { logs: object[] };
    expect(logs).to.deep.equal([]);
    for (const name of ['get_trace', 'trace_logs']) {
      expect((await call(client, name, { trace_id: TRACE })).isError).to.equal(false);
      const { text, isError } = await call(stranger, name, { trace_id: TRACE });
      expect(isError, name).to.equal(true);
      expect(text).to.contain('The API answered 404.');
    }
  });

  it('has no tool that changes something for a key that reads', async () => {
    const reader = await opened(httpClient(instance.app, await keyOf(tenant, ['read'])));
    const { tools } = await reader.listTools();
    expect(tools.map(({ name }) => name)).not.to.include('resolve_alert');
    expect(await call(reader, 'resolve_alert', { alert_id: 1 }).catch((error: unknown) => String(error))).to.match(/lacks its scope/);
  });

  it('refuses as other paths do: keys, scopes, origins, methods, bodies', async () => {
    const url = `${instance.app}/mcp`;
    const types = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const statusOf = async (headers: Record<string, string>, body: unknown = ping, method = 'POST'): Promise<number> =>
      (await instance.call(method, url, method === 'GET' ? undefined : body, { Authorization: `Bearer ${tenant.key}`, ...types, ...headers })).status; // prettier-ignore
    expect(await statusOf({})).to.equal(200);
    expect(await statusOf({ Authorization: 'Bearer no_such_key' })).to.equal(403);
    expect(await statusOf({ Authorization: '' })).to.equal(401);
    expect(await statusOf({ Authorization: `Bearer ${await keyOf(tenant, ['ingest'])}` })).to.equal(403);
    expect(await statusOf({ Origin: 'http://evil.example' })).to.equal(403);
    expect(await statusOf({ Origin: 'null' })).to.equal(403);
    expect(await statusOf({}, ping, 'GET')).to.equal(405);
    expect(await statusOf({}, undefined, 'DELETE')).to.equal(405);
    expect(await statusOf({ Accept: 'application/json' })).to.equal(406);
    expect(await statusOf({ 'Content-Type': 'text/plain' })).to.equal(415);
    expect(await statusOf({}, [ping, ping])).to.equal(400);
    expect(await statusOf({}, '{"jsonrpc":')).to.equal(400);
    expect(await statusOf({}, '')).to.equal(400);
    expect(await statusOf({}, 7)).to.equal(400);
    expect(await statusOf({}, '['.repeat(100_000))).to.equal(400);
    expect(await statusOf({}, JSON.stringify({ ...ping, params: 'x'.repeat(140_000) }))).to.equal(413);
    expect(await statusOf({}, { jsonrpc: '2.0', method: 'notifications/initialized' })).to.equal(202);
    expect((await instance.call('POST', `${instance.ingest}/mcp`, ping, types)).status).to.equal(404);
  });

  it('takes no cookie: neither of a page of its own host nor without an origin', async () => {
    const begun = await instance.call('POST', `${instance.app}/api/v1/session`, { key: tenant.key });
    const cookie = begun.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    expect([begun.status, cookie]).to.satisfy(([status, text]: [number, string]) => status < 300 && text.includes('='));
    const ask = async (headers: Record<string, string>): Promise<number> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      const own = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', cookie, ...headers };
      return (await fetch(`${instance.app}/mcp`, { method: 'POST', headers: own, body })).status;
    };
    expect(await ask({ origin: instance.app })).to.equal(403);
    expect(await ask({ origin: 'http://elsewhere.example' })).to.equal(403);
    expect(await ask({})).to.be.oneOf([401, 403]);
    expect(await ask({ authorization: `Bearer ${tenant.key}`, cookie: '' })).to.equal(200);
  });

  it('is the same over standard input and output', async () => {
    const env = { ...instance.env, LOGWEIR_URL: instance.app, LOGWEIR_API_KEY: tenant.key };
    const stdio = await opened(stdioClient(env));
    expect((await stdio.listTools()).tools).to.deep.equal((await client.listTools()).tools);
    expect(stdio.getInstructions()).to.match(/untrusted data/);
    for (const [name, given, status] of CALLS) {
      const answer = await call(stdio, name, given);
      expect(answer.isError, answer.text).to.equal(status !== 200);
    }
    const { inner } = apart((await call(stdio, 'search_logs', { query: 'service:hostile at:4' })).text);
    expect((JSON.parse(inner) as { logs: { note: string }[] }).logs.map(({ note }) => note)).to.deep.equal([HOSTILE_LINES[4]]);
  });

  it('takes the settings of clients that docs/ai.md has', async () => {
    const page = readFileSync(path.join(ROOT, 'docs/ai.md'), 'utf8').replaceAll('http://127.0.0.1:8080', instance.app).replace(/(?<="|Bearer )KEY(?=")/g, tenant.key); // prettier-ignore
    const settings = [...page.matchAll(/```json\n([\s\S]*?)\n```/g)].map(([, json = '']) => (JSON.parse(json) as { mcpServers: { logweir: Settings } }).mcpServers.logweir); // prettier-ignore
    expect(settings).to.have.lengthOf(2);
    for (const { url, headers, command, args = [], env } of settings) {
      const one = new Client({ name: 'logweir-test', version: '1.0.0' });
      open.push(one);
      const variables = {
        ...getDefaultEnvironment(),
        ...(instance.env['LOGWEIR_NODE'] === undefined ? {} : { LOGWEIR_NODE: instance.env['LOGWEIR_NODE'] }),
        ...env,
      };
      if (url !== undefined)
        await one.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: headers ?? {} } }));
      else await one.connect(new StdioClientTransport({ command: command ?? '', args, env: variables, cwd: ROOT, stderr: 'ignore' }));
      expect((await one.listTools()).tools).to.have.lengthOf(CALLS.length);
    }
  });

  it('passes a refused key on as an error of the protocol', async () => {
    const env = { ...instance.env, LOGWEIR_URL: instance.app, LOGWEIR_API_KEY: 'no_such_key' };
    expect(await opened(stdioClient(env)).catch((error: unknown) => String(error))).to.match(/The API key is not known/);
    const nowhere = { ...env, LOGWEIR_URL: 'http://127.0.0.1:9' };
    expect(await opened(stdioClient(nowhere)).catch((error: unknown) => String(error))).to.match(/No service answers/);
  });
});
