import { expect } from 'chai';
import { keyEndpoint } from '../../../api/account/session-endpoints.ts';
import { whoInSession } from '../../../api/account/who.ts';
import { PLANS } from '../../../api/tenants/plans.ts';
import { FakeKeyStore, fakePrincipal } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

describe('what a key may do', () => {
  const keys = new FakeKeyStore({
    all: {},
    reader: { scopes: new Set(['read']) },
    ingester: { scopes: new Set(['ingest']) },
    demo: { demo: true },
    ...Object.fromEntries(PLANS.map((plan) => [plan.name, { plan }])),
  });
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    host = await startHost({ endpoints: [keyEndpoint], keys });
  });
  after(() => host.stop());

  async function ask(key: string | null): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
    const response = await fetch(`${host.url}/api/v1/account/key`, { headers: key === null ? {} : { 'x-api-key': key } });
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
  }

  it('has the tenant, the scopes and the demo, and never the key', async () => {
    const { status, body } = await ask('reader');
    expect(status).to.equal(200);
    expect(body).to.deep.include({ scopes: ['read'], demo: false });
    expect((await ask('demo')).body['demo']).to.equal(true);
    expect(JSON.stringify((await ask('all')).body)).to.not.contain('"all"');
  });

  it('has the bounds of every plan, null where there is none', async () => {
    for (const { name, queriesPerMinute, dailyBytes } of PLANS) {
      const plan = (await ask(name)).body['plan'] as Readonly<Record<string, unknown>>;
      expect(plan['name']).to.equal(name);
      expect(plan['queries_per_minute'], name).to.equal(Number.isFinite(queriesPerMinute) ? queriesPerMinute : null);
      expect(plan['daily_bytes'], name).to.equal(Number.isFinite(dailyBytes) ? dailyBytes : null);
    }
  });

  it('is the same as a session answers, but for the form of the plan', async () => {
    const { body } = await ask('reader');
    expect(body).to.have.all.keys(
      ...['tenant_id', 'key_id', 'scopes', 'demo', 'features', 'bounds', 'project', 'session', 'refused', 'plan'],
    );
    const { plan, ...rest } = body;
    const { plan: name, ...shown } = whoInSession(keys.find('reader')?.principal ?? fakePrincipal(), null) as typeof body;
    expect(rest).to.deep.equal(shown);
    expect((plan as { name: string }).name).to.equal(name);
    expect(plan).to.deep.include(body['bounds']);
  });

  it('needs a key that reads', async () => {
    expect((await ask(null)).status).to.equal(401);
    expect((await ask('not a key')).status).to.equal(403);
    expect((await ask('ingester')).status).to.equal(403);
  });
});
