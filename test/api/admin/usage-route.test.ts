import { expect } from 'chai';
import { usageRoute } from '../../../api/admin/usage-route.ts';
import { createTenant } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { FakeTopic } from '../../fakes/compacted-log.ts';
import { controlNode } from '../../fakes/control-node.ts';

const TODAY = 20_777;
const counts = {
  bytesOf: (tenant: number, day: number, topic = '') => (tenant * 1000 + day - TODAY) / (topic === 'logs.v1' ? 2 : 1),
  pendingBytesOf: (_tenant: number, day: number) => (day === TODAY ? 5 : 0),
};
const clock = (): number => (TODAY + 1) * 86_400_000 - 1;

describe('admin route of the daily volume', () => {
  let control: ControlStore;
  const get = async (tenant: string): Promise<unknown> =>
    (
      await usageRoute(control, counts, [{ name: 'logs', topic: 'logs.v1' }], clock).handle({
        requestId: 'r',
        params: { tenant },
        query: new URLSearchParams(),
        body: () => Promise.resolve(null),
      })
    ).body;

  before(async () => {
    control = (await controlNode(new FakeTopic())).store;
    await createTenant(control, 'one', 'trial');
    await createTenant(control, 'two', 'unlimited');
  });
  after(() => control.stop());

  it('shows today (UTC) and the two days before', async () => {
    const plan = { included: 73e9, ceiling: 73e9 };
    expect(await get('1')).to.deep.equal([
      { tenant_id: 1, day: '2026-11-20', bytes: 1000, pending_bytes: 5, signals: { logs: 500 }, ...plan },
      { tenant_id: 1, day: '2026-11-19', bytes: 999, pending_bytes: 0, signals: { logs: 499.5 }, ...plan },
      { tenant_id: 1, day: '2026-11-18', bytes: 998, pending_bytes: 0, signals: { logs: 499 }, ...plan },
    ]);
  });

  it('has null where the plan has no bound', async () => {
    const [today] = (await get('2')) as object[];
    expect(today).to.include({ included: null, ceiling: null });
  });

  for (const [tenant, status] of [
    ['3', 404],
    ['0', 400],
    ['x', 400],
  ] as const)
    // prettier-ignore
    it(`answers ${status} for tenant ${tenant}`, async () => {
      const failure = await Promise.resolve().then(() => get(tenant)).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(HttpError);
      expect((failure as HttpError).status).to.equal(status);
    });
});
