import { expect } from 'chai';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import { evaluate } from '../../../logsql/evaluation/pipeline.ts';
import { Literal, textOf, type FieldValue, type LogEntry } from '../../../pipeline/core/entry.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import { extent } from '../../extent.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { insertSpans, spanId, SPANS_AT, traceId, type TestSpan } from '../../fakes/stored-spans.ts';
import { startHost } from '../../fakes/test-host.ts';
import { planQuery } from '../../../logsql/planner/planner.ts';
import { SPANS as TABLE } from '../../../logsql/sql/spans-table.ts';
import { sql } from '../../../pipeline/core/sql.ts';
import { memoryFor, parse, statementOf } from '../../logsql/support.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { runtimeOver } from '../query-setup.ts';

type Row = Readonly<Record<string, unknown>>;
type Answer = Readonly<Record<string, unknown>> & {
  readonly spans: readonly Row[];
  readonly has_more: boolean;
  readonly oldest_time: string | null;
  readonly hints?: readonly string[];
};

const DAY = { start: '2026-11-18T00:00:00Z', end: '2026-11-19T00:00:00Z' };
const NOW = SPANS_AT + 3_600_000_000_000n;
const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUSES = ['unset', 'ok', 'error'];
const LONG = `java -cp ${'a.jar:'.repeat(900)}`;
const EVENTS =
  '[{"timeUnixNano":"1795003200000000000","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"E"}}]}]';

/** Attributes of a scope, of which two have one name. */
const SCOPE = JSON.stringify({
  scopeAttributes: [
    ...[
      { key: 'library.kind', value: { stringValue: 'http "x"' } },
      { key: 'name', value: { intValue: '7' } },
    ],
    ...[
      { key: 'ratio', value: { doubleValue: 1.5 } },
      { key: 'on', value: { boolValue: true } },
      { key: 'none', value: {} },
    ],
    ...[
      { key: 'tags', value: { arrayValue: { values: [{ stringValue: 'a' }] } } },
      { key: '__proto__', value: { stringValue: 'p' } },
    ],
    { key: 'library.kind', value: { stringValue: 'hidden' } },
  ],
  scopeDropped: 2,
});
const OF_SCOPE: readonly (readonly [string, FieldValue])[] = [
  ...[['library.kind', 'http "x"'] as const, ['name', new Literal('7')] as const, ['ratio', new Literal('1.5')] as const],
  ...[['on', new Literal('true')] as const, ['tags', '{"values":[{"stringValue":"a"}]}'] as const, ['__proto__', 'p'] as const],
];

/** Spans of several services, with attributes of each type and names that are fields too. */
const SPANS: readonly TestSpan[] = Array.from({ length: 60 }, (_none, index) => ({
  ...{ trace: traceId(Math.floor(index / 3) + 1), span: spanId(index + 1), at: index * 500, took: 10 * (index % 40), arrived: 0 },
  ...(index % 3 === 0 ? {} : { parent: spanId(index) }),
  ...{ service: ['web', 'cart', 'db'][index % 3] ?? 'web', name: ['GET /cart', 'Cart/get', 'SELECT carts'][index % 3] ?? '' },
  ...{ kind: [2, 3, 3][index % 3] ?? 0, status: index % 7 === 0 ? 2 : index % 5 === 0 ? 1 : 0 },
  attributes: [
    ['http.response.status_code', String([200, 404, 500][index % 3]), 'i'],
    ['ratio', String(index / 4), Number.isInteger(index / 4) ? 'i' : 'd'],
    ['user.id', `u${String(index % 11)}`],
    ...(index % 2 === 0 ? [['is.cached', 'true', 'b'] as const] : []),
    ...(index % 4 === 0
      ? [['status', 'own', 's'] as const, ['__proto__', 'p'] as const, ['resource.x', 'not of the resource'] as const]
      : []),
    ...(index % 6 === 0 ? [['tags', '["a",2]', 'v'] as const, ['empty', ''] as const] : []),
  ],
  resource: [
    ['service.name', ['web', 'cart', 'db'][index % 3] ?? 'web'],
    ['host.name', `h${String(index % 4)}`],
    ['process.pid', String(100 + (index % 4)), 'i'],
    ...(index === 8 ? [['process.command_line', LONG] as const] : []),
  ],
  columns: {
    ...{ status_message: index % 7 === 0 ? 'deadline "exceeded"' : '', scope: index % 2 === 0 ? 'http' : '', scope_version: '1.2' },
    ...{ events: index % 7 === 0 ? EVENTS : '', trace_state: index % 9 === 0 ? 'a=b' : '' },
    context: index % 5 === 0 ? SCOPE : '',
  },
}));

/** The fields that a span has by docs/traces-query.md, in memory. */
function rowOf(span: TestSpan): LogEntry {
  const { trace, span: id, parent = '', at = 0, took = 1, service = '', name = '', kind = 0, status = 0, columns = {} } = span;
  const column = (name: string): string => (typeof columns[name] === 'string' ? columns[name] : '');
  const typed = (value: string, type = 's'): FieldValue => ('idb'.includes(type) ? new Literal(value) : value);
  const own = new Set(['status']);
  return new Map<string, FieldValue>(
    (
      [
        ['_time', formatTime(SPANS_AT + BigInt(Math.round(at * 1e6))).replace(/\.(\d*?)0+Z$/, '.$1Z')],
        ...[['_stream', `{service=${JSON.stringify(service)}}`] as const, ['_msg', name] as const, ['trace_id', trace] as const],
        ...[['span_id', id] as const, ['parent_span_id', parent] as const, ['name', name] as const, ['service', service] as const],
        ...[['kind', KINDS[kind] ?? ''] as const, ['status', STATUSES[status] ?? ''] as const],
        ['status_message', column('status_message')],
        ['duration', new Literal(String(Math.round(took * 1e6)))],
        ...[['trace_state', column('trace_state')] as const, ['scope.name', column('scope')] as const],
        ...[['scope.version', column('scope_version')] as const, ['events', column('events')] as const],
        ...(span.attributes ?? []).map(
          ([key, value, type]) => [own.has(key) || key.startsWith('resource.') ? `attributes.${key}` : key, typed(value, type)] as const,
        ),
        ...(column('context') === '' ? [] : OF_SCOPE.map(([key, value]) => [`scope.attributes.${key}`, value] as const)),
        ...(span.resource ?? []).map(([key, value, type]) => [`resource.${key}`, typed(value, type)] as const),
      ] as readonly (readonly [string, FieldValue])[]
    ).filter(([, value]) => textOf(value) !== ''),
  );
}

/** Texts that would end a literal, an identifier or a statement, or name a parameter, if they became text of it. */
const ATTACKS = [
  "' OR 1=1 --",
  "\\' OR tenant_id=2 --",
  '{p0:UInt32}',
  "'); DROP TABLE spans; --",
  '/*',
  '\0',
  '`',
  '__proto__',
  'theirs',
  'hidden',
];
/** Queries with a place for a text. */
const PLACES = [
  ...[
    '%',
    '%*',
    '%:*',
    'f:%',
    '%:=theirs',
    'resource.%:=x',
    'scope.attributes.%:=x',
    'name:=%',
    'name:~%',
    'service:=%',
    'status:%',
    'kind:in(%, a)',
    'duration:>%',
  ],
  ...['trace_id:=%', 'span_id:in(%)', 'parent_span_id:%', '{service=%}', '{%="secret"}', '{service=~%}', 'f:string_range(%, %)', 'i(%)'],
  ...['* | stats by (%) count() n', '* | fields %', '* | uniq by (%)', '* | sort by (%) limit 3', '* | stats count_uniq(%) as %'],
  ...['* | extract % from name', '* | format % as x | stats by (x) count()', '* | field_values %', 'name:in(service:=% | fields name)'],
];

/** Each attack in one place of so many. */
const EACH = extent(4, 1);

const QUERIES: readonly string[] = [
  '*',
  'status:error',
  'status:=ok',
  '!status:error kind:client',
  'status:in(ok, error) kind:!=server',
  'status:~"err|ok" kind:serv*',
  'name:="GET /cart"',
  '"GET /cart"',
  'cart',
  'name:Cart*',
  'duration:>300ms',
  'duration:<=0',
  'duration:range(50ms, 0.1s]',
  'service:=web duration:>=100ms status:error',
  '{service="cart"}',
  '{service=~"c.*|db",service!="db"}',
  '{app="x"}',
  '_stream_id:000000000000000100000000000000000000000000000001',
  `trace_id:=${traceId(3)}`,
  `trace_id:${traceId(3)}`,
  `trace_id:in(${traceId(3)}, ${traceId(4)}, nothing)`,
  `trace_id:=${traceId(3).toUpperCase()}`,
  `span_id:=${spanId(7)} or parent_span_id:=${spanId(7)}`,
  'parent_span_id:=""',
  'parent_span_id:=0000000000000000',
  `trace_id:${traceId(3).slice(0, 10)}*`,
  'http.response.status_code:>=400',
  'http.response.status_code:=500',
  'user.id:=u3 ratio:>2.5',
  'is.cached:true',
  'attributes.status:=own',
  'attributes.user.id:*',
  '__proto__:p',
  'attributes.resource.x:*',
  'resource.host.name:=h2',
  'resource.process.command_line:*',
  'resource.process.pid:>101',
  'resource.x:*',
  'scope.name:=http scope.version:1.2',
  'scope.attributes.library.kind:="http \\"x\\""',
  'scope.attributes.library.kind:hidden',
  'scope.attributes.name:>6 scope.attributes.on:true',
  'scope.attributes.tags:stringValue scope.attributes.none:""',
  'scope.attributes.__proto__:=p !scope.attributes.ratio:<1',
  '* | fields scope.*',
  '* | stats by (scope.attributes.name, scope.attributes.ratio) count() n',
  '* | field_values scope.attributes.library.kind',
  'events:exception',
  'status_message:"deadline \\"exceeded\\""',
  'trace_state:="a=b"',
  'level:error',
  '_time:day_range[12:00, 12:01)',
  'user.id:eq_field(user.id) name:len_range(1, 8)',
  'trace_id:in(status:error service:web | fields trace_id) service:=db',
  '* | fields _time, name, duration, user.id, resource.host.name',
  '* | fields resource.*',
  '* | delete events, resource.*, attributes.*',
  '* | sort by (duration desc) limit 5',
  '* | sort by (_time) limit 4',
  '* | sort by (user.id, _time) | fields user.id, span_id',
  '* | stats by (service) count() n, count() if (status:error) errors, quantile(0.9, duration) p90, max(duration) most',
  '* | stats by (service, status) sum(duration) s, avg(duration) a, min(duration) least',
  '* | stats by (_time:10s) count() n',
  '* | stats by (_stream) count() n',
  '* | stats count_uniq(trace_id) traces, count_uniq(_stream) streams, count_uniq(user.id) users',
  '* | stats by (http.response.status_code) row_max(duration, name, span_id) r',
  '* | stats by (kind) uniq_values(service) s, values(name) v, rate() r',
  '* | uniq by (service, kind) with hits',
  '* | top 3 by (user.id)',
  '* | field_names',
  '* | field_values name',
  '* | facets 5',
  '* | facets 3 max_values_per_field 5 keep_const_fields',
  '* | patterns',
  '* | math duration / 1000000 as ms | stats by (service) max(ms) m',
  '* | filter status:error | format "<service> <name>" as what | stats by (what) count() n',
  '* | extract "GET /<what>" from name | filter what:* | stats by (what) count() n',
  'status:error | stream_context before 1 after 1',
  'service:=web | join by (trace_id) (status:error | fields trace_id, status_message) inner | stats count() n',
  'status:error | unroll by (tags) | fields tags',
  '* | stats by (resource.host.name, attributes.status) count() n',
];

describe('LogsQL over spans', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let stop: () => Promise<void>;
  let url: string;
  /** Oldest first. */
  const rows = SPANS.map(rowOf);

  before(async () => {
    own = await LogsqlStore.start();
    await insertSpans(own.store, 1, SPANS);
    // sent again: whole, with another status, and with another time
    const [first, ninth, last] = [SPANS[0], SPANS[9], SPANS[59]] as TestSpan[] as [TestSpan, TestSpan, TestSpan];
    await insertSpans(own.store, 3, [first, ninth, last]);
    await insertSpans(own.store, 3, [first, { ...ninth, status: 2, arrived: 5 }, { ...last, at: 20_000, arrived: 9 }]);
    await insertSpans(own.store, 2, [
      { trace: traceId(500), span: spanId(500), service: 'secret', name: 'hidden', attributes: [['user.id', 'theirs']] },
    ]);
    const host = await startHost({
      keys: new FakeKeyStore({ one: {}, two: { tenantId: 2 }, three: { tenantId: 3 } }),
      endpoints: createQueryRoutes(runtimeOver(own.store, { now: () => NOW })).map((route) => appEndpoint(route)),
    });
    url = host.url;
    stop = async () => {
      await host.stop();
      await own.stop();
    };
  });
  after(() => stop());

  type Asked = { readonly key?: string; readonly tenant?: number };
  async function call(path: string, given: URLSearchParams, body: unknown, { key = 'one', tenant = 1 }: Asked): Promise<Response> {
    return fetch(`${url}/api/v1/tenants/${String(tenant)}/${path}?${given.toString()}`, {
      headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  }
  async function search(body: object, asked: Asked = {}, given = ''): Promise<Answer> {
    const response = await call('spans/search', new URLSearchParams(given), { ...DAY, limit: 1000, ...body }, asked);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${String(response.status)} ${JSON.stringify(body)}: ${text}`);
    return JSON.parse(text) as Answer;
  }
  const get = async (path: string, given: Readonly<Record<string, string>>, asked: Asked = {}): Promise<Row> =>
    (await (await call(path, new URLSearchParams({ ...DAY, ...given }), undefined, asked)).json()) as Row;

  /** A row as JSON has it, without what is empty; times as LogsQL writes them. */
  const shown = (row: LogEntry): string =>
    JSON.stringify(
      Object.entries(
        Object.fromEntries([...row].map(([name, value]) => [name, value instanceof Literal ? (JSON.parse(value.text) as unknown) : value])),
      )
        .filter(([, value]) => value !== '')
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  const shownJson = (row: Row): string =>
    JSON.stringify(
      Object.entries(row)
        .map(
          ([name, value]) =>
            [
              name,
              name === '_time'
                ? String(value)
                    .replace(/\.(\d*?)0+Z$/, '.$1Z')
                    .replace('.Z', 'Z')
                : value,
            ] as const,
        )
        .filter(([name, value]) => value !== '' && !(name === '_msg' && value === ''))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );

  for (const query of QUERIES)
    it(`gives what memory gives: ${query}`, async () => {
      const window = { start: SPANS_AT - 43_200_000_000_000n, end: SPANS_AT + 43_200_999_999_999n };
      const memory = await evaluate(parse(query), rows.toReversed(), { ...window, memory: memoryFor() });
      const { spans } = await search({ query });
      const isSorted = /sort|stream_context/.test(query) || !query.includes('|');
      const [expected, found] = [memory.map(shown), spans.map(shownJson)];
      if (!isSorted) for (const list of [expected, found]) list.sort();
      expect(found).to.deep.equal(expected);
    });

  it('shows a span that was sent twice once, as it was when it arrived last', async () => {
    const asked = { key: 'three', tenant: 3 };
    const [first, ninth, last] = [spanId(1), spanId(10), spanId(60)];
    const idsOf = ({ spans }: Answer): unknown[] => spans.map((row) => row['span_id']);
    expect(idsOf(await search({ query: '*' }, asked))).to.deep.equal([last, ninth, first]);
    expect(idsOf(await search({ query: '*', limit: 2 }, asked))).to.deep.equal([last, ninth]);
    expect((await search({ query: `span_id:=${ninth}` }, asked)).spans[0]).to.include({ status: 'error' });
    // filters come before: either is found by its own content
    expect(idsOf(await search({ query: `span_id:=${ninth} status:unset` }, asked))).to.deep.equal([ninth]);
    expect((await search({ query: '* | stats count() n, count_uniq(span_id) m' }, asked)).spans).to.deep.equal([{ n: 3, m: 3 }]);
    expect((await search({ query: '* | sort by (_time) | fields span_id' }, asked)).spans.map((row) => row['span_id'])).to.deep.equal([
      first,
      ninth,
      last,
    ]);
    expect((await get('spans/hits', { query: '*', step: '1d' }, asked))['hits']).to.deep.include({ time: '2026-11-18T00:00:00Z', hits: 3 });
    const { facets } = (await get('spans/facets', {}, asked)) as { readonly facets: Record<string, unknown> };
    expect(facets['kind']).to.deep.equal(
      [
        { value: 'client', hits: 1 },
        { value: 'server', hits: 2 },
      ].sort((a, b) => b.hits - a.hits),
    );
  });

  it('goes through pages without a gap or a repeat', async () => {
    const seen: unknown[] = [];
    let before: string | null = null;
    for (let more = true; more;) {
      const page: Answer = await search({ query: 'kind:client', limit: 7, before });
      seen.push(...page.spans.map((row) => row['span_id']));
      [before, more] = [page.oldest_time, page.has_more];
    }
    expect(seen).to.deep.equal(
      SPANS.filter(({ kind }) => kind === 3)
        .map(({ span }) => span)
        .toReversed(),
    );
  });

  it('counts in steps and by fields, and gives the values of all fields', async () => {
    const { hits } = (await get('spans/hits', { query: 'status:error', fields_by: 'service', step: '1h' })) as { readonly hits: Row[] };
    expect(hits.map((row) => [row['service'], row['hits']]).sort()).to.deep.equal([
      ['cart', 3],
      ['db', 3],
      ['web', 3],
    ]);
    const { facets, truncated_fields: left } = (await get('spans/facets', { limit: '2' })) as {
      readonly facets: Record<string, unknown>;
      readonly truncated_fields: number;
    };
    expect(left).to.equal(0);
    expect(facets['status']).to.deep.equal([
      { value: 'unset', hits: 41 },
      { value: 'ok', hits: 10 },
    ]);
    expect(facets['resource.host.name']).to.deep.equal([
      { value: 'h0', hits: 15 },
      { value: 'h1', hits: 15 },
    ]);
    expect(facets['scope.attributes.library.kind']).to.deep.equal([{ value: 'http "x"', hits: 12 }]);
    expect(facets['attributes.status']).to.deep.equal([{ value: 'own', hits: 15 }]);
    expect(facets).to.not.have.any.keys('_msg', '_time', '_stream');
  });

  it('gives hints for fields and words that are not there', async () => {
    expect((await search({ query: 'http.respons.status_code:=500' })).hints?.[0]).to.include('did you mean "http.response.status_code"?');
    expect((await search({ query: 'resource.host.nam:=h1' })).hints?.[0]).to.equal(
      'No span in this window has the field "resource.host.nam"; did you mean "resource.host.name"?',
    );
    expect((await search({ query: 'scope.attributes.library.kin:=h1' })).hints?.[0]).to.include(
      'did you mean "scope.attributes.library.kind"?',
    );
    expect((await search({ query: 'status:Error' })).hints?.[0]).to.equal('No span has the status "Error"; there are unset, ok, error.');
    expect((await search({ query: '*', before: null, nonsense: 1 })).hints?.[0]).to.include('nonsense');
    const refused = await call('spans/search', new URLSearchParams(), { query: 'status:(' }, {});
    expect(refused.status).to.equal(400);
    expect(((await refused.json()) as Row)['detail']).to.include('LogsQL syntax error at offset');
  });

  it('says how ClickHouse runs a query', async () => {
    const explained = async (query: string): Promise<{ plan: { statements: { sql: string }[]; indexes: string[]; memory: string[] } }> =>
      (
        (await search({ query }, {}, 'explain=true')) as unknown as {
          explain: { plan: { statements: { sql: string }[]; indexes: string[]; memory: string[] } };
        }
      ).explain;
    expect((await explained('service:=web duration:>300ms')).plan.indexes).to.deep.equal(['tenant, service and time (primary key)']);
    expect((await explained('user.id:=u1')).plan.indexes).to.deep.equal(['values of attributes (bloom filter)']);
    const { statements, memory } = (await explained('status:error | stats by (service) count() n')).plan;
    expect(statements[0]?.sql).to.include('FROM spans').and.not.include('logs');
    expect(memory).to.deep.equal([]);
  });

  it('reads by the key and the blooms, as the table alone would', async () => {
    const planOf = async (query: string): Promise<string> => {
      const window = { start: SPANS_AT - 43_200_000_000_000n, end: SPANS_AT + 43_200_000_000_000n };
      const plan = planQuery(parse(query), { table: TABLE, tenantId: 1, ...window, widest: window, memory: memoryFor() });
      const statement = sql`EXPLAIN indexes = 1, actions = 0 ${statementOf(plan, 20)}`;
      const found = await own.store.rows(statement, { tenantId: 1, timeoutMs: 60_000, settings: { use_skip_indexes_on_data_read: 0 } });
      return found.map(([line]) => String(line).trim()).join('\n');
    };
    const newest = await planOf('service:=web');
    expect(newest).to.match(/PrimaryKey[^]*Keys:[^]*service[^]*Condition:[^]*service in \['web', 'web'\]/);
    // rows of one service are read in the order of time, and what is shown of them alone
    expect(newest).to.include('LazilyReadFromMergeTree');
    expect(await planOf('service:=web duration:>300ms')).to.match(/PrimaryKey[^]*Keys:[^]*service/);
    expect(await planOf('user.id:=u7')).to.match(/Skip[^]*Name: i_values/);
    const attribute = await planOf('service:=web user.id:=u7');
    expect(attribute)
      .to.match(/PrimaryKey[^]*Keys:[^]*service/)
      .and.match(/Skip[^]*Name: i_values/);
    expect(await planOf(`trace_id:${traceId(3)}`)).to.match(/Skip[^]*Name: i_trace/);
    expect(await planOf(`trace_id:in(${traceId(3)}, ${traceId(4)})`)).to.match(/Skip[^]*Name: i_trace/);
    expect(await planOf('service:=web status:error | stats count() n')).to.match(/PrimaryKey[^]*Keys:[^]*service/);
  });

  it('never shows another tenant, whatever a query holds', async () => {
    const theirs = [traceId(500), spanId(500)];
    for (const [number, attack] of ATTACKS.entries()) {
      const places = PLACES.filter((_place, index) => (number + index) % EACH === 0);
      for (const query of places.map((place) => place.replaceAll('%', JSON.stringify(attack)))) {
        const response = await call('spans/search', new URLSearchParams(), { ...DAY, query }, {});
        const text = await response.text();
        expect(response.status, `${query}: ${text}`).to.be.oneOf([200, 400]);
        const rows = JSON.stringify((JSON.parse(text) as Partial<Answer>).spans ?? []);
        for (const word of theirs) expect(rows, query).to.not.include(word);
      }
    }
    expect((await search({ query: `trace_id:=${traceId(500)}` })).spans).to.deep.equal([]);
    expect((await call('spans/search', new URLSearchParams(), { query: '*' }, { key: 'one', tenant: 2 })).status).to.equal(403);
    expect((await search({ query: '*' }, { key: 'two', tenant: 2 })).spans).to.have.length(1);
  });

  it('bounds what costs much: deep nesting, long queries, hostile regexps', async () => {
    for (const [query, status] of [
      [`${'('.repeat(5000)}a${')'.repeat(5000)}`, 400],
      [`name:~"(a+)+$" ${'x'.repeat(40_000)}`, 400],
      [`name:~"(a|a)*b" or user.id:~"(u+)+$"`, 200],
    ] as const) {
      const response = await call('spans/search', new URLSearchParams(), { ...DAY, query }, {});
      expect(response.status, query.slice(0, 40)).to.equal(status);
    }
  });
});
