import { expect } from 'chai';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import type { IntakePublisher } from '../../../api/ingest/intake-publisher.ts';
import { findPlan, PLANS, type Plan } from '../../../api/tenants/plans.ts';
import { backpressure, type HttpError } from '../../../pipeline/core/errors.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { replayNormalizers } from '../../../pipeline/normalizers/index.ts';
import { ReplayWriter } from '../../../pipeline/replay/replay-writer.ts';
import { SessionBounds } from '../../../pipeline/replay/session-bounds.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

const PATH = '/v1/rum/replay';
const MEGABYTES = 8 * 1_048_576;

/** Takes all, and keeps how many; or refuses. */
class FakePublisher implements IntakePublisher {
  refusal: HttpError | null = null;
  accepted = 0;
  sessions: string[] = [];
  readonly #bounds = new SessionBounds();
  writer: IntakePublisher['writer'] = (request) => new ReplayWriter(this.#bounds, { ...request, partitions: [0] });
  publish: IntakePublisher['publish'] = ({ accepted, rejected, total }) => {
    this.accepted += accepted;
    return Promise.resolve({ accepted, rejected, total });
  };
  admit(): void {
    if (this.refusal !== null) throw this.refusal;
  }
}

const plan = (name: string, more: Partial<Plan> = {}): { plan: Plan } => ({ plan: { ...(findPlan(name) as Plan), ...more } });
const FEATURES = { metrics: true, replay: true, projects: 0, ai: true };
const batch = (session: string, time = Date.now()): string =>
  JSON.stringify({ session_id: session, events: [{ type: 4, data: { href: 'https://shop.example/' }, timestamp: time }] });

describe('the path of replay', () => {
  const publisher = new FakePublisher();
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const endpoints = ingestEndpoints({
      ...{ normalizers: replayNormalizers.members, publisher, limits: [], maxBodyBytes: 1000, metrics: new Metrics('test') },
    });
    host = await startHost({
      endpoints,
      corsOrigins: ['https://shop.example'],
      keys: new FakeKeyStore({
        all: plan('team', { features: FEATURES }),
        reader: { ...plan('team', { features: FEATURES }), scopes: new Set(['read']) },
        ...Object.fromEntries(PLANS.map(({ name }) => [`plan-${name}`, plan(name)])),
        flagged: plan('trial_expired', { features: FEATURES }),
      }),
    });
  });
  after(() => host.stop());
  afterEach(() => (publisher.refusal = null));

  async function post(
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = { authorization: 'Bearer all' },
    query = '',
  ): Promise<{ status: number; headers: Headers; json: { detail?: string } & Record<string, unknown> }> {
    const response = await fetch(`${host.url}${PATH}${query}`, { method: 'POST', headers, body });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  }
  const key = { authorization: 'Bearer all' };

  it('answers 202 {"status":"ok"}, plain, as gzip and as zstd', async () => {
    for (const [coding, body] of [
      ['', Buffer.from(batch('s'))],
      ['gzip', gzipSync(batch('s'))],
      ['zstd', zstdCompressSync(batch('s'))],
    ] as const) {
      const { status, json } = await post(new Uint8Array(body), { ...key, ...(coding === '' ? {} : { 'content-encoding': coding }) });
      expect([status, json]).to.deep.equal([202, { status: 'ok' }]);
    }
  });

  it('takes what sendBeacon sends: text/plain, and the key in the query', async () => {
    const { status } = await post(batch('s'), { 'content-type': 'text/plain;charset=UTF-8' }, '?api_key=all');
    expect(status).to.equal(202);
    const other = await post('[]', { 'content-type': 'text/plain' }, '?api_key=all&session_id=s');
    expect([other.status, other.json.detail]).to.deep.equal([400, 'The body has no events.']);
    expect((await post(batch('s'), {}, '?api_key=wrong')).status).to.equal(403);
    expect((await post(batch('s'), {})).status).to.equal(401);
  });

  it('takes keys as the app plane does, with the scope ingest', async () => {
    for (const headers of [
      { authorization: 'token all' },
      { authorization: 'bearer all' },
      { authorization: `Basic ${Buffer.from('all:').toString('base64')}` },
      { 'x-api-key': 'all' },
    ] as Record<string, string>[])
      expect((await post(batch('s'), headers)).status, JSON.stringify(headers)).to.equal(202);
    expect((await post(batch('s'), { authorization: 'Bearer reader' })).status).to.equal(403);
  });

  it('has the gate of the plan, behind the key and before the body', async () => {
    for (const { name, features } of PLANS) {
      const { status, json, headers } = await post('not JSON', { authorization: `Bearer plan-${name}` });
      const isOpen = features.replay && name !== 'trial_expired';
      expect(status, name).to.equal(isOpen ? 400 : 503);
      if (isOpen) continue;
      expect(json.detail).to.match(/session replay is not enabled/);
      expect(headers.has('retry-after')).to.equal(false);
    }
    expect((await post(batch('s'), { authorization: 'Bearer flagged' })).status).to.equal(503);
  });

  it('lets pages of the listed origins ask first, and send session ids in a header', async () => {
    const ask = (origin: string): Promise<Response> =>
      fetch(`${host.url}${PATH}`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-session-id' },
      });
    const answer = await ask('https://shop.example');
    expect(answer.status).to.equal(204);
    expect(answer.headers.get('access-control-allow-origin')).to.equal('https://shop.example');
    for (const name of ['Authorization', 'Content-Encoding', 'X-Session-Id', 'X-API-Key'])
      expect(answer.headers.get('access-control-allow-headers')?.split(', ')).to.include(name);
    expect((await ask('https://evil.example')).headers.has('access-control-allow-origin')).to.equal(false);
  });

  it('has caps of 8 MB each way', async () => {
    const filled = (bytes: number): string => batch('s').padEnd(bytes, ' ');
    expect((await post(filled(MEGABYTES))).status).to.equal(202);
    expect((await post(filled(MEGABYTES + 1))).status).to.equal(413);
    const bomb = await post(new Uint8Array(gzipSync(filled(MEGABYTES + 1))), { ...key, 'content-encoding': 'gzip' });
    expect([bomb.status, bomb.json.detail]).to.deep.equal([
      413,
      `The decompressed body has more than ${String(MEGABYTES)} bytes; the cap is ${String(MEGABYTES)} bytes.`,
    ]);
  });

  it('says what is wrong with a session, and what is too much of it', async () => {
    for (const [body, detail] of [
      ['', /The body is empty/],
      ['{"events":[{"type":0,"data":{},"timestamp":1}]}', /No event of the body could be read|No session is named/],
      ['[{"type":0,"data":{},"timestamp":1}]', /No event of the body could be read|No session is named/],
      ['{"session_id":"a b","events":[]}', /The id of a session has 1 to 128 characters/],
      [`{"session_id":"${'a'.repeat(129)}","events":[]}`, /The id of a session has 1 to 128 characters/],
    ] as const) {
      const { status, json } = await post(body);
      expect(status, body).to.equal(400);
      expect(json.detail, body).to.match(detail);
    }
    const now = Date.now();
    expect((await post(batch('long', now - 13 * 3_600_000))).status).to.equal(202);
    const { status, json } = await post(batch('long', now));
    expect([status, json.detail]).to.deep.equal([
      413,
      'The session is longer than 12 hours, which is the most that one may last; begin another one.',
    ]);
  });

  it('says when it cannot take more now', async () => {
    publisher.refusal = backpressure();
    const { status, headers } = await post(batch('s'));
    expect([status, headers.get('retry-after')]).to.deep.equal([429, '5']);
  });
});
