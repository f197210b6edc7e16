import { expect } from 'chai';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { Plan } from '../../../api/tenants/plans.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { createTraceRoutes } from '../../../api/traces/routes.ts';
import { sql } from '../../../pipeline/core/sql.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { FakeKeyStore, fakePrincipal } from '../../fakes/key-store.ts';
import { insertSpans, spanId, SPANS_AT, traceId, type TestSpan } from '../../fakes/stored-spans.ts';
import { startHost } from '../../fakes/test-host.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { at, runtimeOver } from '../query-setup.ts';

type Summary = Readonly<Record<string, unknown>> & { readonly trace_id: string };
type Listed = { readonly traces: readonly Summary[]; readonly next_cursor: string | null };
type Answer = { readonly status: number; readonly text: string };
type Otlp = {
  readonly resourceSpans: readonly {
    readonly resource: unknown;
    readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: readonly Readonly<Record<string, unknown>>[] }[];
  }[];
};

/** Texts that would end a literal or a statement, or name a parameter, if they became text of it. */
const ATTACKS = ["' OR 1=1 --", "\\' OR tenant_id=2 --", '{p0:UInt32}', "'); DROP TABLE spans; --", '/*', '\0', '`', 'é’', '%', '*'];
const DAY = { start: '2026-11-18T00:00:00Z', end: '2026-11-19T00:00:00Z' };
const NOW = SPANS_AT + 3_600_000_000_000n;

/** A request through two services, which takes 100 ms. */
const request = (number: number, at: number, more: Partial<TestSpan> = {}): TestSpan[] => [
  { trace: traceId(number), span: spanId(1), at, took: 100, service: 'web', name: 'GET /cart', kind: 2, ...more },
  { trace: traceId(number), span: spanId(2), parent: spanId(1), at: at + 10, took: 50, service: 'web', name: 'call cart', kind: 3 },
  {
    trace: traceId(number),
    span: spanId(3),
    parent: spanId(2),
    at: at + 20,
    took: 30,
    service: 'cart',
    name: 'get',
    kind: 2,
    status: number % 2 === 0 ? 2 : 0,
    attributes: [
      ['user.id', `u${String(number)}`],
      ['n', String(number), 'i'],
    ],
    resource: [
      ['service.name', 'cart'],
      ['host.name', `h${String(number % 3)}`],
      // too long for a dictionary
      ...(number === 8 ? [['process.command_line', COMMAND_LINE] as const] : []),
    ],
  },
];

const COMMAND_LINE = `java -cp ${'a.jar:'.repeat(800)}`;

describe('traces that are read', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let owners: Store;
  let stop: () => Promise<void>;
  const urls: string[] = [];

  before(async () => {
    own = await LogsqlStore.start();
    await insertSpans(own.store, 1, Array.from({ length: 9 }, (_none, index) => request(index + 1, index * 1000)).flat());
    // sent again, in another part, the last time with another status and time
    await insertSpans(own.store, 1, request(4, 3000));
    await insertSpans(own.store, 1, [{ ...(request(5, 4000)[0] as TestSpan), status: 2, took: 120, arrived: 60_000 }]);
    await insertSpans(own.store, 2, request(100, 500, { service: 'secret', name: 'hidden' }));
    owners = own.withoutRowFilter();
    const short = { plan: { ...fakePrincipal().plan, retentionDays: 1 } satisfies Plan };
    const keys = new FakeKeyStore({
      ...{ one: {}, two: { tenantId: 2 }, short },
      writer: { scopes: new Set<Scope>(['ingest']) },
    });
    // the second one without the wall of the engine: what is seen there is what statements alone let through
    const hosts = await Promise.all(
      [own.store, owners].map((store) =>
        startHost({ keys, endpoints: createTraceRoutes(runtimeOver(store, { now: () => NOW })).map((route) => appEndpoint(route)) }),
      ),
    );
    urls.push(...hosts.map(({ url }) => url));
    stop = async () => {
      await Promise.all(hosts.map((host) => host.stop()));
      await owners.close();
    };
  });
  after(async () => {
    await stop();
    await own.stop();
  });

  async function call(path: string, given: Readonly<Record<string, string>> = {}, key = 'one', tenant = 1, url = urls[0]): Promise<Answer> {
    const query = new URLSearchParams(given).toString();
    const response = await fetch(`${String(url)}/api/v1/tenants/${String(tenant)}/${path}?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    return { status: response.status, text: await response.text() };
  }
  async function get<T>(path: string, given: Readonly<Record<string, string>> = {}, key = 'one', tenant = 1, url = urls[0]): Promise<T> {
    const { status, text } = await call(path, given, key, tenant, url);
    if (status !== 200) throw new Error(`${path} answered ${String(status)}: ${text}`);
    return JSON.parse(text) as T;
  }
  /** The numbers of the traces that are found. */
  const found = async (given: Readonly<Record<string, string>>): Promise<number[]> =>
    (await get<Listed>('traces', { ...DAY, ...given })).traces.map(({ trace_id: id }) => parseInt(id.slice(1), 16));

  it('lists traces newest first, a span that was sent twice once', async () => {
    const { traces } = await get<Listed>('traces', DAY);
    expect(traces.map(({ trace_id: id }) => id)).to.deep.equal([9, 8, 7, 6, 5, 4, 3, 2, 1].map(traceId));
    expect(traces[0]).to.deep.equal({
      ...{ trace_id: traceId(9), root_service: 'web', root_operation: 'GET /cart', has_root: true, start: '2026-11-18T12:00:08Z' },
      ...{ duration: 100_000_000, spans: 3, errors: 0, services: ['cart', 'web'] },
    });
    expect(traces[5]).to.include({ spans: 3, errors: 1 });
    expect(traces[4]).to.include({ spans: 3, errors: 1, duration: 120_000_000 });
  });

  it('narrows down by what a span is', async () => {
    expect(await found({ service: 'cart', status: 'error' })).to.deep.equal([8, 6, 4, 2]);
    expect(await found({ service: 'web', operation: 'GET /cart', min_duration: '110ms' })).to.deep.equal([5]);
    expect(await found({ service: 'web', max_duration: '60ms', kind: 'client', limit: '2' })).to.deep.equal([9, 8]);
    expect(await found({ tag: 'user.id:u7' })).to.deep.equal([7]);
    expect(await found({ tags: '{"n":3,"user.id":"u3"}' })).to.deep.equal([3]);
    expect(await found({ tags: '{"n":3,"user.id":"u4"}' })).to.deep.equal([]);
    expect(await found({ service: 'cart', tag: 'host.name:h1' })).to.deep.equal([7, 4, 1]);
    expect(await found({ service: 'cart', tag: 'host.name:h1', end: '2026-11-18T12:00:06.5Z' }), 'no long one').to.deep.equal([7, 4, 1]);
    expect(await found({ tag: 'resource.host.name:h2' })).to.deep.equal([8, 5, 2]);
    expect(await found({ tag: 'resource.host.name:h2', end: '2026-11-18T12:00:06.5Z' })).to.deep.equal([5, 2]);
    expect(await found({ service: 'cart', tag: 'host.name:h2' })).to.deep.equal([8, 5, 2]);
    expect(await found({ tag: `resource.process.command_line:${COMMAND_LINE}` })).to.deep.equal([8]);
    expect(await found({ service: 'web', tag: 'error:true' })).to.deep.equal([5]);
    expect(await found({ tag: 'span.kind:consumer' })).to.deep.equal([]);
    expect(await found({ service: 'nosuch' })).to.deep.equal([]);
    expect(await found({ start: '2026-11-18T12:00:02Z', end: '2026-11-18T12:00:03Z' })).to.deep.equal([4, 3]);
  });

  it('goes on from page to page, each trace once', async () => {
    for (const given of [{}, { service: 'web' }, { service: 'cart', status: 'error' }] as Readonly<Record<string, string>>[]) {
      const ids: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Listed = await get<Listed>('traces', { ...DAY, ...given, limit: '2', ...(cursor === null ? {} : { cursor }) });
        ids.push(...page.traces.map(({ trace_id: id }) => id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      const all = (await get<Listed>('traces', { ...DAY, ...given })).traces.map(({ trace_id: id }) => id);
      expect(ids, JSON.stringify(given)).to.deep.equal(all);
    }
  });

  it('gives the last copy of each span, by ids in any case', async () => {
    const trace = await get<Otlp>(`traces/${traceId(5).toUpperCase()}`);
    const spans = trace.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    expect(spans.map(({ spanId: id }) => id).sort()).to.deep.equal([1, 2, 3].map(spanId));
    expect(spans[0]).to.deep.include({
      status: { code: 2 },
      startTimeUnixNano: String(SPANS_AT + 4_000_000_000n),
      endTimeUnixNano: String(SPANS_AT + 4_120_000_000n),
    });
    expect(spans[2]).to.have.deep.property('attributes', [
      { key: 'user.id', value: { stringValue: 'u5' } },
      { key: 'n', value: { intValue: '5' } },
    ]);
  });

  it('keeps every member with its type', async () => {
    const attributes = [['s', 'a"\n'], ['b', 'true', 'b'], ['i', '9223372036854775807', 'i'], ['d', '1.5', 'd'], ['nan', 'NaN', 'd'], ['y', 'AQI=', 'y'], ['v', '["a",2,{"k":1.0,"n":null}]', 'v'], ['o', '{"arrayValue":{"values":[{"bytesValue":"AQ=="}]}}', 'o'], ['n', '', 'n'], ['1', 'one']] as const; // prettier-ignore
    const context = JSON.stringify({
      resourceSchemaUrl: 'r',
      resourceDropped: 1,
      scopeAttributes: [{ key: 'x', value: { stringValue: 'y' } }],
      scopeDropped: 2,
      scopeSchemaUrl: 's',
    });
    const events = '[{"timeUnixNano":"1","name":"e"}]';
    const links = `[{"traceId":"${traceId(1)}","spanId":"${spanId(1)}"}]`;
    const columns = {
      status_message: 'no',
      trace_state: 'a=b',
      flags: 257,
      scope: 'lib',
      scope_version: '1',
      context,
      events,
      links,
      dropped_attributes: 3,
      dropped_events: 4,
      dropped_links: 5,
    };
    await insertSpans(own.store, 1, [
      {
        trace: `${'0'.repeat(16)}${spanId(77)}`,
        span: spanId(1),
        parent: spanId(9),
        at: -86_400_000 * 2,
        status: 2,
        resource: [
          ['z', '1', 'i'],
          ['1', 'x'],
        ],
        attributes,
        columns,
      },
    ]);
    const trace = await get<Otlp>(`traces/${spanId(77)}`);
    const key = (name: string, value: object): object => ({ key: name, value });
    expect(trace).to.deep.equal({
      resourceSpans: [
        {
          resource: { attributes: [key('z', { intValue: '1' }), key('1', { stringValue: 'x' })], droppedAttributesCount: 1 },
          scopeSpans: [
            {
              scope: { name: 'lib', version: '1', attributes: [key('x', { stringValue: 'y' })], droppedAttributesCount: 2 },
              spans: [
                {
                  ...{
                    traceId: `${'0'.repeat(16)}${spanId(77)}`,
                    spanId: spanId(1),
                    traceState: 'a=b',
                    parentSpanId: spanId(9),
                    flags: 257,
                    name: 'GET /',
                    kind: 2,
                  },
                  ...{
                    startTimeUnixNano: String(SPANS_AT - 172_800_000_000_000n),
                    endTimeUnixNano: String(SPANS_AT - 172_799_999_000_000n),
                  },
                  attributes: [
                    ...[key('s', { stringValue: 'a"\n' }), key('b', { boolValue: true }), key('i', { intValue: '9223372036854775807' })],
                    ...[key('d', { doubleValue: 1.5 }), key('nan', { doubleValue: 'NaN' }), key('y', { bytesValue: 'AQI=' })],
                    key('v', {
                      arrayValue: {
                        values: [
                          { stringValue: 'a' },
                          { intValue: '2' },
                          { kvlistValue: { values: [key('k', { doubleValue: 1 }), key('n', {})] } },
                        ],
                      },
                    }),
                    ...[key('o', { arrayValue: { values: [{ bytesValue: 'AQ==' }] } }), key('n', {}), key('1', { stringValue: 'one' })],
                  ],
                  ...{
                    droppedAttributesCount: 3,
                    events: JSON.parse(events) as unknown,
                    droppedEventsCount: 4,
                    links: JSON.parse(links) as unknown,
                    droppedLinksCount: 5,
                  },
                  status: { message: 'no', code: 2 },
                },
              ],
              schemaUrl: 's',
            },
          ],
          schemaUrl: 'r',
        },
      ],
    });
    // it is older than what the plan of another key shows
    expect((await call(`traces/${spanId(77)}`, {}, 'short')).status).to.equal(404);
  });

  it('lists services and their operations', async () => {
    expect(await get('services', DAY)).to.deep.include({ services: ['cart', 'web'], has_more: false });
    expect(await get('services/web/operations', DAY)).to.deep.include({
      operations: [
        { name: 'GET /cart', kind: 'server', last_seen: '2026-11-18T12:00:08Z' },
        { name: 'call cart', kind: 'client', last_seen: '2026-11-18T12:00:08Z' },
      ],
    });
    expect(await get('services/nosuch/operations', DAY)).to.deep.include({ operations: [] });
    expect(await get('services', { start: '2026-11-17T00:00Z', end: '2026-11-17T01:00Z' })).to.deep.include({ services: [] });
  });

  it('has which services call which, with their errors', async () => {
    expect(await get('service-map', DAY)).to.deep.include({ edges: [{ caller: 'web', callee: 'cart', calls: 9, errors: 4 }], sampled: 1 });
    expect(await get('service-map', { start: '2026-11-17T00:00Z', end: '2026-11-17T01:00Z' })).to.deep.include({ edges: [] });
  });

  describe('of calls between services', () => {
    const window = { start: '2026-11-13T00:00:00Z', end: '2026-11-14T00:00:00Z' };
    const span = (number: number, id: number, parent: number, service: string, more: Partial<TestSpan> = {}): TestSpan => ({
      ...{ trace: traceId(number), span: spanId(id), ...(parent === 0 ? {} : { parent: spanId(parent) }), service },
      ...{ at: id - 5 * 86_400_000, ...more },
    });
    const EDGES = [
      { caller: 'gate', callee: 'shop', calls: 2, errors: 1 },
      { caller: 'shop', callee: 'bank', calls: 2, errors: 1 },
      { caller: 'shop', callee: 'gate', calls: 1, errors: 0 },
    ];

    before(() =>
      insertSpans(own.store, 1, [
        // a client and its server share an id: what either calls, the server does; its own services are not called by themselves
        ...[span(801, 1, 0, 'gate', { kind: 3 }), span(801, 1, 0, 'shop', { kind: 2 })],
        ...[span(801, 2, 1, 'bank'), span(801, 3, 1, 'gate'), span(801, 4, 1, 'shop')],
        // sent twice, the last time with an error
        ...[span(802, 1, 0, 'gate'), span(802, 2, 1, 'shop'), span(802, 2, 1, 'shop', { status: 2, arrived: 1e7 })],
        ...[span(802, 3, 2, 'bank', { status: 2 }), span(802, 4, 2, 'gate'), span(802, 5, 1, 'shop')],
        // its own parent, a parent that has not come, and one of another trace
        ...[span(803, 1, 1, 'gate'), span(803, 2, 77, 'shop'), span(803, 3, 5, 'bank')],
      ]),
    );

    it('has each call once, by the server of those that share an id', async () => {
      const map = await get<{ readonly edges: readonly object[] }>('service-map', window);
      expect(map).to.deep.include({ sampled: 1 });
      expect(map.edges).to.have.deep.members(EDGES);
    });

    it('counts first where the spans are too many to be looked at at once', async () => {
      class Little extends Store {
        refused = 0;
        override rows(...[statement, options]: Parameters<Store['rows']>): ReturnType<Store['rows']> {
          if (options.settings?.['max_rows_to_read'] === undefined) return super.rows(statement, options);
          this.refused += 1;
          return super.rows(statement, { ...options, settings: { ...options.settings, max_rows_to_read: 1 } });
        }
      }
      const store = own.open(Little);
      const host = await startHost({
        keys: new FakeKeyStore({ one: {} }),
        endpoints: createTraceRoutes(runtimeOver(store, { now: () => NOW })).map((route) => appEndpoint(route)),
      });
      try {
        const map = await get<{ readonly edges: readonly object[] }>('service-map', window, 'one', 1, host.url);
        expect(store.refused).to.equal(1);
        expect(map).to.deep.include({ sampled: 1 });
        expect(map.edges).to.have.deep.members(EDGES);
      } finally {
        await host.stop();
        await store.close();
      }
    });
  });

  it('finds the log of a trace around its spans', async () => {
    const seconds = Number(SPANS_AT / 1_000_000_000n) - Date.parse('2026-11-18T12:00:00Z') / 1000;
    expect(seconds).to.equal(0);
    const logged = (id: string, message: string): ReturnType<typeof at> =>
      at(0, { _time: '2026-11-18T12:00:01.050Z', trace_id: id, _msg: message });
    await own.insert(1, [logged(traceId(2), 'lower'), logged(traceId(2).toUpperCase(), 'upper'), logged(traceId(3), 'other')]);
    const { logs } = await get<{ readonly logs: readonly { readonly _msg: string }[] }>(`traces/${traceId(2)}/logs`);
    expect(logs.map(({ _msg: message }) => message).sort()).to.deep.equal(['lower', 'upper']);
    expect((await call(`traces/${traceId(999)}/logs`)).status).to.equal(404);
    expect(await get(`traces/${traceId(999)}/logs`, DAY)).to.deep.include({ logs: [] });
  });

  it('shows a tenant its own alone, whatever is asked for, and with the wall of the engine gone too', async () => {
    for (const url of urls) {
      expect(await get('services', DAY, 'two', 2, url)).to.deep.include({ services: ['cart', 'secret', 'web'] });
      for (const path of [`traces/${traceId(100)}`, `traces/${traceId(100)}/logs`])
        expect((await call(path, {}, 'one', 1, url)).status).to.equal(404);
      for (const text of ['secret', ...ATTACKS]) {
        for (const place of [
          { service: text },
          { operation: text },
          { tag: `${text}:x` },
          { tag: `user.id:${text}` },
          { tag: `resource.${text}:web` },
          { service: 'web', tags: JSON.stringify({ [text]: text }) },
        ])
          expect(await get('traces', { ...DAY, ...place }, 'one', 1, url), JSON.stringify(place)).to.deep.include({ traces: [] });
        for (const place of [
          { start: text },
          { end: text },
          { cursor: text },
          { limit: text },
          { status: text },
          { min_duration: text },
          { kind: text },
        ])
          expect((await call('traces', { ...DAY, ...place }, 'one', 1, url)).status, JSON.stringify(place)).to.equal(400);
        expect((await call(`traces/${encodeURIComponent(text)}`, {}, 'one', 1, url)).status).to.equal(400);
        expect(await get(`services/${encodeURIComponent(text)}/operations`, DAY, 'one', 1, url)).to.deep.include({ operations: [] });
      }
    }
    expect((await call('traces', DAY, 'one', 2)).status).to.equal(403);
    expect((await call('traces', DAY, 'writer')).status).to.equal(403);
  });

  it('reads by the key, the projection and the blooms', async () => {
    class Explaining extends Store {
      readonly plans: string[] = [];
      override async rows(...[statement, options]: Parameters<Store['rows']>): ReturnType<Store['rows']> {
        const plan = await super.rows(sql`EXPLAIN indexes = 1, projections = 1 ${statement}`, options);
        this.plans.push(plan.map(([line]) => String(line).trim()).join('\n'));
        return super.rows(statement, options);
      }
    }
    const store = own.open(Explaining);
    const host = await startHost({
      keys: new FakeKeyStore({ one: {} }),
      endpoints: createTraceRoutes(runtimeOver(store, { now: () => NOW })).map((route) => appEndpoint(route)),
    });
    const plansOf = async (path: string, given: Readonly<Record<string, string>> = {}): Promise<readonly string[]> => {
      store.plans.length = 0;
      await get(path, given, 'one', 1, host.url);
      return [...store.plans];
    };
    try {
      const [bounds] = await plansOf(`traces/${traceId(5)}`);
      expect(bounds).to.match(/ReadFromMergeTree \(traces\)/);
      const [newest, summaries, counted] = await plansOf('traces', { ...DAY, service: 'web' });
      expect(newest).to.include('Read type: InReverseOrder');
      expect(newest).to.match(/PrimaryKey\s+Keys:[^]*service[^]*time/);
      expect(summaries).to.match(/ReadFromMergeTree \(traces\)/);
      expect(counted).to.include('Name: i_trace');
      expect((await plansOf('traces', { ...DAY, tag: 'user.id:u7' }))[0]).to.include('Name: i_values');
      // no resource of the service has it: then the bloom is enough
      expect((await plansOf('traces', { ...DAY, service: 'cart', tag: 'user.id:u7' }))[1]).to.include('Name: i_values');
    } finally {
      await host.stop();
      await store.close();
    }
  });

  it('streams a trace that is too large to be held, each span once', async () => {
    const spans = Array.from({ length: 12_000 }, (_none, index): TestSpan => ({
      trace: traceId(500),
      span: spanId(index),
      parent: spanId(0),
      at: index,
      service: `s${String(index % 3)}`,
      name: 'many',
      attributes: [['i', String(index), 'i']],
    }));
    await insertSpans(own.store, 3, spans);
    await insertSpans(own.store, 3, spans.slice(100, 200).map((span) => ({ ...span, name: 'again', arrived: 1e9 }))); // prettier-ignore
    const host = await startHost({
      keys: new FakeKeyStore({ three: { tenantId: 3 } }),
      endpoints: createTraceRoutes(runtimeOver(own.store, { now: () => NOW })).map((route) => appEndpoint(route)),
    });
    try {
      const { resourceSpans } = await get<Otlp>(`traces/${traceId(500)}`, {}, 'three', 3, host.url);
      const read = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
      expect(new Set(read.map(({ spanId: id }) => id)).size).to.equal(12_000);
      expect(read).to.have.length(12_000);
      expect(read.filter(({ name }) => name === 'again')).to.have.length(100);
      expect((await get<Listed>('traces', DAY, 'three', 3, host.url)).traces[0]).to.include({ spans: 12_000, has_root: false });
    } finally {
      await host.stop();
    }
  });
});
