import { LOGS } from '../../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import fc from 'fast-check';
import { createQueryRoutes } from '../../../../api/search/routes.ts';
import { runQuery } from '../../../../api/query/run.ts';
import { LocalEngine } from '../../../../api/engine/local-engine.ts';
import { QueryRuntime } from '../../../../api/query/runtime.ts';
import { StreamDirectory } from '../../../../api/query/streams.ts';
import { throughPipes } from '../../../../logsql/evaluation/pipeline.ts';
import { FacetsPipe, type FacetOptions } from '../../../../logsql/pipes/facets.ts';
import { Query } from '../../../../logsql/base/query.ts';
import { momentText } from '../../../../logsql/values/times.ts';
import { formatTime } from '../../../../pipeline/core/time.ts';
import type { LogEntry } from '../../../../pipeline/core/entry.ts';
import { fakePrincipal } from '../../../fakes/key-store.ts';
import { WINDOW, isPresent, loadCases, loadEntries, type Case } from '../../../logsql/conformance.ts';
import { EVERYTHING, NOW, entryOf, nanoseconds, parse, plainOf, type Plain } from '../../../logsql/support.ts';
import { LogsqlStore } from '../../logsql-store.ts';

type Facets = Readonly<Record<string, readonly { readonly value: string; readonly hits: number }[]>>;

const SECOND = 1_000_000_000n;
const START = nanoseconds(WINDOW.start);
const ALWAYS = ['level', 'service', '_stream'];
const entry = (index: number, fields: Plain): LogEntry =>
  entryOf({ _time: momentText(START + BigInt(index) * (SECOND / 100n)), _stream: '{app="a"}', _msg: 'm', ...fields });

describe('GET /facets', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
  });
  after(() => own.stop());

  async function facets(
    tenantId: number,
    parameters: Readonly<Record<string, string>>,
    maxFacetFields = 50,
  ): Promise<{ readonly facets: Facets; readonly truncated: number; readonly names: readonly string[] }> {
    const limits = { queryTimeoutSeconds: 30, maxFacetFields, platformEntriesPerSecond: 0 };
    const routes = createQueryRoutes(new QueryRuntime({ engine: new LocalEngine({ store: own.store, now: () => NOW, limits }), limits }));
    const answer = await routes
      .find(({ path }) => path.endsWith('/facets'))
      ?.handle({
        principal: fakePrincipal({ tenantId }),
        params: {},
        query: new URLSearchParams({ ...WINDOW, ...parameters }),
        requestId: 'r',
        signal: new AbortController().signal,
        startedAt: performance.now(),
        body: () => Promise.resolve(undefined),
      });
    const body = JSON.parse(answer?.body as string) as { readonly facets: Facets; readonly truncated_fields: number };
    return { facets: body.facets, truncated: body.truncated_fields, names: Object.keys(body.facets) };
  }

  /** The rows of the pipe from ClickHouse, and those of its stage in memory. */
  async function bothWays(tenantId: number, entries: readonly LogEntry[], options: FacetOptions): Promise<[Plain[], Plain[]]> {
    const pipe = new FacetsPipe(options);
    const { options: own_, filter } = parse('*');
    const rows = await runQuery(
      new Query(own_, filter, [pipe]),
      { table: LOGS, tenantId, ...EVERYTHING, widest: EVERYTHING },
      { store: own.store, streams: new StreamDirectory(own.store), options: { tenantId, timeoutMs: 30_000 } },
      100_000,
    );
    return [rows.map(plainOf), throughPipes([pipe], entries, EVERYTHING).map(plainOf)];
  }

  it('keeps level, service and _stream whatever they hold; leaves out fields of too many or too long values', async () => {
    const long = 'x'.repeat(129);
    const entries = Array.from({ length: 2500 }, (_none, index) =>
      entry(index, {
        _stream: `{app="${index < 1500 ? String(index) : long}"}`,
        level: index < 1200 ? `l${String(index)}` : long,
        service: 's',
        id: String(index),
        thousand: String(index % 1000),
        thousandOne: String(index % 1001),
        ...(index === 2400 ? { rare: 'y', longOnce: long, trace_id: 't1' } : {}),
        exact: 'z'.repeat(128),
      }),
    );
    await own.insert(11, entries);
    const { facets: found, truncated } = await facets(11, { limit: '1000' });
    expect(truncated).to.equal(0);
    expect(Object.keys(found).sort()).to.deep.equal(['_msg', '_stream', 'exact', 'level', 'rare', 'service', 'thousand', 'trace_id']);
    expect(found['level']?.slice(0, 2)).to.deep.equal([
      { value: long, hits: 1300 },
      { value: 'l0', hits: 1 },
    ]);
    expect(found['_stream']?.[0]).to.deep.equal({ value: `{app="${long}"}`, hits: 1000 });
    expect(found['_stream']).to.have.length(1000);
    expect(found['service']).to.deep.equal([{ value: 's', hits: 2500 }]);
    expect(found['rare']).to.deep.equal([{ value: 'y', hits: 1 }]);
    expect(found['thousand']).to.have.length(1000);
    expect(found['thousand']?.[0]).to.deep.equal({ value: '0', hits: 3 });
    const { facets: three } = await facets(11, { limit: '3', query: 'id:range[0, 9] | stats count()' });
    expect(three['id']).to.deep.equal(['0', '1', '2'].map((value) => ({ value, hits: 1 })));
    expect((await facets(12, {})).facets).to.deep.equal({});
  });

  it('cuts the fields with the fewest hits, and counts them', async () => {
    const names = Array.from({ length: 60 }, (_none, index) => `f${String(index).padStart(2, '0')}`);
    const entries = Array.from({ length: 60 }, (_none, index) =>
      entry(index, Object.fromEntries(names.slice(index).map((name) => [name, 'v']))),
    );
    await own.insert(13, entries);
    const { names: found, truncated } = await facets(13, {}, 10);
    expect(found).to.deep.equal(['_stream', '_msg', ...names.slice(-8).reverse()].sort((a, b) => rank(a) - rank(b)));
    function rank(name: string): number {
      // all 60 entries have f59, the message and the stream, which goes first; then by name
      return name === '_stream' ? -3 : name === '_msg' ? -2 : name === 'f59' ? -1 : 60 - Number(name.slice(1));
    }
    expect(truncated).to.equal(52);
    const all = await facets(13, {}, 1000);
    expect(all.names).to.have.length(62);
    expect(all.truncated).to.equal(0);
  });

  it('takes any name and value, and shows no other tenant', async () => {
    const odd = { __proto_: '1', constructor: 'c', "a'b\\": "x'y\\", 'p{p0:String}': '{p1:String}', 'ü "q"': 'é\n\0', 'c0 AS g': '-- ' };
    await own.insert(14, [entry(1, odd), entryOf({ _time: momentText(START), _stream: '{}', _msg: '', ['__proto__x']: '1' })]);
    const { facets: found } = await facets(14, {});
    for (const [name, value] of Object.entries(odd)) expect(found[name], name).to.deep.equal([{ value, hits: 1 }]);
    expect((await facets(15, {})).names).to.deep.equal([]);
  });

  it('is the same in ClickHouse as in memory, however the fields are spread', async () => {
    const field = fc.record({
      name: fc.integer({ min: 0, max: 25 }),
      values: fc.constantFrom(1, 2, 40, 1200),
      share: fc.constantFrom(1, 2, 30),
    });
    let tenantId = 100;
    await fc.assert(
      fc.asyncProperty(
        fc.array(field, { maxLength: 25 }),
        fc.integer({ min: 0, max: 1500 }),
        fc.record({
          limit: fc.constantFrom(1, 5, 1000),
          maxValues: fc.constantFrom(1, 30, 1000),
          maxLength: fc.constantFrom(2, 20, 128),
          keepsConstant: fc.boolean(),
          always: fc.constantFrom([], ALWAYS),
          never: fc.constantFrom([], ['_time']),
          maxFields: fc.constantFrom(Infinity, 3),
        }),
        async (fields, count, options) => {
          tenantId += 1;
          const entries = Array.from({ length: count }, (_none, index) =>
            entry(index, {
              level: ['info', 'error'][index % 2] ?? '',
              _stream: `{app="a${String(index % 7)}"}`,
              ...Object.fromEntries(
                fields
                  .filter(({ share }) => index % share === share - 1)
                  .map(({ name, values }) => [
                    name === 25 ? 'trace_id' : name === 24 ? 'host' : `f${String(name)}`,
                    `v${String((index * 7) % values)}`,
                  ]),
              ),
            }),
          );
          await own.insert(tenantId, entries);
          const [fromStore, fromMemory] = await bothWays(tenantId, entries, options);
          expect(fromStore).to.deep.equal(fromMemory);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('finds fields that no sample shows', async () => {
    const entries = Array.from({ length: 30_000 }, (_none, index) =>
      entry(index, {
        a: String(index % 3),
        host: `h${String(index % 5)}`,
        ...(index % 10_000 === 9999 ? { pod: `p${String(index)}` } : {}),
        ...(index % 6000 === 5999 ? { [`rare${String(index)}`]: 'r', rare: String(index) } : {}),
        // few values at first, then too many
        ...(index > 25_000 ? { late: String(index) } : {}),
      }),
    );
    await own.insert(16, entries);
    const options = {
      limit: 10,
      maxValues: 1000,
      maxLength: 128,
      keepsConstant: true,
      always: ALWAYS,
      never: ['_time'],
      maxFields: Infinity,
    };
    const [fromStore, fromMemory] = await bothWays(16, entries, options);
    expect(fromStore).to.deep.equal(fromMemory);
    expect(new Set(fromStore.map((row) => row['field_name'])))
      .to.include('rare29999')
      .and.not.to.include('late');
  });

  it('counts by hours where many match, and cuts the first and the last one exactly', async () => {
    const host = (index: number): string => `h${String((index * 7) % 11)}`;
    const entries = Array.from({ length: 25_000 }, (_none, index) =>
      entryOf({
        _time: formatTime(START + BigInt(index) * SECOND),
        _stream: `{app="a${String(index % 2)}"}`,
        _msg: 'm',
        level: index % 3 === 0 ? 'error' : 'info',
        ...(index % 4 === 0 ? {} : { host: host(index) }),
      }),
    );
    await own.insert(17, entries);
    const [first, last] = [1234, 23_456];
    const window = { start: formatTime(START + BigInt(first) * SECOND), end: formatTime(START + BigInt(last) * SECOND) };
    const hits = new Map<string, number>();
    for (let index = first; index <= last; index += 1) if (index % 4 !== 0) hits.set(host(index), (hits.get(host(index)) ?? 0) + 1);
    const { facets: found } = await facets(17, window);
    expect(new Map(found['host']?.map(({ value, hits: size }) => [value, size]))).to.deep.equal(hits);
    const total = (name: string): number | undefined => found[name]?.reduce((sum, { hits: size }) => sum + size, 0);
    expect([total('level'), total('_stream'), total('_msg')]).to.deep.equal(Array(3).fill(last - first + 1));
    const { facets: errors } = await facets(17, { ...window, query: 'level:=error' });
    expect(errors['level']).to.deep.equal([{ value: 'error', hits: Math.ceil((last + 1) / 3) - Math.ceil(first / 3) }]);
  });

  it('answers the conformance cases', async () => {
    if (!isPresent) expect.fail('THE CONFORMANCE DATA IS ABSENT: set LOGWEIR_SHARED');
    await own.insert(8, loadEntries());
    const faults: string[] = [];
    for (const test of loadCases().filter(({ kind }) => kind === 'facets')) {
      const answer = await facets(8, {
        query: test.query,
        start: test.start ?? WINDOW.start,
        end: test.end ?? WINDOW.end,
        limit: String(test.limit ?? 20),
      }).catch((error: unknown) => error as { readonly status: number });
      const fault =
        'status' in answer
          ? test.expect.error === true && answer.status === 400
            ? null
            : `status ${String(answer.status)}`
          : differs(test, answer.facets, answer.truncated);
      if (fault !== null) faults.push(`${test.id} ${test.query}\n    ${fault}`);
    }
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });

  /** The rules of run.py: fields that the cap left out may miss; fields with one value and those always kept may be more; ties at the cut are free. */
  function differs(test: Case, found: Facets, truncated: number): string | null {
    if (test.expect.error === true) return 'accepted';
    const want = (test.expect as { readonly facets?: Readonly<Record<string, readonly (readonly [string, number])[]>> }).facets ?? {};
    const wanted = Object.entries(want).filter(([name]) => name !== '_time' && name !== '_stream_id');
    const missing = wanted.filter(([name]) => !Object.hasOwn(found, name)).length;
    if (missing > truncated) return `${String(missing)} fields are missing, ${String(truncated)} were cut`;
    const extra = Object.entries(found).filter(
      ([name, values]) => !Object.hasOwn(want, name) && !ALWAYS.includes(name) && values.length !== 1,
    );
    if (extra.length > 0) return `more fields: ${extra.map(([name]) => name).join(', ')}`;
    for (const [name, values] of wanted) {
      const got = found[name];
      if (got === undefined) continue;
      const low = values.length >= (test.limit ?? 20) ? (values.at(-1)?.[1] ?? 0) : 0;
      const above = (list: readonly (readonly [string, number])[]): string => JSON.stringify(list.filter(([, hits]) => hits > low).sort());
      if (JSON.stringify(values.map(([, hits]) => hits)) !== JSON.stringify(got.map(({ hits }) => hits))) return `${name}: other hits`;
      if (above(values) !== above(got.map(({ value, hits }) => [value, hits] as const))) return `${name}: other values`;
    }
    return null;
  }
});
