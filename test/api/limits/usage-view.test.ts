import { expect } from 'chai';
import { UsageView } from '../../../api/limits/usage-view.ts';
import { encodeGuard, encodeNode, encodeSnapshot, guardKey, nodeKey, partitionKey } from '../../../pipeline/bus/state/usage-records.ts';
import type { DayCounts } from '../../../pipeline/core/day-counts.ts';

const TOPIC = 'logs.v1';
const DAY = 20_000;
const TIME = DAY * 86_400_000 + 1;
const counts = (bytes: number, tenant = 1): DayCounts => new Map([[DAY, new Map([[tenant, bytes]])]]);
const sent = (partition: number, offset: number, bytes: number, tenantId = 1) => ({ partition, offset, bytes, tenantId, timestamp: TIME });

describe('usage view', () => {
  let view: UsageView;
  const snapshot = (partition: number, next: number, bytes: number): void =>
    view.fold({ key: partitionKey({ topic: TOPIC, partition }), value: encodeSnapshot({ next, days: counts(bytes) }) }, true, 0);
  const node = (
    id: string,
    seq: number,
    entries: number,
    unreflected: { partition: number; last: number; days: DayCounts }[] = [],
    now = 0,
  ): void =>
    view.fold(
      {
        key: nodeKey(id),
        value: encodeNode({
          seq,
          charged: new Map([[TOPIC, new Map([[1, entries]])]]),
          calls: new Map(),
          unreflected: unreflected.map((segment) => ({ topic: TOPIC, ...segment })),
        }),
      },
      true,
      now,
    );
  const guard = (id: string, full: string | null, now: number, live = true): void =>
    view.fold({ key: guardKey(id), value: encodeGuard({ full, topics: {} }, new Date(0)) }, live, now);

  beforeEach(() => (view = new UsageView('self', () => 0)));

  it('sums the snapshots of all partitions, each by its furthest', () => {
    snapshot(0, 10, 100);
    snapshot(1, 5, 7);
    expect(view.bytesOf(1, DAY)).to.equal(107);
    snapshot(0, 12, 150);
    snapshot(0, 11, 120);
    expect(view.bytesOf(1, DAY)).to.equal(157);
    expect([view.bytesOf(2, DAY), view.bytesOf(1, DAY + 1)]).to.deep.equal([0, 0]);
  });

  it('sums all signals, and has each by itself', () => {
    for (const [index, topic] of ['logs.v1', 'samples.v1', 'spans.v1', 'replay.v1'].entries())
      view.fold({ key: partitionKey({ topic, partition: 0 }), value: encodeSnapshot({ next: 9, days: counts(10 ** index) }) }, true, 0);
    expect(view.bytesOf(1, DAY)).to.equal(1111);
    expect(['logs.v1', 'spans.v1', 'none.v1'].map((topic) => view.of(topic).bytesOf(1, DAY))).to.deep.equal([1, 100, 0]);
  });

  it('counts what this node has sent until a snapshot has passed it, once', () => {
    expect(view.sent(TOPIC, [sent(0, 5, 10), sent(0, 6, 20), sent(1, 0, 1), sent(1, 1, 0)])).to.equal(true);
    expect([view.bytesOf(1, DAY), view.pendingBytesOf(1, DAY)]).to.deep.equal([31, 31]);
    snapshot(0, 6, 1010);
    expect([view.bytesOf(1, DAY), view.pendingBytesOf(1, DAY)]).to.deep.equal([1031, 21]);
    snapshot(0, 7, 1030);
    expect([view.bytesOf(1, DAY), view.pendingBytesOf(1, DAY)]).to.deep.equal([1031, 1]);
  });

  it('does not count what the processor had read before the acknowledgement came', () => {
    snapshot(0, 6, 500);
    expect(view.sent(TOPIC, [sent(0, 5, 10)])).to.equal(false);
    expect(view.bytesOf(1, DAY)).to.equal(500);
  });

  it('never counts too little when it has to join segments, and is exact when they have passed', () => {
    for (let offset = 0; offset < 5000; offset++) view.sent(TOPIC, [sent(0, offset, 1)]);
    expect(view.bytesOf(1, DAY)).to.equal(5000);
    for (let next = 0; next <= 5000; next += 100) {
      snapshot(0, next, next);
      expect(view.bytesOf(1, DAY)).to.be.within(5000, 5000 + 5000 / 64);
    }
    expect(view.pendingBytesOf(1, DAY)).to.equal(0);
    expect(view.unsettled()).to.deep.equal([]);
  });

  it('counts what others have sent until a snapshot has passed it', () => {
    node('a', 0, 0, [{ partition: 0, last: 5, days: counts(10) }]);
    node('b', 0, 0, [{ partition: 0, last: 9, days: counts(3) }]);
    node('self', 0, 0, [{ partition: 0, last: 9, days: counts(1000) }]);
    expect(view.bytesOf(1, DAY)).to.equal(13);
    snapshot(0, 6, 100);
    expect(view.bytesOf(1, DAY)).to.equal(103);
    node('b', 0, 0, [{ partition: 0, last: 12, days: counts(5) }]);
    node('a', 0, 0, [{ partition: 0, last: 5, days: counts(10) }]);
    expect(view.bytesOf(1, DAY)).to.equal(105);
    snapshot(0, 13, 105);
    expect([view.bytesOf(1, DAY), view.pendingBytesOf(1, DAY)]).to.deep.equal([105, 0]);
  });

  it('adds up what others have charged, each set once, also of a node that comes back after it was forgotten', () => {
    node('a', 1, 10);
    node('a', 1, 10);
    node('b', 7, 5);
    node('a', 2, 1);
    expect([view.of(TOPIC).othersCharged(1), view.of(TOPIC).othersCharged(2), view.of(TOPIC).othersTotal]).to.deep.equal([16, 0, 16]);
    view.forget(600_001);
    node('a', 3, 4);
    node('self', 9, 100);
    expect(view.of(TOPIC).othersTotal).to.equal(20);
  });

  it('does not forget a node of which something is still to count', () => {
    node('a', 1, 0, [{ partition: 0, last: 5, days: counts(10) }]);
    view.forget(1e9);
    snapshot(0, 6, 10);
    expect(view.bytesOf(1, DAY)).to.equal(10);
  });

  it('lets a process come up before it has heard of a guard, for 30 s', () => {
    guard('old', 'full', 0, false);
    expect(view.logFull(TOPIC, 30_000)).to.equal(null);
    expect(view.logFull(TOPIC, 30_001)).to.match(/has not reported/);
  });

  it('believes any guard that was heard within 30 s', () => {
    guard('a', null, 50_000);
    expect(view.logFull(TOPIC, 80_000)).to.equal(null);
    guard('b', 'The disk is full.', 80_000);
    guard('a', null, 81_000);
    expect(view.logFull(TOPIC, 110_000)).to.equal('The disk is full.');
    expect(view.logFull(TOPIC, 110_001)).to.equal(null);
    expect(view.logFull(TOPIC, 111_001)).to.match(/has not reported/);
    guard('b', null, 200_000);
    expect(view.logFull(TOPIC, 200_001)).to.equal(null);
  });

  it('is not moved by records that are none', () => {
    view.fold({ key: 'partition:0', value: null }, true, 0);
    view.fold({ key: 'x', value: '{' }, true, 0);
    expect(view.bytesOf(1, DAY)).to.equal(0);
  });
});
