import { expect } from 'chai';
import { pino } from 'pino';
import { addPayment, changeTenant, createKey, createTenant, raiseShards, setFlag, setPlan } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { effectivePlan } from '../../../api/control/flags.ts';
import { grownShards, SHARD_ENTRIES_PER_SECOND, ShardGrowth, TenantRates } from '../../../api/control/shard-growth.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';

const LOG = pino({ level: 'silent' });
const RATE = SHARD_ENTRIES_PER_SECOND;

const shardsOf = (store: ControlStore, id = 1): number => {
  const tenant = store.tenant(id);
  return tenant === undefined ? 0 : effectivePlan(tenant).shards;
};

async function message(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error('It was done.'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HttpError)) throw error as Error;
  return `${String(error.status)} ${error.message}`;
}

describe('the number of shards of a tenant', () => {
  it('is its plan’s, or what was set where that is more', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    for (const plan of ['trial', 'growth', 'custom', 'unlimited']) await createTenant(store, plan, plan);
    expect([1, 2, 3, 4].map((id) => shardsOf(store, id))).to.deep.equal([1, 2, 2, 1]);
    await setFlag(store, 1, 'shards', '4');
    const { secret } = await createKey(store, 1, ['ingest'], null);
    expect(store.find(secret)?.principal.plan.shards).to.equal(4);
    expect(effectivePlan({ plan: 'growth', flags: { shards: 1 } }).shards).to.equal(2);
  });

  it('only grows: fewer are refused, also by taking the flag away', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'a', 'growth');
    expect(await message(setFlag(store, 1, 'shards', '1'))).to.equal('400 The tenant has 2 shards; their number only grows.');
    await setFlag(store, 1, 'shards', 'default');
    await setFlag(store, 1, 'shards', '8');
    await setFlag(store, 1, 'shards', '8');
    for (const value of ['7', '0', 'default']) expect(await message(setFlag(store, 1, 'shards', value))).to.contain('has 8 shards');
    expect(await message(setFlag(store, 1, 'shards', '2049'))).to.contain('at most 2048');
    expect(shardsOf(store)).to.equal(8);
  });

  it('stays when the plan changes to one that has fewer', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'a', 'growth');
    await setPlan(store, 1, 'team');
    expect(store.tenant(1)).to.deep.include({ plan: 'team', flags: { shards: 2 } });
    await setPlan(store, 1, 'custom');
    await changeTenant(store, 1, () => ({ plan: 'trial_expired', flags: {} }));
    expect(shardsOf(store)).to.equal(2);
    await addPayment(store, 1);
    expect(shardsOf(store)).to.equal(2);
  });

  it('is raised once by nodes that do it at the same time', async () => {
    const topic = new FakeControlTopic();
    const stores = await Promise.all([1, 2, 3].map(async () => (await controlNode(topic)).store));
    await createTenant(stores[0] as ControlStore, 'a', 'team');
    await Promise.all(stores.map((store) => store.seen(topic.next - 1n, 1000)));
    const raised = await Promise.all(stores.map((store) => raiseShards(store, 1, 2)));
    expect(raised.filter((tenant) => tenant !== null)).to.have.lengthOf(1);
    await Promise.all(stores.map((store) => store.seen(topic.next - 1n, 1000)));
    expect(stores.map((store) => [shardsOf(store), store.tenant(1)?.version])).to.deep.equal([[2, 2], [2, 2], [2, 2]]); // prettier-ignore
  });
});

describe('the growth of shards by rate', () => {
  const rows: readonly (readonly [string, number, number, number, number])[] = [
    ['a quiet tenant', 100, 1, 12, 1],
    ['just what a shard takes', RATE, 1, 12, 1],
    ['more than that', RATE + 1, 1, 12, 2],
    ['much more: doubled all the same', 100 * RATE, 1, 12, 2],
    ['enough shards', 2 * RATE, 2, 12, 2],
    ['too few of several', 4 * RATE + 1, 4, 12, 8],
    ['not more than there are partitions', 9 * RATE, 8, 12, 12],
    ['all partitions', 99 * RATE, 12, 12, 12],
    ['more than there are', 99 * RATE, 16, 12, 16],
    ['partitions that are not known', 99 * RATE, 1, 0, 1],
  ];
  for (const [name, rate, shards, partitions, grown] of rows)
    it(`${name}: ${shards} to ${grown}`, () => expect(grownShards(rate, shards, partitions)).to.equal(grown));

  it('measures over all nodes, and begins anew with each window', () => {
    const others = new Map([[1, 1000]]);
    const rates = new TenantRates((tenantId) => others.get(tenantId) ?? 0, 5000);
    rates.add(1, 30);
    others.set(1, 1090);
    rates.add(1, 30);
    rates.add(2, 60);
    expect([...rates.take(65_000)]).to.deep.equal([[1, 2.5], [2, 1]]); // prettier-ignore
    others.set(1, 5000);
    rates.add(2, 60);
    expect([...rates.take(125_000)]).to.deep.equal([[2, 1]]);
    expect(rates.take(125_000).size).to.equal(0);
  });

  /** A service whose minutes the test ends; `minute` resolves when it waits again. */
  function growing(store: ControlStore): { service: ShardGrowth; minute: () => Promise<void> } {
    let now = 0;
    let wake: () => void = () => undefined;
    let waiting: () => void = () => undefined;
    const service = new ShardGrowth({
      control: store,
      othersEntries: () => 0,
      partitions: () => 12,
      log: LOG,
      now: () => now,
      wait: (_ms, signal) => {
        waiting();
        return new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      },
    });
    const minute = (): Promise<void> => {
      now += 60_000;
      return new Promise((resolve) => {
        waiting = resolve;
        wake();
      });
    };
    return { service, minute };
  }

  it('doubles the shards of a busy tenant once a minute, and of no other', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'busy', 'unlimited');
    await createTenant(store, 'quiet', 'unlimited');
    const { service, minute } = growing(store);
    await service.start();
    const seen: number[][] = [];
    for (let i = 0; i < 5; i++) {
      service.accepted(1, 60 * 100_000);
      service.accepted(2, 60 * 1000);
      service.accepted(99, 60 * 100_000);
      await minute();
      seen.push([shardsOf(store, 1), shardsOf(store, 2)]);
    }
    expect(seen).to.deep.equal([[2, 1], [4, 1], [4, 1], [4, 1], [4, 1]]); // prettier-ignore
    expect(store.tenant(1)?.version).to.equal(3);
    await service.stop();
  });

  it('goes on after Kafka did not take the record', async () => {
    const topic = new FakeControlTopic();
    const { store } = await controlNode(topic);
    await createTenant(store, 'busy', 'unlimited');
    const { service, minute } = growing(store);
    await service.start();
    topic.down = true;
    service.accepted(1, 60 * 100_000);
    await minute();
    expect(shardsOf(store)).to.equal(1);
    topic.down = false;
    service.accepted(1, 60 * 100_000);
    await minute();
    expect(shardsOf(store)).to.equal(2);
    await service.stop();
    await service.stop();
  });
});
