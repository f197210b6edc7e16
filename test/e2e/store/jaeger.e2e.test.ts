import { expect } from 'chai';
import { createJaegerEndpoints } from '../../../api/traces/jaeger/endpoints.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { JAEGER_UI } from '../../fakes/jaeger-ui.ts';
import { insertSpans, spanId, SPANS_AT, traceId, type TestSpan } from '../../fakes/stored-spans.ts';
import { startHost } from '../../fakes/test-host.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { runtimeOver } from '../query-setup.ts';

type JaegerTrace = {
  readonly traceID: string;
  readonly spans: readonly Readonly<Record<string, unknown>>[];
  readonly processes: object;
  readonly warnings: unknown;
};
type Envelope = {
  readonly data: unknown;
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly errors: unknown;
};
type Pairs = readonly { readonly key: string; readonly value: object }[];
type ResourceSpans = {
  readonly resource: { readonly attributes: Pairs };
  readonly scopeSpans: readonly {
    readonly spans: readonly { readonly spanId: string; readonly attributes: Pairs; readonly links: readonly object[] }[];
  }[];
};
type Traces = Envelope & { readonly data: readonly JaegerTrace[] };

const ATTACKS = ["' OR 1=1 --", "\\' OR tenant_id=2 --", '{p0:UInt32}', "'); DROP TABLE spans; --", '/*', '\0', '`', 'é’', '%', '*'];
const NOW = SPANS_AT + 3_600_000_000_000n;
const US = Number(SPANS_AT / 1000n);
const DAY = { start: String(US - 43_200_000_000), end: String(US + 43_200_000_000) };
const LONG = traceId(50);

const request = (number: number, at: number): TestSpan[] => [
  { trace: traceId(number), span: spanId(1), at, took: 100, service: 'web', name: 'GET /cart', kind: 2 },
  {
    trace: traceId(number),
    span: spanId(2),
    parent: spanId(1),
    at: at + 10,
    took: 50,
    service: 'web',
    name: 'call cart',
    kind: 3,
    columns: { scope: 'http', scope_version: '1' },
  },
  // Zipkin's server shares the id of its client
  {
    trace: traceId(number),
    span: spanId(2),
    parent: spanId(1),
    at: at + 20,
    took: 30,
    service: 'cart',
    name: 'get',
    kind: 2,
    status: number % 2 === 0 ? 2 : 0,
    attributes: [['user.id', `u${String(number)}`]],
  },
  { trace: traceId(number), span: spanId(3), parent: spanId(2), at: at + 25, took: 5, service: 'cart', name: 'SELECT', kind: 0 },
];

describe("Jaeger's query API", function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let host: Awaited<ReturnType<typeof startHost>>;

  before(async () => {
    own = await LogsqlStore.start();
    await insertSpans(own.store, 1, Array.from({ length: 5 }, (_none, index) => request(index + 1, index * 1000)).flat());
    await insertSpans(own.store, 1, request(3, 2000));
    await insertSpans(own.store, 2, request(100, 500).map((span) => ({ ...span, service: 'secret' }))); // prettier-ignore
    host = await startHost({
      keys: new FakeKeyStore({ one: {}, two: { tenantId: 2 }, three: { tenantId: 3 } }),
      endpoints: createJaegerEndpoints(runtimeOver(own.store, { now: () => NOW })),
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
  ): Promise<{ readonly status: number; readonly body: Envelope; readonly text: string }> {
    const query = new URLSearchParams(given).toString();
    const response = await fetch(`${host.url}${path}?${query}`, { headers: key === '' ? {} : { Authorization: `Bearer ${key}` } });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text) as Envelope, text };
  }
  const get = async <T = Envelope>(path: string, given: Readonly<Record<string, string>> = {}, key = 'one'): Promise<T> => {
    const { status, body, text } = await call(path, given, key);
    if (status !== 200) throw new Error(`${path} answered ${String(status)}: ${text}`);
    return body as T;
  };
  const found = async (given: Readonly<Record<string, string>>): Promise<string[]> =>
    (await get<Traces>('/api/traces', { ...DAY, service: 'cart', ...given })).data.map(({ traceID }) => traceID);
  const empty = { limit: 0, offset: 0, errors: null };

  for (const base of ['/api/v1/tenants/1/jaeger', '']) {
    it(`lists services and operations at ${base || 'the root'}`, async () => {
      expect(await get(`${base}/api/services`)).to.deep.equal({ data: ['cart', 'web'], total: 2, ...empty });
      expect(await get(`${base}/api/services/cart/operations`)).to.deep.equal({ data: ['SELECT', 'get'], total: 2, ...empty });
      expect(await get(`${base}/api/operations`, { service: 'cart' })).to.deep.equal({
        data: [{ name: 'SELECT', spanKind: '' }, { name: 'get', spanKind: 'server' }], // prettier-ignore
        ...{ total: 2, ...empty },
      });
      expect(await get(`${base}/api/operations`, { service: 'cart', spanKind: 'server' })).to.deep.include({ total: 1 });
      expect(await get(`${base}/api/operations`, { service: 'cart', spanKind: 'x' })).to.deep.include({ data: [], total: 0 });
    });
  }

  it('gives a trace by its id in all its forms, each span once and with an id of its own', async () => {
    const forms = [traceId(3), traceId(3).toUpperCase(), Buffer.from(traceId(3), 'hex').toString('base64url')];
    for (const form of forms) {
      const { data, ...rest } = await get<Traces>(`/api/traces/${form}`);
      expect(rest).to.deep.equal({ total: 0, ...empty });
      expect(data).to.have.length(1);
      expect(data[0]?.spans.map(({ spanID, operationName }) => [spanID, operationName])).to.deep.equal([
        ...[[spanId(1), 'GET /cart'], [spanId(2), 'call cart']], // prettier-ignore
        ...[['0000000000000001', 'get'], [spanId(3), 'SELECT']], // prettier-ignore
      ]);
      expect(data[0]).to.deep.include({
        ...{ traceID: traceId(3), warnings: null },
        processes: { p1: { serviceName: 'web', tags: [] }, p2: { serviceName: 'cart', tags: [] } },
      });
      expect(data[0]?.spans[2]).to.deep.include({
        references: [{ refType: 'CHILD_OF', traceID: traceId(3), spanID: spanId(2) }],
        ...{ startTime: US + 2_020_000, duration: 30_000, processID: 'p2', logs: [] },
      });
    }
    const ends = { start: String(US), end: String(US) };
    expect((await get<Traces>(`/api/traces/${traceId(3)}`, ends)).data[0]?.spans).to.have.length(4);
  });

  it('never answers an unknown trace with an empty list', async () => {
    expect(await call(`/api/traces/${traceId(999)}`)).to.deep.include({
      status: 404,
      body: { data: null, total: 0, limit: 0, offset: 0, errors: [{ code: 404, msg: 'trace not found' }] },
    });
    expect(await call(`/api/traces/${traceId(100)}`)).to.include({ status: 404 });
    expect(await call(`/api/v3/traces/${traceId(100)}`)).to.deep.include({
      status: 404,
      body: { error: { httpCode: 404, message: 'No traces found' } },
    });
  });

  it('searches, newest first', async () => {
    expect(await found({})).to.deep.equal([5, 4, 3, 2, 1].map(traceId));
    expect(await found({ limit: '2' })).to.deep.equal([5, 4].map(traceId));
    expect(await found({ tags: '{"user.id":"u4"}' })).to.deep.equal([traceId(4)]);
    expect(await found({ tag: 'error:true' })).to.deep.equal([4, 2].map(traceId));
    expect(await found({ operation: 'get', minDuration: '30ms', maxDuration: '30ms' })).to.have.length(5);
    expect(await found({ minDuration: '31ms' })).to.deep.equal([]);
    expect(await found({ start: String(US + 1_000_000), end: String(US + 2_000_000) })).to.deep.equal([traceId(2)]);
    expect(await found({ start: String(US + 90e9), end: String(US + 91e9) })).to.deep.equal([]);
    const { data, errors } = await get<Traces>(`/api/traces`, { traceID: traceId(2) });
    expect([data.map(({ traceID }) => traceID), errors]).to.deep.equal([[traceId(2)], null]);
    expect(await get('/api/traces', { traceID: traceId(999) })).to.deep.include({
      data: [],
      errors: [{ msg: 'trace not found', traceID: traceId(999) }],
    });
  });

  it('has who calls whom', async () => {
    expect(await get('/api/dependencies', { endTs: String(US / 1000 + 60_000), lookback: '3600000' })).to.deep.equal({
      data: [{ parent: 'web', child: 'cart', callCount: 5 }],
      ...{ total: 0, ...empty },
    });
    expect(await get('/api/dependencies', { service: 'nosuch' })).to.deep.include({ data: [] });
    expect(await get('/api/dependencies', {}, 'three')).to.deep.include({ data: [] });
  });

  it('has version 3', async () => {
    expect(await get('/api/v3/services')).to.deep.equal({ services: ['cart', 'web'] });
    expect(await get('/api/v3/services', {}, 'three')).to.deep.equal({ services: [] });
    expect(await get('/api/v3/operations', { service: 'cart' })).to.deep.equal({
      operations: [{ name: 'SELECT', spanKind: 'internal' }, { name: 'get', spanKind: 'server' }], // prettier-ignore
    });
    const window = { 'query.start_time_min': '2026-11-18T12:00:00Z', 'query.startTimeMax': '2026-11-18T14:00:00.900+02:00' };
    const { result } = await get<{ readonly result: { readonly resourceSpans: readonly object[] } }>('/api/v3/traces', {
      ...window,
      'query.serviceName': 'cart',
    });
    // one trace begins in the first second
    expect(result.resourceSpans).to.have.length(await groupsOf(traceId(1)));
    expect(await call('/api/v3/traces', { ...window, 'query.serviceName': 'nosuch' })).to.include({ status: 404 });
    expect(await call('/api/v3/traces')).to.deep.include({
      status: 400,
      body: { error: { httpCode: 400, message: 'query.startTimeMin and query.startTimeMax are required' } },
    });
  });
  const groupsOf = async (id: string): Promise<number> =>
    (await get<{ readonly result: { readonly resourceSpans: readonly object[] } }>(`/api/v3/traces/${id}`)).result.resourceSpans.length;

  it('has version 3 as Jaeger UI takes it, whatever is in a span', async () => {
    const odd = [
      ['none', ''],
      ['nan', 'NaN'],
      ['list', '["a",null,1]'],
      ['deep', '{"arrayValue":{"values":[{},{"kvlistValue":{"values":[{"key":"k","value":{}},{"key":"d","value":{"doubleValue":"-Infinity"}}]}}]}}'], // prettier-ignore
      ['bytes', 'AAEC'],
      ['int', '9223372036854775807'],
    ] as const;
    const empty = '{"key":"e","value":{}}';
    const columns = {
      attribute_types: 'ndvoyi',
      events: `[{"timeUnixNano":"1","name":"e","attributes":[${empty}]}]`,
      links: `[{"traceId":"","spanId":""},{"traceId":"${traceId(9)}","spanId":"${spanId(9)}","attributes":[${empty}]}]`,
      context: `{"scopeAttributes":[${empty}],"scopeDropped":1}`,
      resource: '{"service.name":"odd","n":"","d":"Infinity"}',
      resource_types: 'snd',
    };
    await insertSpans(own.store, 1, [{ trace: traceId(70), span: spanId(1), parent: spanId(8), service: 'odd', attributes: odd, columns }]);
    const shown = await get<{ readonly result: { readonly resourceSpans: readonly ResourceSpans[] } }>(`/api/v3/traces/${traceId(70)}`);
    JAEGER_UI.trace(shown, '');
    const [group] = shown.result.resourceSpans;
    const [only] = group?.scopeSpans[0]?.spans ?? [];
    expect(only?.attributes.map(({ value }) => value)).to.deep.equal([
      { stringValue: '' },
      { stringValue: 'NaN' },
      { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: '' }, { intValue: '1' }] } },
      { arrayValue: { values: [{ stringValue: '' }, { kvlistValue: { values: [{ key: 'k', value: { stringValue: '' } }, { key: 'd', value: { stringValue: '-Infinity' } }] } }] } }, // prettier-ignore
      { bytesValue: 'AAEC' },
      { intValue: '9223372036854775807' },
      { arrayValue: { values: [{ stringValue: `parent span ID=${spanId(8)} is not in the trace; skipping clock skew adjustment` }] } },
    ]);
    expect([only?.links.length, group?.resource.attributes.map(({ value }) => value)]).to.deep.equal([
      1,
      [{ stringValue: 'odd' }, { stringValue: '' }, { stringValue: 'Infinity' }],
    ]);
    const raw = await get<typeof shown>(`/api/v3/traces/${traceId(70)}`, { raw_traces: 'true' });
    expect(raw.result.resourceSpans[0]?.scopeSpans[0]?.spans[0]?.attributes).to.have.length(6);
    expect(await call(`/api/v3/traces/${traceId(70)}`, { rawTraces: 'x' })).to.include({ status: 400 });
  });

  it('gives ids of their own in version 3, too, unless spans are asked for as they were sent', async () => {
    const ids = async (given: Readonly<Record<string, string>>): Promise<string[]> => {
      const { result } = await get<{ readonly result: { readonly resourceSpans: readonly ResourceSpans[] } }>(
        `/api/v3/traces/${traceId(3)}`,
        given,
      );
      JAEGER_UI.trace({ result }, '');
      return result.resourceSpans
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(({ spanId: one }) => one)))
        .sort();
    };
    expect(new Set(await ids({})).size).to.equal(4);
    expect(new Set(await ids({ rawTraces: 'true' })).size).to.equal(3);
  });

  it('has summaries of traces, and who calls whom, as Jaeger UI takes them', async () => {
    const window = { 'query.startTimeMin': '2026-11-18T12:00:00Z', 'query.startTimeMax': '2026-11-18T13:00:00Z' };
    const found = await get<{ readonly summaries: readonly object[] }>('/api/v3/trace-summaries', { ...window, 'query.serviceName': 'cart', 'query.searchDepth': '2' }); // prettier-ignore
    JAEGER_UI.summaries(found, '');
    expect(found.summaries[1]).to.deep.equal({
      ...{
        traceId: traceId(4),
        rootServiceName: 'web',
        rootOperationName: 'GET /cart',
        spanCount: 4,
        errorSpanCount: 1,
        orphanSpanCount: 0,
      },
      ...{ minStartTimeUnixNano: String(SPANS_AT + 3_000_000_000n), maxEndTimeUnixNano: String(SPANS_AT + 3_100_000_000n) },
      services: [
        { name: 'cart', spanCount: 2, errorSpanCount: 1 },
        { name: 'web', spanCount: 2, errorSpanCount: 0 },
      ],
    });
    const odd = await get<typeof found>('/api/v3/trace-summaries', { ...window, 'query.serviceName': 'odd' });
    expect(odd.summaries[0]).to.deep.include({ orphanSpanCount: 1 });
    expect(await get('/api/v3/trace-summaries', { ...window, 'query.serviceName': 'none' })).to.deep.equal({ summaries: [] });
    expect(await call('/api/v3/trace-summaries')).to.include({ status: 400 });
    const dependencies = await get('/api/v3/dependencies', { startTime: '2026-11-18T11:00:00Z', end_time: '2026-11-18T13:00:00Z' });
    JAEGER_UI.dependencies(dependencies, '');
    expect(dependencies).to.deep.equal({ dependencies: [{ parent: 'web', child: 'cart', callCount: '5' }] });
    expect(await call('/api/v3/dependencies', { startTime: 'x' })).to.include({ status: 400 });
    JAEGER_UI.services(await get('/api/v3/services'), '');
    JAEGER_UI.operations(await get('/api/v3/operations', { service: 'cart' }), '');
    expect(await get('/api/v3/operations')).to.deep.equal({ operations: [] });
  });

  it('calls the service of spans without one as Jaeger does', async () => {
    await insertSpans(own.store, 3, [
      { trace: traceId(80), span: spanId(1), service: '', name: 'op', columns: { resource: '{}', resource_types: '' } },
    ]);
    const name = 'missing-service-name';
    expect(await get('/api/services', {}, 'three')).to.deep.include({ data: [name] });
    expect(await get(`/api/services/${name}/operations`, {}, 'three')).to.deep.include({ data: ['op'] });
    const { data } = await get<Traces>('/api/traces', { ...DAY, service: name }, 'three');
    expect(data[0]?.processes).to.deep.equal({ p1: { serviceName: name, tags: [] } });
  });

  it('finds summaries by parameters in camel and in snake case, and of a trace whose root has not come', async () => {
    const [start, end] = ['2026-11-18T00:00:00Z', '2026-11-19T00:00:00Z'];
    const camel = { 'query.serviceName': 'web', 'query.startTimeMin': start, 'query.startTimeMax': end, 'query.searchDepth': '2' };
    const snake = { 'query.service_name': 'cart', 'query.span_name': 'get', 'query.start_time_min': start, 'query.start_time_max': end };
    const of = async (more: Readonly<Record<string, string>>): Promise<unknown[]> =>
      (await get<{ readonly summaries: readonly Readonly<Record<string, unknown>>[] }>('/api/v3/trace-summaries', { ...snake, ...more })).summaries.map(({ traceId: id }) => id); // prettier-ignore
    expect(await of({ 'query.num_traces': '1' })).to.deep.equal([traceId(5)]);
    expect(await of({ 'query.attributes': '{"user.id":"u3"}' })).to.deep.equal([traceId(3)]);
    expect(await of({ 'query.duration_min': '1s' })).to.deep.equal([]);
    // sent twice
    await insertSpans(own.store, 3, [...request(9, 0).slice(1), ...request(9, 0).slice(1)]);
    const partial = await get<{ readonly summaries: readonly object[] }>('/api/v3/trace-summaries', camel, 'three');
    expect(partial.summaries[0]).to.include({ spanCount: 3, orphanSpanCount: 2, rootServiceName: 'web', rootOperationName: 'call cart' });
  });

  it('takes raw, and the window of a trace', async () => {
    const spans = async (raw: string): Promise<unknown[]> =>
      (await get<Traces>(`/api/traces/${traceId(3)}`, { raw })).data[0]?.spans.map(({ spanID }) => spanID) ?? [];
    expect(new Set(await spans('true')).size).to.equal(3);
    expect(new Set(await spans('f')).size).to.equal(4);
    expect((await call(`/api/traces/${traceId(3)}`, { raw: 'x' })).body.errors).to.deep.equal([
      { code: 400, msg: `unable to parse param 'raw': strconv.ParseBool: parsing "x": invalid syntax` },
    ]);
    expect(await call(`/api/traces/${traceId(3)}`, { start: 'x' })).to.include({ status: 400 });
    expect(await found({ maxDuration: '-5ms' })).to.deep.equal([]);
    expect((await call('/api/traces', { service: 'cart', tags: '{' })).body.errors).to.deep.equal([
      { code: 400, msg: "malformed 'tags' parameter, cannot unmarshal JSON: unexpected end of JSON input" },
    ]);
  });

  it('refuses in its own envelope what it cannot understand, and who has no key', async () => {
    expect(await call('/api/traces')).to.deep.include({
      status: 400,
      body: { data: null, total: 0, limit: 0, offset: 0, errors: [{ code: 400, msg: "parameter 'service' is required" }] },
    });
    expect(await call('/api/traces/xyz')).to.include({ status: 400 });
    expect((await call('/api/services', {}, '')).body.errors).to.have.nested.property('[0].code', 401);
    expect(await call('/api/v1/tenants/2/jaeger/api/services')).to.include({ status: 403 });
    expect(await call('/api/v3/services', {}, 'nobody')).to.have.nested.property('body.error.httpCode', 403);
  });

  it('shows a tenant its own alone, whatever is asked for', async () => {
    expect(await get('/api/services', {}, 'two')).to.deep.include({ data: ['secret'] });
    for (const text of ['secret', ...ATTACKS]) {
      for (const given of [{ service: text }, { operation: text }, { tag: `${text}:x` }, { tags: JSON.stringify({ 'user.id': text }) }])
        expect(await found(given), JSON.stringify(given)).to.deep.equal([]);
      for (const name of ['start', 'end', 'limit', 'minDuration', 'tags', 'traceID'])
        expect((await call('/api/traces', { ...DAY, service: 'web', [name]: text })).status, name + text).to.equal(400);
      expect(await get(`/api/services/${encodeURIComponent(text)}/operations`)).to.deep.include({ data: [] });
      expect(await get('/api/operations', { service: text })).to.deep.include({ data: [] });
      expect((await call(`/api/traces/${encodeURIComponent(text)}`)).status).to.equal(400);
    }
  });

  it('shows cyclic parents, and a trace with more spans than are held', async () => {
    const cycle = [1, 2].map((index): TestSpan => ({
      trace: traceId(60),
      span: spanId(index),
      parent: spanId(3 - index),
      service: 'cycle',
    }));
    await insertSpans(own.store, 1, cycle);
    expect((await get<Traces>(`/api/traces/${traceId(60)}`)).data[0]?.spans).to.have.length(2);
    await insertSpans(own.store, 3, Array.from({ length: 11_000 }, (_none, index): TestSpan => ({ trace: LONG, span: spanId(index), at: index, service: 'many' }))); // prettier-ignore
    const { data } = await get<Traces>('/api/traces', { ...DAY, service: 'many' }, 'three');
    expect([data.length, data[0]?.spans.length, data[0]?.traceID]).to.deep.equal([1, 11_000, LONG]);
  });
});
