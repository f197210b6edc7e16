import { expect } from 'chai';
import { pino } from 'pino';
import { addPayment, createKey, createTenant, revokeKey, setPlan } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { findPlan } from '../../../api/tenants/plans.ts';
import type { TenantRecord } from '../../../api/control/records.ts';
import { sweepTrials, trialHasEnded, TrialSweep } from '../../../api/control/trial-sweep.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 21, 12);
const daysAgo = (days: number): Date => new Date(NOW - days * DAY);

async function refused(promise: Promise<unknown>): Promise<HttpError> {
  const error = await promise.then(
    () => new Error('It was done.'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HttpError)) throw error as Error;
  return error;
}

describe('the end of a trial', () => {
  const record: TenantRecord = {
    version: 1,
    write: 'w',
    id: 1,
    name: 'x',
    plan: 'trial',
    signupAt: daysAgo(14).toISOString(),
    disabled: false,
    payment: false,
    flags: {},
  };
  const rows: readonly (readonly [string, Partial<TenantRecord>, boolean])[] = [
    ['14 days to the millisecond', {}, true],
    ['a millisecond less', { signupAt: new Date(NOW - 14 * DAY + 1).toISOString() }, false],
    ['years', { signupAt: '2020-02-29T00:00:00Z' }, true],
    ['a signup in another zone, a second too late', { signupAt: '2026-11-07T14:00:01+02:00' }, false],
    ['a signup in another zone, just in time', { signupAt: '2026-11-07T14:00:00+02:00' }, true],
    ['a signup ahead of this clock', { signupAt: daysAgo(-1).toISOString() }, false],
    ['a payment', { payment: true }, false],
    ['a disabled tenant', { disabled: true }, true],
    ...['team', 'growth', 'custom', 'trial_expired', 'unlimited', 'galaxy'].map((plan) => [`the plan ${plan}`, { plan }, false] as const),
  ];
  for (const [name, change, ended] of rows)
    it(`${name}: ${ended ? 'ended' : 'not'}`, () => expect(trialHasEnded({ ...record, ...change }, NOW)).to.equal(ended));
});

describe('the sweep of trials', () => {
  async function tenants(store: ControlStore): Promise<void> {
    await createTenant(store, 'old', 'trial', daysAgo(15));
    await createTenant(store, 'young', 'free', daysAgo(13));
    await createTenant(store, 'paying', 'team', daysAgo(400));
    await createTenant(store, 'older', 'free', daysAgo(500));
  }
  const plans = (store: ControlStore): string[] => store.tenants().map(({ plan }) => plan);

  it('moves those that have ended, once', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await tenants(store);
    expect((await sweepTrials(store, NOW)).map(({ name, plan }) => `${name} ${plan}`)).to.deep.equal([
      'old trial_expired',
      'older trial_expired',
    ]);
    expect(plans(store)).to.deep.equal(['trial_expired', 'trial', 'team', 'trial_expired']);
    expect(await sweepTrials(store, NOW)).to.deep.equal([]);
    expect((await sweepTrials(store, NOW + DAY)).map(({ name }) => name)).to.deep.equal(['young']);
  });

  it('a payment ends it, and a trial that is begun anew lasts 14 days', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await tenants(store);
    await sweepTrials(store, NOW);
    expect(await addPayment(store, 1)).to.include({ plan: 'team', payment: true });
    await setPlan(store, 4, 'trial');
    expect(await sweepTrials(store, Date.now() + 13 * DAY))
      .to.have.lengthOf(1)
      .and.to.have.nested.property('[0].name', 'young');
    expect((await sweepTrials(store, Date.now() + 15 * DAY)).map(({ name }) => name)).to.deep.equal(['older']);
    expect(plans(store)[0]).to.equal('team');
  });

  it('of several nodes moves each tenant once', async () => {
    const topic = new FakeControlTopic();
    const stores = await Promise.all([1, 2, 3].map(async () => (await controlNode(topic)).store));
    for (let i = 0; i < 5; i++) await createTenant(stores[0] as ControlStore, `t${i}`, 'trial', daysAgo(20));
    await Promise.all(stores.map((store) => store.seen(topic.next - 1n, 60_000)));
    const moved = await Promise.all(stores.map((store) => sweepTrials(store, NOW)));
    expect(
      moved
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).to.deep.equal([1, 2, 3, 4, 5]);
    await Promise.all(stores.map((store) => store.seen(topic.next - 1n, 60_000)));
    for (const store of stores) expect(plans(store)).to.deep.equal(Array(5).fill('trial_expired'));
  });

  it('leaves alone who pays at the same moment on another node', async () => {
    const topic = new FakeControlTopic();
    const [a, b] = [await controlNode(topic), await controlNode(topic)];
    await createTenant(a.store, 'x', 'trial', daysAgo(20));
    await b.store.seen(a.store.offset, 60_000);
    const payments: Promise<unknown>[] = [];
    b.log.beforeAppend = () => {
      if (payments.length === 0) payments.push(addPayment(a.store, 1));
    };
    expect(await sweepTrials(b.store, NOW)).to.deep.equal([]);
    await Promise.all(payments);
    for (const { store } of [a, b]) {
      await store.seen(topic.next - 1n, 60_000);
      expect(store.tenant(1)).to.include({ plan: 'team', payment: true });
    }
  });

  it('ends with 503 where Kafka does not answer, and stops between tenants', async () => {
    const topic = new FakeControlTopic();
    const { store } = await controlNode(topic);
    await tenants(store);
    topic.down = true;
    expect((await refused(sweepTrials(store, NOW))).status).to.equal(503);
    topic.down = false;
    expect(await sweepTrials(store, NOW, AbortSignal.abort())).to.deep.equal([]);
    expect(await sweepTrials(store, NOW)).to.have.lengthOf(2);
  });

  describe('as a service', () => {
    const LOG = pino({ level: 'silent' });
    /** A service whose hours the test ends; `hour()` resolves when it waits again. */
    function sweeper(store: ControlStore): { service: TrialSweep; at: { now: number }; waits: number[]; hour: () => Promise<void> } {
      const at = { now: NOW };
      const waits: number[] = [];
      let wake: () => void = () => undefined;
      let waiting: () => void = () => undefined;
      const service = new TrialSweep({
        control: store,
        log: LOG,
        clock: () => at.now,
        wait: (ms, signal) =>
          new Promise<void>((resolve, reject) => {
            waits.push(ms);
            wake = resolve;
            signal.addEventListener('abort', () => reject(new Error('aborted')));
            waiting();
          }),
      });
      const hour = (): Promise<void> =>
        new Promise((resolve) => {
          waiting = resolve;
          wake();
        });
      return { service, at, waits, hour };
    }

    it('sweeps at its start and every hour, also after a sweep that failed', async () => {
      const topic = new FakeControlTopic();
      const { store } = await controlNode(topic);
      await tenants(store);
      const { service, at, waits, hour } = sweeper(store);
      const first = hour();
      await service.start();
      await first;
      expect(plans(store)).to.deep.equal(['trial_expired', 'trial', 'team', 'trial_expired']);
      at.now += 2 * DAY;
      topic.down = true;
      await hour();
      expect(store.tenant(2)?.plan).to.equal('trial');
      topic.down = false;
      await hour();
      expect(store.tenant(2)?.plan).to.equal('trial_expired');
      await service.stop();
      expect(waits).to.deep.equal([3_600_000, 3_600_000, 3_600_000]);
    });

    it('waits until the tenants were read, and can be stopped then, twice and before its start', async () => {
      const topic = new FakeControlTopic();
      const { store: first } = await controlNode(topic);
      await tenants(first);
      topic.down = true;
      const { store } = await controlNode(topic);
      const never = sweeper(store);
      await never.service.stop();
      const stopped = sweeper(store);
      await stopped.service.start();
      await stopped.service.stop();
      await stopped.service.stop();
      const { service, hour } = sweeper(store);
      const swept = hour();
      await service.start();
      topic.down = false;
      await swept;
      expect(plans(store)).to.include('trial_expired');
      await service.stop();
      await store.stop();
    });
  });
});

describe('the ceilings of an expired trial', () => {
  it('are the contract’s', () =>
    expect(findPlan('trial_expired')?.ceilings).to.deep.equal({ users: 3, keys: 2, liveTails: 2, dashboards: 25, savedSearches: 50 }));

  it('two keys: a third is 403, unless one is revoked or has expired, or a payment comes', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'x', 'trial_expired');
    const first = await createKey(store, 1, ['read'], null);
    await createKey(store, 1, ['read'], '2020-01-01T00:00:00.000Z');
    await createKey(store, 1, ['read'], '2999-01-01T00:00:00.000Z');
    const error = await refused(createKey(store, 1, ['read'], null));
    expect(error).to.include({ status: 403, slug: 'forbidden' });
    expect(error.message).to.contain('2 API keys');
    await revokeKey(store, 1, first.record.id);
    await createKey(store, 1, ['read'], null);
    expect((await refused(createKey(store, 1, ['read'], null))).status).to.equal(403);
    await addPayment(store, 1);
    await createKey(store, 1, ['read'], null);
  });

  it('keys that were made before stay', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'x', 'trial', daysAgo(15));
    const keys = [];
    for (let i = 0; i < 4; i++) keys.push(await createKey(store, 1, ['read'], null));
    await sweepTrials(store, NOW);
    for (const { secret } of keys) expect(store.find(secret)?.principal.plan.name).to.equal('trial_expired');
    expect((await refused(createKey(store, 1, ['read'], null))).status).to.equal(403);
  });
});
