import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { until, type Instance } from '../instance.ts';
import { sharedInstance } from '../shared.ts';

type Answer = Awaited<ReturnType<Instance['call']>>;
type Refusal = { readonly error: string; readonly detail: string; readonly request_id: string; readonly retry_after: number };

const DAY_MS = 86_400_000;
const batch = (entries: number): string => '{"_msg":"x"}\n'.repeat(entries);

describe('the limits of a plan', function () {
  this.timeout(600_000);
  let instance: Instance;
  let token = '';
  let tenant: { readonly tenant_id: number; readonly key: string };

  before(async () => {
    instance = await sharedInstance();
    token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
  });

  async function admin<Body>(method: string, at: string, body?: object): Promise<Body> {
    const answer = await instance.call(method, `${instance.admin}/admin${at}`, body, { Authorization: `Bearer ${token}` });
    expect(answer.status, JSON.stringify(answer.body)).to.be.below(300);
    return answer.body as Body;
  }
  const auth = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  const post = (body: string, host: 'ingest' | 'app' = 'ingest', at = '/api/v1/ingest'): Promise<Answer> =>
    instance.call('POST', `${instance[host]}${at}`, body, auth());
  const search = (): Promise<Answer> =>
    instance.call('POST', `${instance.app}/api/v1/tenants/${tenant.tenant_id}/search`, { query: '*' }, auth());

  /** The refusal in an answer, after what all refusals have in common was checked. */
  function refusal({ status, headers, body }: Answer, slug = 'rate_limited'): Refusal {
    expect(status, JSON.stringify(body)).to.equal(429);
    const refused = body as Refusal;
    expect(Object.keys(refused).sort()).to.deep.equal(['detail', 'error', 'request_id', 'retry_after']);
    expect(refused.error).to.equal(slug);
    expect(refused.request_id).to.equal(headers.get('x-request-id'));
    expect(headers.get('retry-after')).to.equal(String(refused.retry_after));
    return refused;
  }

  it('a trial: what fits inside the burst is taken, in debt a larger batch waits as long as it is told', async () => {
    tenant = await admin('POST', '/tenants', { name: 'burst', plan: 'trial' });
    for (let request = 0; request < 6; request++) expect((await post(batch(2500))).status, `batch ${request}`).to.equal(200);
    let [before, sentAt, answer]: [number, number, Answer | null] = [0, 0, null];
    // 500 come back in a second: on a busy machine all that is missing, before the next request is there
    while (answer === null || answer.status === 200) {
      before = performance.now();
      expect((await post(batch(2500))).status, 'inside the burst, in debt').to.equal(200);
      sentAt = performance.now();
      answer = await post(batch(2501));
    }
    const { retry_after: seconds, detail } = refusal(answer);
    const answeredAt = performance.now();
    expect(seconds).to.be.within(Math.max(1, Math.floor(3 - (answeredAt - before) / 1000)), 5);
    expect(detail)
      .to.contain('500 entries/s')
      .and.not.to.match(/daily|quota/);
    const tries: number[] = [];
    await until(
      'the debt to be paid',
      () => {
        tries.push(performance.now());
        return post(batch(2501));
      },
      ({ status }) => status === 200,
    );
    expect(performance.now() - sentAt).to.be.at.least((seconds - 1) * 1000);
    // no try from then on was refused
    expect((tries.at(-2) ?? answeredAt) - answeredAt).to.be.below(seconds * 1000);
  });

  it('a request with no entry that can be taken costs nothing', async () => {
    tenant = await admin('POST', '/tenants', { name: 'nothing', plan: 'trial' });
    for (let request = 0; request < 5; request++) expect((await post('{"level":"info"}\n'.repeat(5000))).status).to.equal(400);
    for (let request = 0; request < 2; request++) expect((await post('[]')).status).to.equal(200);
    expect((await post(batch(2501))).status).to.equal(200);
  });

  it('an expired trial: ingest is refused on both hosts, queries go on, two keys are all; a payment ends it', async () => {
    const signup = new Date(Date.now() - 15 * DAY_MS).toISOString();
    tenant = await admin('POST', '/tenants', { name: 'expired', plan: 'trial', signup });
    expect((await post(batch(3))).status, 'before the sweep').to.equal(200);
    const moved = await admin<{ tenant_id: number; plan: string }[]>('POST', '/sweep');
    expect(moved.map(({ tenant_id, plan }) => [tenant_id, plan])).to.deep.equal([[tenant.tenant_id, 'trial_expired']]);
    expect(await admin('POST', '/sweep')).to.deep.equal([]);
    for (const host of ['ingest', 'app'] as const) {
      for (const at of ['/api/v1/ingest', '/_bulk', '/insert/elasticsearch/_bulk']) {
        for (const body of [batch(1), 'x'.repeat(3_000_000), '']) {
          const { detail, retry_after } = refusal(await post(body, host, at));
          expect(retry_after).to.equal(60);
          for (const words of ['daily ingest quota is zero', 'trial_expired', 'trial expired', 'add a payment method'])
            expect(detail).to.contain(words);
        }
      }
    }
    await until(
      'what was sent before',
      async () => (await search()).body as { logs: unknown[] },
      ({ logs }) => logs.length === 3,
    );
    const keys = `/tenants/${tenant.tenant_id}/keys`;
    await admin('POST', keys);
    const third = await instance.call('POST', `${instance.admin}/admin${keys}`, {}, { Authorization: `Bearer ${token}` });
    expect([third.status, (third.body as Refusal).detail]).to.deep.equal([
      403,
      'The plan trial_expired allows 2 API keys; revoke one, or add a payment method.',
    ]);
    expect(await admin('POST', `/tenants/${tenant.tenant_id}/add-payment`)).to.include({ plan: 'team', payment: true });
    for (const host of ['ingest', 'app'] as const) expect((await post(batch(1), host)).status).to.equal(200);
    expect(await admin('POST', '/sweep')).to.deep.equal([]);
  });

  it('a volume: the request that crosses the ceiling is taken whole, then none on either host until more is allowed', async () => {
    tenant = await admin('POST', '/tenants', { name: 'volume', plan: 'custom' });
    const flag = (name: string, value: string): Promise<unknown> => admin('PUT', `/tenants/${tenant.tenant_id}/flags/${name}`, { value });
    await flag('daily_bytes', '1300');
    await flag('ceiling_bytes', '2600');
    const send = (): Promise<Answer> => post(batch(100));
    expect((await send()).status, 'included').to.equal(200);
    expect((await send()).status, 'beyond it, since it is paid for').to.equal(200);
    const day = new Date().getUTCDate();
    for (const host of ['ingest', 'app'] as const) {
      const answer = await until(
        `the quota on the ${host} host`,
        () => post(batch(100), host),
        ({ status }) => status !== 200,
      );
      // at midnight the volume begins anew
      if (new Date().getUTCDate() !== day) return;
      const { detail, retry_after } = refusal(answer);
      expect(retry_after).to.equal(60);
      for (const words of ['daily volume', 'quota', '00:00 UTC', 'plan custom', '2600 bytes']) expect(detail).to.contain(words);
    }
    expect((await search()).status).to.equal(200);
    await flag('ceiling_bytes', '1000000');
    for (const host of ['ingest', 'app'] as const) expect((await post(batch(1), host)).status).to.equal(200);
    await flag('daily_bytes', '0');
    expect(refusal(await send()).detail).to.contain('daily ingest quota is zero');
  });
});
