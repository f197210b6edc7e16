import { expect } from 'chai';
import { compress } from 'snappyjs';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import type { IntakePublisher } from '../../../api/ingest/intake-publisher.ts';
import { findPlan, type Plan } from '../../../api/tenants/plans.ts';
import { backpressure, rateLimited, walFull, type HttpError } from '../../../pipeline/core/errors.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { sampleNormalizers } from '../../../pipeline/normalizers/index.ts';
import { SamplesCodec } from '../../../pipeline/samples/sample-chunk.ts';
import { SamplesWriter } from '../../../pipeline/samples/samples-writer.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';
import { bytesField, doubleField, varintField } from '../../pipeline/normalizers/protobuf-writer.ts';

const codec = new SamplesCodec();
const PATHS = ['/v1/metrics', '/api/v1/otel/v1/metrics', '/api/v1/write', '/write', '/api/v2/write'];
const V2 = 'application/x-protobuf;proto=io.prometheus.write.v2.Request';

/** Takes all, and keeps how many; or refuses. */
class FakePublisher implements IntakePublisher {
  refusal: HttpError | null = null;
  accepted = 0;
  writer: IntakePublisher['writer'] = (request) => new SamplesWriter(codec, { ...request, partitions: [0] });
  publish: IntakePublisher['publish'] = ({ accepted, rejected, total }) => {
    this.accepted += accepted;
    return Promise.resolve({ accepted, rejected, total });
  };
  admit(): void {
    if (this.refusal !== null) throw this.refusal;
  }
}

const plan = (name: string, more: Partial<Plan> = {}): { plan: Plan } => ({ plan: { ...(findPlan(name) as Plan), ...more } });

describe('the paths of metrics', () => {
  const publisher = new FakePublisher();
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const endpoints = ingestEndpoints({
      normalizers: sampleNormalizers.members,
      publisher,
      limits: [],
      maxBodyBytes: 1000,
      metrics: new Metrics('test'),
    });
    const features = { metrics: true, replay: true, projects: 0, ai: true };
    host = await startHost({
      endpoints,
      keys: new FakeKeyStore({
        all: plan('team'),
        few: { tenantId: 9, ...plan('team', { seriesPerDay: 1 }) },
        utf8: { tenantId: 8, ...plan('team', { utf8Names: true }) },
        off: plan('team', { features: { ...features, metrics: false } }),
        expired: plan('trial_expired'),
        flagged: plan('trial_expired', { features }),
      }),
    });
  });
  after(() => host.stop());
  afterEach(() => (publisher.refusal = null));

  async function post(
    path: string,
    body: string | Buffer,
    headers: Record<string, string> = {},
    key = 'all',
  ): Promise<{ status: number; headers: Headers; body: unknown }> {
    // prettier-ignore
    const response = await fetch(`${host.url}${path}`, { method: 'POST', body: Buffer.from(body), headers: { authorization: `Token ${key}`, ...headers } });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text };
  }

  it('answer the gate where the plan has no metrics, and after a trial whatever its flags are', async () => {
    for (const path of PATHS)
      for (const key of ['off', 'expired', 'flagged']) {
        const { status, headers, body } = await post(path, 'x', {}, key);
        expect([status, Object.keys(body as object)], `${path} ${key}`).to.deep.equal([503, ['detail']]);
        expect((body as { detail: string }).detail).to.include('metrics ingest is not enabled');
        expect(headers.has('retry-after')).to.equal(false);
      }
  });

  it('answer line protocol and remote write by 204, without a body', async () => {
    const one = bytesField(1, bytesField(1, bytesField(1, '__name__'), bytesField(2, 'up')), bytesField(2, doubleField(1, 1), varintField(2, Date.now()))); // prettier-ignore
    for (const [path, sent] of [
      ['/write', 'm v=1'],
      ['/api/v2/write', 'm v=1'],
      ['/api/v1/write', compress(one)],
    ] as const)
      // prettier-ignore
      expect(await post(path, sent), path).to.include({ status: 204, body: '' });
  });

  it('answer 503 with Retry-After, and no feature, where a 429 would be over soon; 429 of the daily volume', async () => {
    const cases = [
      [backpressure(), 503, '5'],
      [walFull('The disk is nearly full.'), 503, '10'],
      [rateLimited('The daily volume quota is used up.', 60), 429, '60'],
    ] as const;
    for (const [refusal, code, seconds] of cases) {
      publisher.refusal = refusal;
      const { status, headers, body } = await post('/write', 'm v=1');
      expect([status, headers.get('retry-after'), Object.keys(body as object)]).to.deep.equal([code, seconds, ['detail']]);
      expect((body as { detail: string }).detail).to.not.match(/metrics|not enabled|authentication/);
    }
  });

  it('keep what is good of a body, and count and name what is not', async () => {
    const before = publisher.accepted;
    expect(await post('/api/v2/write?precision=s', 'm v=1\nbad\nm v=2')).to.deep.include({ status: 400, body: { detail: '1 of 3 samples and lines were rejected, the others are kept; the first, number 2: the fields are missing: line 2.' } }); // prettier-ignore
    expect(publisher.accepted - before).to.equal(2);
    expect(await post('/write', 'a v=1\nb v=1', {}, 'few')).to.deep.include({ status: 400, body: { detail: '1 of 2 samples and lines were rejected, the others are kept; the first, number 2: more than 1 active series of a day: the label "__name__" has grown most, line 2.' } }); // prettier-ignore
  });

  it('count what remote write 2.0 has written, also where a part of it was rejected', async () => {
    const symbols = ['', '__name__', 'up'].map((symbol) => bytesField(4, symbol));
    const series = (ref: number): Buffer =>
      bytesField(5, bytesField(1, Buffer.from([1, ref])), bytesField(2, doubleField(1, 1), varintField(2, Date.now())));
    const answers = await Promise.all(
      [[series(2)], [series(2), series(7)]].map((all) =>
        post('/api/v1/write', compress(Buffer.concat([...symbols, ...all])), { 'content-type': V2 }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([204, 400]);
    for (const { headers } of answers)
      expect(['samples', 'histograms', 'exemplars'].map((what) => headers.get(`x-prometheus-remote-write-${what}-written`))).to.deep.equal([
        '1',
        '0',
        '0',
      ]);
    expect(
      (await post('/api/v1/write', compress(Buffer.alloc(0)), { 'content-type': 'application/x-protobuf;proto=io.other' })).status,
    ).to.equal(415);
  });

  it('have caps of their own, and name them alone', async () => {
    const cap = 8 * 1_048_576;
    for (const path of PATHS)
      expect(await post(path, Buffer.alloc(cap + 1, 0x20)), path).to.deep.include({
        status: 413,
        body: { detail: `The body is over the cap of ${String(cap)} bytes.` },
      });
    const huge = Buffer.concat([Buffer.from([0x81, 0x80, 0x80, 0x20]), Buffer.alloc(10)]);
    expect(await post('/api/v1/write', huge)).to.deep.include({
      status: 413,
      body: { detail: 'The decompressed body is over the cap of 67108864 bytes.' },
    });
  });

  it('take nothing of bodies that are not what they state', async () => {
    const before = publisher.accepted;
    const good = bytesField(
      1,
      bytesField(1, bytesField(1, '__name__'), bytesField(2, 'up')),
      bytesField(2, doubleField(1, 1), varintField(2, Date.now())),
    );
    for (const body of [
      Buffer.from('nothing'),
      compress(Buffer.concat([good, Buffer.from([0x0a, 0x7f])])),
      compress(good).subarray(0, -1),
      compress(Buffer.concat([good, Buffer.from([0x07])])),
    ])
      expect((await post('/api/v1/write', body)).status).to.equal(400);
    for (const body of ['{"resourceMetrics":[{"scopeMetrics":[{"metrics":1}]}]}', '{', 'x', '['.repeat(100_000)])
      expect((await post('/v1/metrics', body)).status, body.slice(0, 10)).to.equal(400);
    expect(publisher.accepted).to.equal(before);
  });

  it('keep names as they are where the tenant wants it', async () => {
    const otlp = JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'a.b', unit: 's', gauge: { dataPoints: [{ timeUnixNano: `${String(Date.now())}000000`, asDouble: 1 }] } }] }] }] }); // prettier-ignore
    expect((await post('/v1/metrics', otlp, { 'content-type': 'application/json' }, 'utf8')).status).to.equal(200);
    const series = bytesField(
      1,
      bytesField(1, bytesField(1, '__name__'), bytesField(2, 'a.b')),
      bytesField(2, doubleField(1, 1), varintField(2, Date.now())),
    );
    expect((await post('/api/v1/write', compress(series), {}, 'utf8')).status).to.equal(204);
    expect((await post('/api/v1/write', compress(series))).body)
      .to.have.property('detail')
      .that.includes('the flag utf8_names');
  });
});
