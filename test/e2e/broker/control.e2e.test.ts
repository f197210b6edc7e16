import { expect } from 'chai';
import { pino } from 'pino';
import { bootstrapTenant, createKey, createTenant, revokeKey, setDisabled, setFlag, setPlan } from '../../../api/control/accounts.ts';
import { ControlStore } from '../../../api/control/control-store.ts';
import { KafkaCompactedLog } from '../../../pipeline/bus/state/compacted-log.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { busTopics, CONTROL_TOPIC, ensureTopics, USAGE_TOPIC } from '../../../pipeline/bus/records/topics.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';

const LOG = pino({ level: 'silent' });

describe('tenants and keys on a real Kafka', function () {
  this.timeout(600_000);
  let broker: LeasedBroker;
  const stores: ControlStore[] = [];

  async function node(): Promise<ControlStore> {
    const kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log: LOG });
    const topic = new KafkaCompactedLog({ kafka, log: LOG, topic: CONTROL_TOPIC });
    const store = new ControlStore({ log: topic, pepper: 'pepper for tests', logger: LOG });
    stores.push(store);
    await store.start();
    return store;
  }

  before(async () => {
    broker = await leaseBroker();
    await ensureTopics(createKafka({ brokers: [broker.brokers], clientId: 'test', log: LOG }), busTopics, { partitions: 2 });
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.stop()));
    await broker.giveBack();
  });

  it('appends many records in few requests, each in its place, however large they are together', async () => {
    const kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log: LOG });
    const topic = new KafkaCompactedLog({ kafka, log: LOG, topic: USAGE_TOPIC });
    const written = Array.from({ length: 60 }, (_, n) => ({ key: `key ${String(n)}`, value: n === 7 ? null : String(n).repeat(50_000) }));
    await topic.appendAll(written);
    await topic.appendAll([]);
    const read: { offset: bigint; key: string; value: string | null }[] = [];
    await topic.readAll((record) => read.push(record));
    await topic.stop();
    expect(read).to.deep.equal(written.map((record, n) => ({ offset: BigInt(n), ...record })));
  });

  it('two nodes at once: every id once, every change kept, both in agreement; a third reads it all; an outage leaves it standing', async () => {
    const [a, b] = [await node(), await node()];
    await Promise.all([a, b].map((store) => bootstrapTenant(store, 'the-first-key')));
    const created = await Promise.all([a, b, a, b, a, b].map((store, i) => createTenant(store, `t${i}`, 'team')));
    expect(created.map(({ id }) => id).sort()).to.deep.equal([2, 3, 4, 5, 6, 7]);
    const { secret, record } = await createKey(a, 2, ['ingest'], null);
    expect(await b.seen(a.offset, 5000)).to.equal(true);
    expect(b.find(secret)?.principal).to.include({ tenantId: 2 });
    await Promise.all([setDisabled(a, 2, true), setPlan(b, 2, 'growth'), setFlag(b, 2, 'demo', 'on')]);
    await revokeKey(b, 2, record.id);

    const c = await node();
    expect(c.ready).to.equal(true);
    await Promise.all([a, b].map((store) => store.seen(c.offset, 5000)));
    for (const store of [a, b, c]) {
      expect(store.tenants()).to.deep.equal(c.tenants());
      expect(store.tenant(2)).to.deep.include({ disabled: true, plan: 'growth', flags: { demo: true } });
      expect(store.find(secret)).to.equal(null);
      expect(store.find('the-first-key')?.principal.tenantId).to.equal(1);
    }

    await broker.kill();
    expect(a.find('the-first-key')?.principal.tenantId).to.equal(1);
    const error: unknown = await setDisabled(a, 3, true).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(HttpError).and.to.include({ status: 503 });

    await broker.restart();
    for (let tries = 0; tries < 30; tries++) {
      const done = await setDisabled(a, 4, true).then(
        () => true,
        () => false,
      );
      if (done) break;
    }
    expect(a.tenant(4)?.disabled).to.equal(true);
    expect(await b.seen(a.offset, 240_000)).to.equal(true);
    expect(b.tenant(4)?.disabled).to.equal(true);
  });
});
