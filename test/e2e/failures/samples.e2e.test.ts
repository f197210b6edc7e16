import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { compress } from 'snappyjs';
import { StoredSamples, type SeriesSamples } from '../../../api/metrics/sample-source.ts';
import type { Matcher } from '../../../api/metrics/matcher.ts';
import { adminCommand } from '../../../cli/admin.ts';
import { readHistogram } from '../../../pipeline/samples/histogram.ts';
import { Store } from '../../../pipeline/store/client.ts';
import { bytesField, doubleField, varint, varintField } from '../../pipeline/normalizers/protobuf-writer.ts';
import { askClickHouse } from '../engine.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance } from '../shared.ts';
import { killEach } from './kills.ts';

type Tenant = { readonly id: number; readonly key: string };
const KILLS = ['ingest', 'sink', 'processors', 'sink', 'app', 'ingest'];
const PER_BODY = 50;
const NAMES: Matcher['op'][] = ['=', '!=', '=~', '!~'];

const label = (name: string, value: string): Buffer => bytesField(1, bytesField(1, name), bytesField(2, value));
const bits = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(9, 0x09);
  bytes.writeBigUInt64LE(value, 1);
  return bytes;
};
const sample = (value: bigint, time: number): Buffer => bytesField(2, bits(value), varintField(2, time));
const one = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0] as bigint;
const series = (labels: Readonly<Record<string, string>>, ...rest: readonly Buffer[]): Buffer =>
  bytesField(1, ...Object.entries(labels).map(([name, value]) => label(name, value)), ...rest);

describe('samples', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Tenant;
  let store: Store;

  const post = (
    target: string,
    body: Buffer | string,
    headers: Readonly<Record<string, string>> = {},
    host = instance.app,
    key = tenant.key,
  ): ReturnType<Instance['call']> => instance.call('POST', `${host}${target}`, body, { Authorization: `Bearer ${key}`, ...headers });
  const write = (body: Buffer, host = instance.app): ReturnType<Instance['call']> =>
    post('/api/v1/write', compress(body), { 'Content-Type': 'application/x-protobuf' }, host);
  const ask = (columns: string, rest: string): Promise<string[][]> =>
    askClickHouse(instance, `SELECT ${columns} FROM samples WHERE tenant_id = ${String(tenant.id)} AND ${rest}`);
  const read = async (matchers: readonly Matcher[], from = 0, to = Date.now() + 1e8, id = tenant.id): Promise<SeriesSamples[]> => {
    const found: SeriesSamples[] = [];
    const source = new StoredSamples(store, { tenantId: id, timeoutMs: 30_000 }, null);
    for await (const each of source.select(matchers, from, to)) found.push(each);
    return found;
  };
  const named = (name: string): Matcher[] => [{ name: '__name__', op: '=', value: name }];
  /** Waits until so many samples of a metric are read. */
  const samplesOf = (name: string, count: number): Promise<SeriesSamples[]> =>
    until(`${String(count)} samples of ${name}`, () => read(named(name)), (found) => found.reduce((sum, { timestamps, histograms }) => sum + timestamps.length + histograms.timestamps.length, 0) >= count); // prettier-ignore
  const flag = (name: string, value: string): Promise<unknown> =>
    adminCommand(['tenant', 'set-flag', '--tenant', String(tenant.id), '--flag', name, '--value', value], instance.env, {
      out: () => undefined,
      err: () => undefined,
    });

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    const text = (name: string): string => readFileSync(path.join(instance.dataDir, 'clickhouse', name), 'utf8').trim();
    const secrets = JSON.parse(text('secrets.json')) as { password: string; readerPassword: string };
    store = new Store({
      ...{ url: text('url'), database: 'logweir', user: 'logweir', password: secrets.password },
      ...{ readerUser: 'reader', readerPassword: secrets.readerPassword },
    });
  });
  after(() => store.close());

  it('come back bit for bit, in the order of time, of equal times the one that arrived last', async () => {
    const now = Date.now();
    const values = [0x7ff0000000000002n, 0x7ff8000000000001n, one(Infinity), one(-Infinity), 1n << 63n, 1n, one(0.1)];
    const labels = { __name__: 'exact', job: 'a', path: '/"\\\n' };
    // any order of time
    const body = series(labels, ...[3, 0, 6, 1, 5, 2, 4].map((n) => sample(values[n] as bigint, now + n)));
    expect((await write(body, instance.ingest)).status).to.equal(204);
    expect((await write(series(labels, sample(one(1), now + 7), sample(one(2), now + 7)))).status).to.equal(204);
    await samplesOf('exact', 8);
    expect((await write(series(labels, sample(one(3), now + 7), sample(one(9), now)))).status).to.equal(204);
    const again = await until('the later arrival', () => read(named('exact')), ([found]) => found?.values[7] === 3); // prettier-ignore
    expect(again).to.have.lengthOf(1);
    const [found] = again;
    expect([...(found?.labels ?? [])].sort()).to.deep.equal(Object.entries(labels).sort());
    expect([...(found?.timestamps ?? [])]).to.deep.equal(Array.from({ length: 8 }, (_none, n) => now + n));
    expect([...new BigUint64Array(found?.values.buffer as ArrayBuffer)]).to.deep.equal([one(9), ...values.slice(1), one(3)]);
    expect((await read(named('exact'), now + 2, now + 4))[0]?.timestamps).to.deep.equal(Float64Array.of(now + 2, now + 3, now + 4));
  });

  it('are found by matchers, a tenant its own', async () => {
    const now = Date.now();
    const other = await newTenant(instance);
    const body = Buffer.concat(
      [{ job: 'a' }, { job: 'ab' }, {}].map((labels) => series({ __name__: 'found', ...labels }, sample(one(1), now))),
    );
    expect((await write(body)).status).to.equal(204);
    await samplesOf('found', 3);
    const jobs = async (op: Matcher['op'], value: string, id = tenant.id): Promise<unknown[]> =>
      (await read([...named('found'), { name: 'job', op, value }], 0, now + 1, id)).map(({ labels }) => labels.get('job') ?? '').sort();
    expect(await Promise.all(NAMES.map((op) => jobs(op, 'a')))).to.deep.equal([['a'], ['', 'ab'], ['a'], ['', 'ab']]);
    expect(await jobs('=~', 'a.*')).to.deep.equal(['a', 'ab']);
    expect(await jobs('=', '')).to.deep.equal(['']);
    expect(await jobs('=~', '.*', other.id)).to.deep.equal([]);
  });

  it('that are histograms, exemplars and metadata are kept, and deltas say so', async () => {
    const now = Date.now();
    const histogram = bytesField(4, varintField(1, 6), doubleField(3, 30), varintField(4, 2), varintField(6, 1), bytesField(11, varintField(1, 4), varintField(2, 2)), bytesField(12, varint(2), varint(4)), varintField(15, now)); // prettier-ignore
    const exemplar = bytesField(3, label('trace_id', 'ab'), doubleField(2, 0.5), varintField(3, now));
    expect((await write(Buffer.concat([series({ __name__: 'native' }, histogram, exemplar), bytesField(3, varintField(1, 3), bytesField(2, 'native'), bytesField(4, 'Help.'))]))).status).to.equal(204); // prettier-ignore
    const [native] = await samplesOf('native', 1);
    expect([...(native?.histograms.sums ?? [])]).to.deep.equal([30]);
    const payload = native?.histograms.payloads[0] ?? Buffer.alloc(0);
    expect(readHistogram(payload)).to.include({ schema: 1, count: 6, zeroCount: 1 }).and.deep.include({ positive: [1, 3], positiveSpans: [{ offset: 2, length: 2 }] }); // prettier-ignore
    expect(await ask('payload, value', 'type = 2')).to.deep.equal([['{"trace_id":"ab"}', '0.5']]);
    expect(await askClickHouse(instance, `SELECT kind, help FROM metrics WHERE tenant_id = ${String(tenant.id)} AND metric = 'native'`)).to.deep.equal([['histogram', 'Help.']]); // prettier-ignore
    const point = { timeUnixNano: `${String(now)}000000`, asInt: '5' };
    const metrics = [{ name: 'jobs', sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: [point] } }];
    const { status, body } = await post('/v1/metrics', JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }), {
      'Content-Type': 'application/json',
    });
    expect([status, body]).to.deep.equal([200, { partialSuccess: {} }]);
    expect((await samplesOf('jobs_total', 1))[0]).to.include({ isDelta: true, kind: 'counter' });
  });

  it('are refused as the contract says: alone, with their number, by the gate, and over the ceiling', async () => {
    const partial = await post('/write?precision=ms', 'good v=1\nbad\n', {}, instance.ingest);
    expect(partial.status).to.equal(400);
    expect(partial.body).to.deep.equal({ detail: '1 of 2 samples and lines were rejected, the others are kept; the first, number 2: the fields are missing: line 2.' }); // prettier-ignore
    await samplesOf('good_v', 1);
    const lying = await post('/api/v1/write', Buffer.from('ff00', 'hex'));
    expect([lying.status, Object.keys(lying.body as object)]).to.deep.equal([400, ['detail']]);
    expect(
      (await post('/api/v1/write', compress(Buffer.alloc(0)), { 'Content-Type': 'application/x-protobuf;proto=io.other' })).status,
    ).to.equal(415);
    // a larger one as it is would be cut off while it is sent
    const large = await post('/v1/metrics', gzipSync(Buffer.alloc(8_388_609)), { 'Content-Encoding': 'gzip' });
    expect([large.status, (large.body as { detail: string }).detail]).to.deep.equal([
      413,
      'The decompressed body is over the cap of 8388608 bytes.',
    ]);
    const many = series({ __name__: 'many' }, Buffer.concat(Array.from({ length: 500_001 }, (_none, n) => sample(1n, Date.now() + n))));
    expect((await write(many)).status).to.equal(413);
    expect(await read(named('many'))).to.deep.equal([]);
    await flag('metrics', 'off');
    for (const target of ['/v1/metrics', '/api/v1/otel/v1/metrics', '/api/v1/write', '/write', '/api/v2/write'])
      for (const host of [instance.app, instance.ingest]) {
        const { status, body } = await post(target, 'x', {}, host);
        expect([status, Object.keys(body as object)], target).to.deep.equal([503, ['detail']]);
        expect((body as { detail: string }).detail).to.include('metrics ingest is not enabled');
      }
    await flag('metrics', 'default');
    expect((await post('/write', 'again v=1')).status).to.equal(204);
  });

  it('are counted by series', async () => {
    await samplesOf('good_v', 1);
    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/metrics/cardinality`;
    const { status, body } = await instance.call('GET', url, undefined, { Authorization: `Bearer ${tenant.key}` });
    expect(status).to.equal(200);
    const { active_series, limit, metrics } = body as {
      active_series: number;
      limit: number | null;
      metrics: { metric: string; series: number }[];
    };
    expect(limit).to.equal(null);
    expect(active_series).to.be.at.least(6);
    expect(metrics[0]).to.deep.equal({ metric: 'found', series: 3 });
  });

  it('are stored once through kills of every process', async () => {
    const { names: acknowledged } = await killEach(instance, KILLS, async (turn) => {
      const now = Date.now();
      const ids = Array.from({ length: PER_BODY }, (_none, at) => String(turn * PER_BODY + at));
      const host = turn % 2 === 0 ? instance.app : instance.ingest;
      // each second series is a new one, and the others are known
      const labels = (id: string): Record<string, string> => ({ __name__: 'kill', pod: Number(id) % 2 === 0 ? id : 'same' });
      const body = Buffer.concat(ids.map((id) => series(labels(id), sample(one(Number(id)), now))));
      const { status } = await write(body, host).catch(() => ({ status: 0 }));
      return { names: ids, bytes: body.length, isTaken: status === 204 };
    });
    const where = `series IN (SELECT series FROM series WHERE tenant_id = ${String(tenant.id)} AND metric = 'kill')`;
    const rows = await until('all samples', () => ask('toUInt64(value), count()', `${where} GROUP BY value`), (found) => found.length >= acknowledged.size); // prettier-ignore
    const stored = new Map(rows.map(([id = '', count]) => [id, Number(count)]));
    expect([...acknowledged].filter((id) => !stored.has(id))).to.deep.equal([]);
    expect([...stored.values()].filter((count) => count !== 1)).to.deep.equal([]);
    const pods = new Set((await read(named('kill'))).map(({ labels }) => labels.get('pod')));
    expect([...acknowledged].filter((id) => Number(id) % 2 === 0 && !pods.has(id))).to.deep.equal([]);
    const { stdout, code } = await runCli(instance, tenant, ['audit', '--topic', 'samples.v1', '--json']);
    expect(code, stdout).to.equal(0);
    expect(JSON.parse(stdout)).to.include({ lost: 0, doubled: 0 });
  });
});
