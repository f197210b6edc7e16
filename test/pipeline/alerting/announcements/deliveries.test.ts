import { expect } from 'chai';
import { pino } from 'pino';
import { alertRow, whyRow, type Alert, type AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import { shownAlert } from '../../../../pipeline/alerting/book/shown-alert.ts';
import { Courier, type CourierOptions } from '../../../../pipeline/alerting/announcements/courier.ts';
import { attempted, fitting, parseDelivery, retried, type Delivery } from '../../../../pipeline/alerting/announcements/delivery.ts';
import { Outbox } from '../../../../pipeline/alerting/announcements/outbox.ts';
import { WebhookListener } from '../../../../pipeline/alerting/announcements/webhook-listener.ts';
import type { Webhook } from '../../../../pipeline/alerting/announcements/webhook.ts';
import { alert } from '../../../fakes/alerts-record.ts';
import { FakeLog, FakeTopic } from '../../../fakes/compacted-log.ts';
import { delivery, webhook } from '../../../fakes/deliveries.ts';
import { eventually } from '../../../fakes/eventually.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const AT = 1_800_000_000;
const OPENED = JSON.stringify({ opened_at: '2027-01-15T08:00:00Z' });
const row = (more: Partial<Alert> = {}): AlertRow => alertRow(alert({ firedAt: AT, updatedAt: AT, evidence: OPENED, ...more }), 1);

const opened: Outbox[] = [];
async function outboxOn(topic: FakeTopic): Promise<Outbox> {
  const outbox = new Outbox({ log: new FakeLog(topic), logger: pino({ level: 'silent' }), retryMs: 1 });
  opened.push(outbox);
  await outbox.start();
  await eventually('the outbox', () => outbox.ready || topic.down, Boolean);
  return outbox;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((outbox) => outbox.stop()));
});

describe('a delivery', () => {
  it('is tried again, later each time, for a day; or not at all where that is no use', () => {
    const waits: number[] = [];
    let one = delivery();
    for (let now = 0; one.state === 'pending';) {
      const next = attempted(one, 503, now) as Delivery;
      if (next.state === 'pending') waits.push((next.at - now) / SECOND);
      [one, now] = [next, next.at];
    }
    expect(waits.slice(0, 8)).to.deep.equal([10, 30, 120, 600, 1800, 3600, 3600, 3600]);
    expect([one.attempts, one.status, one.at <= 24 * HOUR]).to.deep.equal([waits.length + 1, 503, true]);
    const states = [301, 400, 401, 404, 410, 408, 425, 429, 500].map((status) => attempted(delivery(), status, 0)?.state);
    expect(states).to.deep.equal([...Array<string>(5).fill('failed'), ...Array<string>(4).fill('pending')]);
    expect([200, 204, 299].map((status) => attempted(delivery(), status, 0))).to.deep.equal([null, null, null]);
    expect(attempted(delivery(), new Error('The connection was refused.'), 0)).to.include({
      status: null,
      error: 'The connection was refused.',
    });
    expect(retried(one, 7)).to.include({ state: 'pending', attempts: 0, at: 7, madeAt: 7, id: one.id });
  });

  it('has an alert of 16 KiB at most', () => {
    const evidence = (more: object): string => JSON.stringify({ z_score: 1, ...more });
    const large = fitting(shownAlert(row({ evidence: evidence({ sample_messages: ['x'.repeat(20_000)] }) }), null));
    expect(large.evidence).to.deep.equal({ z_score: 1 });
    const larger = fitting(shownAlert(row({ evidence: evidence({ more: 'é'.repeat(10_000) }), note: 'n'.repeat(4000) }), null));
    expect([larger.evidence, Buffer.byteLength(JSON.stringify(larger)) < 16_384]).to.deep.equal([{}, true]);
  });

  it('is read of a record, and of nothing else', () => {
    const good = JSON.stringify(delivery());
    expect(parseDelivery('dl_a', good)).to.deep.equal(delivery());
    for (const [key, value] of [['dl_b', good], ['dl_a', '{'], ['dl_a', 'null'], ['dl_a', '{}'], ['dl_a', '[]']] as const) expect(parseDelivery(key, value)).to.equal(null); // prettier-ignore
  });
});

describe('the outbox', () => {
  it('is the same on another node, and after a start', async () => {
    const topic = new FakeTopic();
    const [one, other] = [await outboxOn(topic), await outboxOn(topic)];
    expect(await one.add(delivery())).to.equal(true);
    await one.add(delivery({ id: 'dl_b', tenantId: 2 }));
    await one.change(delivery({ attempts: 1, at: 10 }));
    await one.add(delivery({ id: 'dl_a', attempts: 0 }));
    await one.remove('dl_b');
    await eventually('the other node', () => other.find('dl_a')?.attempts, (attempts) => attempts === 1 && other.find('dl_b') === undefined); // prettier-ignore
    topic.compact();
    const later = await outboxOn(topic);
    expect([...later.all]).to.deep.equal([delivery({ attempts: 1, at: 10 })]);
    expect([later.of(1).length, later.of(2).length]).to.deep.equal([1, 0]);
  });

  it('has a bound for each tenant: the oldest that has failed makes room, and what waits does not', async () => {
    const outbox = await outboxOn(new FakeTopic());
    for (let n = 0; n < 1000; n++)
      await outbox.add(delivery({ id: `dl_${String(n)}`, madeAt: n, state: n === 5 || n === 7 ? 'failed' : 'pending' }));
    const taken: boolean[] = [];
    for (const id of ['x', 'y', 'z']) taken.push(await outbox.add(delivery({ id, madeAt: 2000 })));
    expect(taken).to.deep.equal([true, true, false]);
    expect([outbox.find('dl_5'), outbox.find('dl_7'), outbox.of(1).length]).to.deep.equal([undefined, undefined, 1000]);
    expect(await outbox.add(delivery({ id: 'other', tenantId: 2 }))).to.equal(true);
  });

  it('has the same bounds for what comes at once', async () => {
    const outbox = await outboxOn(new FakeTopic());
    const many = Array.from({ length: 1500 }, (_none, n) => outbox.add(delivery({ id: `dl_${String(n)}`, madeAt: n })));
    expect((await Promise.all(many)).filter(Boolean)).to.have.length(1000);
    expect(outbox.of(1)).to.have.length(1000);
  });

  it('reads on when Kafka is there again, and says so where it takes nothing', async () => {
    const topic = new FakeTopic();
    topic.append('dl_a', JSON.stringify(delivery()));
    topic.down = true;
    const outbox = await outboxOn(topic);
    expect([outbox.ready, await outbox.add(delivery({ id: 'dl_b' })).catch((error: unknown) => (error as Error).message)]).to.deep.equal([false, 'Kafka is down.']); // prettier-ignore
    topic.down = false;
    await eventually('the outbox', () => outbox.ready, Boolean);
    expect(outbox.find('dl_a')).to.deep.equal(delivery());
  });
});

describe('what is said of alerts becomes deliveries', () => {
  function listenerOf(webhooks: readonly Webhook[], whyMs = 60_000) {
    const added: Delivery[] = [];
    const refused: number[] = [];
    let room = true;
    const listener = new WebhookListener({
      outbox: { add: (one) => Promise.resolve(room && added.push(one) > 0) },
      webhooksOf: (tenantId) => webhooks.filter((one) => one.tenantId === tenantId),
      onRefused: (tenantId) => refused.push(tenantId),
      ...{ whyMs, now: () => 5 },
    });
    return { listener, added, refused, fill: () => (room = false) };
  }

  it('with why it has come, of each webhook that wants it, under the same id each time', async () => {
    const { listener, added } = listenerOf([webhook(), webhook({ id: 'wh_b', services: ['db'] }), webhook({ id: 'wh_c', tenantId: 2 })]);
    for (let again = 0; again < 2; again++) {
      const taken = listener.take([row()], 3);
      await listener.take([whyRow(row({ id: 1 }), {}, '', 'Another one.')], 3);
      expect(added.length).to.equal(again);
      await listener.take([whyRow(row(), { why: [] }, 'most are `x`', 'It is the pod.')], 3);
      await taken;
    }
    expect(new Set(added.map(({ id }) => id)).size).to.equal(1);
    expect(added[0]).to.deep.include({ tenantId: 1, webhookId: 'wh_a', partition: 3, type: 'fired', state: 'pending', at: 5 });
    expect(added[0]?.alert.description).to.equal('é It is the pod.');
    await listener.take([row({ state: 'resolved', resolvedAt: AT, updatedAt: AT })], 3);
    expect([added.length, added[2]?.type, added[2]?.id === added[0]?.id]).to.deep.equal([3, 'resolved', false]);
  });

  it('without it where it is not found in time; and says where there is no room', async () => {
    const { listener, added, refused, fill } = listenerOf([webhook()], 1);
    await listener.take([row()], 0);
    expect(added.map(({ alert: shown }) => shown.description)).to.deep.equal(['é']);
    fill();
    await listener.take([row({ id: 99 })], 0);
    expect(refused).to.deep.equal([1]);
  });

  it('waits for nothing where nobody wants to be told', async () => {
    const { listener, added } = listenerOf([]);
    await listener.take([row(), row({ state: 'resolved', resolvedAt: AT, updatedAt: AT })], 0);
    expect(added).to.deep.equal([]);
  });
});

describe('the courier', () => {
  /** Sends to a receiver that answers when it is told to. */
  async function courierOn(topic: FakeTopic, more: Partial<CourierOptions> = {}) {
    const outbox = await outboxOn(topic);
    const sent: string[] = [];
    const outcomes: string[] = [];
    const clock = { now: 0, answer: (): Promise<number> => Promise.resolve(200) };
    const courier = new Courier({
      outbox,
      send: (_to, { deliveryId }) => {
        sent.push(deliveryId);
        return clock.answer();
      },
      webhook: (tenantId, id) => webhook({ tenantId, id }),
      partitions: () => [0],
      onOutcome: (outcome, { id }) => outcomes.push(`${outcome} ${id}`),
      onError: () => outcomes.push('error'),
      now: () => clock.now,
      ...more,
    });
    return { courier, outbox, sent, outcomes, clock };
  }

  it('sends until it is taken, by another process where the first one ends', async () => {
    const topic = new FakeTopic();
    const first = await courierOn(topic);
    first.clock.answer = () => Promise.reject(new Error('It did not answer within 5000 ms.'));
    await first.outbox.add(delivery());
    first.courier.look();
    await first.courier.idle();
    first.courier.look();
    expect([first.sent, first.outcomes]).to.deep.equal([['dl_a'], ['again dl_a']]);
    await first.outbox.stop();
    const second = await courierOn(topic);
    second.courier.look();
    expect(second.sent).to.deep.equal([]);
    second.clock.now = 10 * SECOND;
    second.courier.look();
    await second.courier.idle();
    expect([second.sent, second.outcomes, [...second.outbox.all]]).to.deep.equal([['dl_a'], ['sent dl_a'], []]);
  });

  it('keeps what has failed for a week, and what was asked for again is sent', async () => {
    const { courier, outbox, sent, outcomes, clock } = await courierOn(new FakeTopic());
    clock.answer = () => Promise.resolve(404);
    await outbox.add(delivery());
    courier.look();
    await courier.idle();
    expect(outcomes).to.deep.equal(['failed dl_a']);
    clock.now = 7 * 24 * HOUR - 1;
    courier.look();
    await courier.idle();
    expect([sent.length, outbox.find('dl_a')?.status]).to.deep.equal([1, 404]);
    clock.answer = () => Promise.resolve(200);
    await outbox.change(retried(outbox.find('dl_a') as Delivery, clock.now));
    courier.look();
    await courier.idle();
    expect([sent.length, [...outbox.all]]).to.deep.equal([2, []]);
    await outbox.add(delivery({ state: 'failed', at: 0 }));
    clock.now += HOUR;
    courier.look();
    await courier.idle();
    expect([sent.length, [...outbox.all]]).to.deep.equal([2, []]);
  });

  it('sends nothing of partitions of others, nor to who is gone, nor what is not known to be undone', async () => {
    const topic = new FakeTopic();
    const { courier, outbox, sent } = await courierOn(topic, { webhook: () => null });
    await outbox.add(delivery({ id: 'dl_b', partition: 1 }));
    await outbox.add(delivery());
    courier.look();
    await courier.idle();
    expect([sent, [...outbox.all].map(({ id }) => id)]).to.deep.equal([[], ['dl_b']]);
    topic.down = true;
    const unread = await courierOn(topic);
    unread.courier.look();
    expect(unread.sent).to.deep.equal([]);
  });

  it('has two on their way to a tenant at most, so that a slow receiver holds up nobody else', async () => {
    const { courier, outbox, sent, clock } = await courierOn(new FakeTopic());
    let free: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (free = resolve));
    clock.answer = () => held.then(() => 200);
    for (let n = 0; n < 5; n++) await outbox.add(delivery({ id: `slow_${String(n)}` }));
    await outbox.add(delivery({ id: 'other', tenantId: 2, at: 1 }));
    clock.now = 1;
    for (let n = 0; n < 3; n++) courier.look();
    expect(sent.length).to.equal(3);
    expect(sent).to.include('other');
    free();
    await courier.idle();
    while (outbox.of(1).length > 0) {
      courier.look();
      await courier.idle();
    }
    expect(sent.length).to.equal(6);
  });
});
