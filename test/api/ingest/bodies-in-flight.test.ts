import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { findPlan, type Plan } from '../../../api/tenants/plans.ts';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { BodiesInFlight } from '../../../api/http/bodies-in-flight.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { eventually } from '../../fakes/eventually.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { linesFormat } from '../../fakes/normalizers.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { startHost } from '../../fakes/test-host.ts';

const MAX = 400_000;

describe('the room for bodies, over HTTP', () => {
  let now = 0;
  const bodies = new BodiesInFlight({ maxBytes: MAX, now: () => now });
  let host: Awaited<ReturnType<typeof startHost>>;
  const clients: RawClient[] = [];
  before(async () => {
    const metrics = new Metrics('test');
    const publisher = new FakeLogPublisher();
    host = await startHost({
      endpoints: ingestEndpoints({ normalizers: [linesFormat], publisher, limits: [], maxBodyBytes: 300_000, metrics, bodies }),
      keys: new FakeKeyStore({
        bad: { tenantId: 1, plan: findPlan('team') as Plan },
        good: { tenantId: 2, plan: findPlan('team') as Plan },
      }),
      metrics,
    });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await eventually('the end of all bodies', () => bodies.bytes, (bytes) => bytes === 0); // prettier-ignore
  });
  after(() => host.stop());

  /** A request whose body stays unfinished. */
  function upload(key: string, announced: number, sent: number): RawClient {
    const client = new RawClient(Number(new URL(host.url).port));
    clients.push(client);
    client.send(`POST /lines HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${String(announced)}\r\n\r\n`);
    return client.send('x'.repeat(sent));
  }
  const post = (key: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${host.url}/lines`, { method: 'POST', body, headers: { authorization: `Bearer ${key}`, ...headers } });
  const held = (bytes: number): Promise<number> => eventually('the bytes', () => bodies.bytes, (now) => now === bytes); // prettier-ignore

  it('is not taken by many that send a byte and wait', async () => {
    for (let n = 0; n < 80; n++) upload('bad', 300_000, 1);
    await held(80);
    expect((await post('good', 'x'.repeat(90_000))).status).to.equal(200);
    expect((await post('bad', 'x'.repeat(90_000))).status).to.equal(200);
  });

  it('is a quarter for a tenant: the rest of it is told so, others are taken', async () => {
    upload('bad', 300_000, 60_000);
    await held(60_000);
    const answer = await post('bad', 'x'.repeat(60_000));
    expect(answer.status).to.equal(429);
    expect(await answer.json()).to.include({ error: 'backpressure', retry_after: 5 });
    expect((await post('good', 'x'.repeat(60_000))).status).to.equal(200);
  });

  it('counts what a body is when it is decompressed', async () => {
    upload('bad', 300_000, 60_000);
    await held(60_000);
    const packed = gzipSync(Buffer.alloc(60_000, 'x\n'));
    expect((await post('bad', packed, { 'content-encoding': 'gzip' })).status).to.equal(429);
    expect((await post('good', packed, { 'content-encoding': 'gzip' })).status).to.equal(200);
  });

  it('is taken from who sends slowly, once it is needed', async () => {
    const slow = upload('bad', 300_000, 100_000);
    await held(100_000);
    now += 10_000;
    expect((await post('good', 'x'.repeat(120_000))).status).to.equal(200);
    const answer = await slow.answer();
    expect(answer.status).to.equal(408);
    expect(JSON.parse(answer.body)).to.include({ error: 'request_timeout' });
    await slow.gone();
  });
});
