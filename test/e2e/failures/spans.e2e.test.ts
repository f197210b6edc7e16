import { expect } from 'chai';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { adminCommand } from '../../../cli/admin.ts';
import { requestOf, tracesProtobuf, type SpanJson } from '../../fixtures/otlp/traces.ts';
import { askClickHouse } from '../engine.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance } from '../shared.ts';
import { killEach } from './kills.ts';

type Tenant = { readonly id: number; readonly key: string };
const KILLS = ['ingest', 'sink', 'processors', 'sink', 'ingest', 'processors'];
const PER_BODY = 20;
const PROTOBUF = { 'Content-Type': 'application/x-protobuf' };
const JSON_BODY = { 'Content-Type': 'application/json' };

let made = 0;
/** An id that no other has. */
const idOf = (digits: number): string => (++made).toString(16).padStart(digits, '0');
const now = (): bigint => BigInt(Date.now()) * 1_000_000n;
const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });

function span(name: string, more: SpanJson = {}): SpanJson {
  const start = now();
  return {
    traceId: idOf(32),
    spanId: idOf(16),
    name,
    kind: 2,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 1_500_000n),
    ...more,
  };
}
const shop = { attributes: [text('service.name', 'shop'), text('host.name', 'h1')] };

describe('spans', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Tenant;

  const post = (
    path: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>>,
    host = instance.ingest,
  ): ReturnType<Instance['call']> => instance.call('POST', `${host}${path}`, body, { Authorization: `Bearer ${tenant.key}`, ...headers });
  const ask = (columns: string, rest: string): Promise<string[][]> =>
    askClickHouse(instance, `SELECT ${columns} FROM spans WHERE tenant_id = ${String(tenant.id)} AND ${rest}`);
  const countOf = async (where: string): Promise<number> => Number((await ask('count()', where))[0]?.[0]);
  const counted = (where: string, count: number): Promise<number> =>
    until(`${String(count)} spans`, () => countOf(where), (found) => found >= count); // prettier-ignore

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  it('are taken on both hosts, in both encodings and compressed, and stored as they were sent', async () => {
    const one = span('GET /cart', {
      parentSpanId: idOf(16),
      traceState: 'a=1',
      flags: 257,
      status: { code: 2, message: 'no "cart"' },
      attributes: [text('http.route', '/cart'), { key: 'n', value: { intValue: '9007199254740993' } }, { key: 'list', value: { arrayValue: { values: [{ doubleValue: 1 }] } } }], // prettier-ignore
      events: [{ timeUnixNano: '1', name: 'e', attributes: [text('k', 'v\n')] }],
      links: [{ traceId: idOf(32), spanId: idOf(16) }],
      ...{ droppedAttributesCount: 1, droppedEventsCount: 2, droppedLinksCount: 3 },
    });
    const json = JSON.stringify(requestOf([one], shop));
    const protobuf = tracesProtobuf(requestOf([one], shop));
    const sent: readonly (readonly [string, string, string | Buffer, Readonly<Record<string, string>>])[] = [
      [instance.ingest, '/v1/traces', json, JSON_BODY],
      [instance.app, '/v1/traces', protobuf, PROTOBUF],
      [instance.app, '/insert/opentelemetry/v1/traces', gzipSync(json), { ...JSON_BODY, 'Content-Encoding': 'gzip' }],
      [instance.ingest, '/otlp/v1/traces', zstdCompressSync(protobuf), { ...PROTOBUF, 'Content-Encoding': 'zstd' }],
    ];
    for (const [host, path, body, headers] of sent) {
      const answer = await post(path, body, headers, host);
      expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).to.deep.equal([200, headers['Content-Type']]);
    }
    await counted("name = 'GET /cart'", 4);
    const columns =
      'lower(hex(trace_id)), lower(hex(span_id)), lower(hex(parent_span_id)), toUnixTimestamp64Nano(time), duration, service, name, kind, status, status_message, trace_state, flags, scope, resource, toString(attributes), attribute_types, events, dropped_attributes, dropped_events, dropped_links';
    const rows = await ask(`DISTINCT ${columns}`, "name = 'GET /cart'");
    const event = String.raw`[{"timeUnixNano":"1","name":"e","attributes":[{"key":"k","value":{"stringValue":"v\\n"}}]}]`;
    expect(rows).to.deep.equal([
      [
        ...[one['traceId'], one['spanId'], one['parentSpanId'], one['startTimeUnixNano'], '1500000', 'shop', 'GET /cart', '2', '2'],
        ...['no "cart"', 'a=1', '257', 'lib', '{"service.name":"shop","host.name":"h1"}'],
        ...[String.raw`{\'http.route\':\'/cart\',\'n\':\'9007199254740993\',\'list\':\'[1.0]\'}`, 'siv', event, '1', '2', '3'],
      ],
    ]);
  });

  it('are rejected by themselves, and refused as all paths of ingest refuse', async () => {
    const { status, body } = await post('/v1/traces', JSON.stringify(requestOf([span('good'), span('bad', { traceId: 'ab' })])), JSON_BODY);
    const { partialSuccess } = body as { partialSuccess: { rejectedSpans: string; errorMessage: string } };
    expect([status, partialSuccess.rejectedSpans]).to.deep.equal([200, '1']);
    expect(partialSuccess.errorMessage).to.equal('1 of 2 spans were rejected; the first, number 1: the trace id is not 16 bytes');
    expect(await post('/v1/traces', '{', JSON_BODY)).to.deep.include({ status: 400 });
    expect((await post('/v1/traces', Buffer.alloc(2_100_000), PROTOBUF)).status).to.equal(413);
    expect((await post('/v1/traces', gzipSync(Buffer.alloc(2_100_000)), { ...PROTOBUF, 'Content-Encoding': 'gzip' })).status).to.equal(413);
    const foreign = await post('/v1/traces', '{}', { ...JSON_BODY, Authorization: 'Bearer unknown' });
    expect([foreign.status, (foreign.body as { error: string }).error]).to.deep.equal([403, 'forbidden']);
    expect((await instance.call('GET', `${instance.ingest}/v1/traces`)).status).to.equal(405);
  });

  it('of Zipkin are answered by 202', async () => {
    const one = {
      traceId: idOf(16),
      id: idOf(16),
      name: 'zipkin',
      timestamp: Date.now() * 1000,
      duration: 5,
      kind: 'CLIENT',
      localEndpoint: { serviceName: 'z' },
    };
    const { status, body } = await post('/api/v2/spans', JSON.stringify([one, {}]), JSON_BODY);
    expect([status, body]).to.deep.equal([202, '']);
    await counted("name = 'zipkin'", 1);
    expect(await ask('lower(hex(trace_id)), duration, service, kind', "name = 'zipkin'")).to.deep.equal([
      [one.traceId.padStart(32, '0'), '5000', 'z', '3'],
    ]);
  });

  it('that were sent twice are one where they are read, and their trace has a row', async () => {
    const root = span('root', { status: { code: 0 } });
    const child = span('child', { traceId: root['traceId'], parentSpanId: root['spanId'], status: { code: 2 } });
    const body = JSON.stringify(requestOf([root, child], shop));
    for (let time = 0; time < 2; time++) expect((await post('/v1/traces', body, JSON_BODY)).status).to.equal(200);
    const where = `trace_id = unhex('${String(root['traceId'])}')`;
    await counted(where, 4);
    const once = await ask('name', `${where} ORDER BY arrived DESC, kafka_off DESC, kafka_idx DESC LIMIT 1 BY trace_id, span_id, kind`);
    expect(once.flat().sort()).to.deep.equal(['child', 'root']);
    const trace = await ask(
      `toUnixTimestamp64Nano(min(time)), toUnixTimestamp64Nano(max(addNanoseconds(time, duration))), groupUniqArray(service), count(), countIf(status = 2), argMinIf((service, name), time, parent_span_id = toFixedString('', 8))`,
      `${where} GROUP BY tenant_id, trace_id`,
    );
    expect(trace).to.deep.equal([
      [root['startTimeUnixNano'], child['endTimeUnixNano'], String.raw`[\'shop\']`.replaceAll('\\', ''), '4', '2', "('shop','root')"],
    ]);
  });

  it('are stored once through kills of every process, and counted for their tenant', async () => {
    const { names: acknowledged, bytes } = await killEach(instance, KILLS, async (turn) => {
      const spans = Array.from({ length: PER_BODY }, () => span('kill', { attributes: [text('k', 'v')] }));
      const isJson = turn % 2 === 0;
      const body = isJson ? Buffer.from(JSON.stringify(requestOf(spans, shop))) : tracesProtobuf(requestOf(spans, shop));
      const { status } = await post('/v1/traces', body, isJson ? JSON_BODY : PROTOBUF).catch(() => ({ status: 0 }));
      return { names: spans.map(({ spanId }) => String(spanId)), bytes: body.length, isTaken: status === 200 };
    });
    await counted("name = 'kill'", acknowledged.size);
    const rows = await ask('lower(hex(span_id)), count()', "name = 'kill' GROUP BY span_id");
    const stored = new Map(rows.map(([id = '', count]) => [id, Number(count)]));
    expect([...acknowledged].filter((id) => !stored.has(id))).to.deep.equal([]);
    expect([...stored.values()].filter((count) => count !== 1)).to.deep.equal([]);
    const { stdout, code } = await runCli(instance, tenant, ['audit', '--topic', 'spans.v1', '--json']);
    expect(code, stdout).to.equal(0);
    expect(JSON.parse(stdout)).to.include({ lost: 0, doubled: 0 });
    const usage = async (): Promise<number> => {
      let printed = '';
      const write = (part: string): void => void (printed += part);
      await adminCommand(['usage', '--tenant', String(tenant.id), '--json'], instance.env, { out: write, err: write });
      const [day] = JSON.parse(printed) as { signals: Record<string, number>; bytes: number }[];
      expect(day?.signals['logs']).to.equal(0);
      return day?.signals['spans'] ?? 0;
    };
    await until('the usage', usage, (used) => used >= bytes);
  });
});
