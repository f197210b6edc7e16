import { expect } from 'chai';
import { LiveFeed } from '../../../api/live/worker/live-feed.ts';
import { CpuShare } from '../../../api/live/worker/cpu-share.ts';
import { HeldEntries } from '../../../api/live/held-entries.ts';
import { LogPlace, readPlace } from '../../../api/live/place/log-place.ts';
import { positionText, readPosition } from '../../../api/live/place/tail-position.ts';
import * as frames from '../../../api/workers/frames.ts';
import * as messages from '../../../api/live/worker/messages.ts';
import { decodeMatched, encodeMatched, type Missed, type OpenTail } from '../../../api/live/worker/messages.ts';
import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import { plainHeaders, plainValue } from '../../fakes/log-record.ts';

const open = (query: string, more: Partial<OpenTail> = {}): OpenTail => ({
  ...{ query, values: [], asTexts: false, tenantId: 1, retentionDays: 0, from: null },
  ...more,
});

/** A record of rows with these messages. */
const record = (offset: number, tenantId: number, ...messages: string[]): KafkaMessage =>
  ({
    key: null,
    value: plainValue(...messages),
    headers: plainHeaders({ tenantId, retentionDays: 0, count: messages.length, bytes: 1 }, ['5', '{app="a"}', 20_775]),
    ...{ offset: String(offset), timestamp: '1795000000000', attributes: 0, size: 1 },
  }) as unknown as KafkaMessage;

describe('the feed of live tails', () => {
  let found: [tails: readonly number[], message: unknown][];
  let missed: Missed[];
  let failed: [number, string][];
  let sampled: [number, number][];
  let [now, clock] = [1_795_000_000_000, 0];
  const feed = (): LiveFeed =>
    new LiveFeed({
      onFound: ({ tails, text }) => found.push([tails, (JSON.parse(text) as { _msg?: string })._msg]),
      onMissed: (one) => missed.push(one),
      onSampled: (tail, factor) => sampled.push([tail, factor]),
      onFailed: (tail, error) => failed.push([tail, (error as Error).message]),
      onWork: () => undefined,
      now: () => now,
      clock: () => clock,
      work: () => clock,
    });
  beforeEach(() => {
    [found, missed, failed, sampled] = [[], [], [], []];
    now = 1_795_000_000_000;
  });

  it('gives an entry once for all tails that it matches, in the order of the log, and no other tenant anything', () => {
    const one = feed();
    one.open(1, open('a'), [[0, 0]]);
    one.open(2, open('*'), [[0, 0]]);
    one.open(3, open('*', { tenantId: 2 }), [[0, 0]]);
    one.take(0, [record(0, 1, 'a', 'b'), record(1, 9, 'a'), record(2, 2, 'c'), record(3, 1, 'a')]);
    expect(found).to.deep.equal([
      [[1, 2], 'a'],
      [[2], 'b'],
      [[3], 'c'],
      [[1, 2], 'a'],
    ]);
    one.close(2);
    one.take(0, [record(4, 1, 'b', 'a')]);
    expect(found.slice(4)).to.deep.equal([[[1], 'a']]);
  });

  it('begins behind the place that a tail was at, in the midst of a record too, and reads nothing twice', () => {
    const one = feed();
    one.open(1, open('*', { from: [[5, 1]] }), [[9, 0]]);
    one.open(2, open('*'), [[6, 0]]);
    for (const offset of [4, 5, 6, 5, 6]) one.take(0, [record(offset, 1, `${String(offset)}a`, `${String(offset)}b`)]);
    expect(found).to.deep.equal([
      [[1], '5b'],
      [[1, 2], '6a'],
      [[1, 2], '6b'],
    ]);
  });

  it('says what it leaves out: beyond the rate of a tail, and what the log has lost', () => {
    const one = feed();
    one.open(1, open('*'), [[0, 0]]);
    const many = Array.from({ length: 30_000 }, (_none, index) => String(index));
    one.take(0, [record(0, 1, ...many), record(1, 1, ...many)]);
    expect(found).to.have.length(50_000);
    expect(missed).to.deep.equal([{ tails: [1], why: 'rate', count: 10_000, since: 1_795_000_000_000, until: 1_795_000_000_000 }]);
    now += 1000;
    one.take(0, [record(2, 1, 'again')]);
    expect(found).to.have.length(50_001);
    one.gap(7);
    expect(missed.at(-1)).to.include({ why: 'log', count: 7 });
    one.logTruncated();
    expect(failed).to.deep.equal([[1, 'The log was truncated; open the tail again.']]);
    expect(one.size).to.equal(0);
  });

  it('gives a tail as much beside a hundred tails of another tenant as beside one', () => {
    const one = feed();
    one.open(1, open('*'), [[0, 0]]);
    for (let id = 2; id <= 101; id += 1) one.open(id, open('nothing', { tenantId: 2 }), [[0, 0]]);
    const many = Array.from({ length: 30_000 }, (_none, index) => String(index));
    one.take(0, [record(0, 1, ...many)]);
    expect([found.length, missed.length]).to.deep.equal([30_000, 0]);
    // those of the other tenant share what that has: 250 a second each, of five seconds
    one.open(102, open('*', { tenantId: 2 }), [[0, 0]]);
    one.close(2);
    one.take(0, [record(1, 2, ...many)]);
    expect(missed).to.deep.equal([{ tails: [102], why: 'rate', count: 28_750, since: 1_795_000_000_000, until: 1_795_000_000_000 }]);
  });

  it('gives a fair sample where a tail asks for one, the same to each, and says of how many', () => {
    const one = feed();
    one.open(1, open('*', { isSampled: true }), [[0, 0]]);
    one.open(2, open('*', { isSampled: true }), [[0, 0]]);
    one.open(3, open('*'), [[0, 0]]);
    const many = Array.from({ length: 2000 }, (_none, index) => String(index));
    const of = (tail: number): unknown[] => found.filter(([tails]) => tails.includes(tail)).map(([, message]) => message);
    // what little comes is given whole
    for (let offset = 0; offset < 5; offset++, now += 1000) one.take(0, [record(offset, 1, ...many.slice(0, 50))]);
    expect([of(1).length, sampled]).to.deep.equal([250, []]);
    // behind the first record that has much
    one.take(0, [record(5, 1, ...many)]);
    expect(sampled).to.deep.equal([
      [1, 20],
      [2, 20],
    ]);
    found = [];
    for (let offset = 6; offset < 16; offset++, now += 1000) one.take(0, [record(offset, 1, ...many)]);
    expect(of(3)).to.have.length(20_000);
    expect(of(1)).to.deep.equal(of(2));
    // 20,000 by 20: the same chance for each, so some 1,000 of them, from everywhere
    expect(of(1).length).to.be.within(800, 1200);
    expect(of(1).filter((message) => Number(message) < 1000).length).to.be.within(380, 620);
    // it is all again as less comes
    for (let offset = 16; offset < 19; offset++, now += 1000) one.take(0, [record(offset, 1, 'a')]);
    expect(sampled.at(-2)).to.deep.equal([1, 1]);
    expect(missed).to.deep.equal([]);
  });

  it('leaves out what is older than the tenant keeps, and ends a tail whose pipes hold too much, alone', () => {
    const one = feed();
    now = 1_795_000_000_000 + 2 * 86_400_000;
    one.open(1, open('*', { retentionDays: 1 }), [[0, 0]]);
    one.open(2, open(`*${' | format "<_msg><_msg><_msg><_msg><_msg><_msg><_msg><_msg>" as _msg'.repeat(9)}`), [[0, 0]]);
    one.open(3, open('*'), [[0, 0]]);
    one.take(0, [record(0, 1, 'x'.repeat(1000))]);
    expect(found.map(([tails]) => tails)).to.deep.equal([[3]]);
    expect(failed.map(([tail]) => tail)).to.deep.equal([2]);
  });

  it('looks at no entries of a tenant whose filters have taken too long, and at those of others', () => {
    const one = feed();
    const slow = new LiveFeed({ onFound: ({ tails }) => found.push([tails, (clock += 3000)]), onMissed: (what) => missed.push(what), onSampled: () => undefined, onFailed: () => undefined, onWork: () => undefined, clock: () => 0, work: () => clock }); // prettier-ignore
    slow.open(1, open('*'), [[0, 0]]);
    slow.open(2, open('*', { tenantId: 2 }), [[0, 0]]);
    slow.take(0, [record(0, 1, 'a'), record(1, 1, 'b', 'c'), record(2, 2, 'd')]);
    expect(found.map(([tails]) => tails)).to.deep.equal([[1], [2]]);
    expect(missed).to.have.length(1);
    expect(missed[0]).to.include({ why: 'busy', count: 2 });
    expect(one.size).to.equal(0);
  });

  it('asks before each heavy tail whether there is time, gives each of them its turn, and takes none of the time of light tails of others', async () => {
    let [worked, idle] = [0, 0];
    const feed = new LiveFeed({ onFound: ({ tails }) => found.push([tails, '']), onMissed: (what) => missed.push(what), onSampled: () => undefined, onFailed: () => undefined, onWork: () => undefined, clock: () => worked + idle, work: () => (worked += 20) }); // prettier-ignore
    for (let id = 1; id <= 95; id++) feed.open(id, open('~"a"', { tenantId: 1 }), [[0, 0]]);
    feed.open(100, open('*', { tenantId: 2 }), [[0, 0]]);
    const longest: number[] = [];
    for (let offset = 0; offset < 40; offset += 2) {
      const before = worked;
      feed.take(0, [record(offset, 1, 'a'), record(offset + 1, 2, 'b')]);
      longest.push(worked - before);
      idle += 1000;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(Math.max(...longest), 'of one record').to.be.below(1300);
    const given = found.flatMap(([tails]) => tails);
    expect(given.filter((id) => id === 100)).to.have.length(20);
    const late = missed.flatMap(({ why, tails }) => (why === 'busy' ? tails : []));
    expect(given.filter((id) => id !== 100).length + late.length, 'each is given, or told of as missed').to.equal(20 * 95);
    expect(new Set(given).size, 'of 96 tails').to.be.above(40);
  });

  it('refuses queries that cannot be followed', () => {
    for (const query of ['* | stats count()', 'a AND (', '* | sort by (_time)'])
      expect(() => feed().open(1, open(query), []), query).to.throw();
  });
});

describe('what live tails share', () => {
  it('filters of a tenant work for a part of each second', () => {
    const share = new CpuShare();
    share.spend(1, 1200, 0);
    expect([share.hasTime(1, 0), share.hasTime(2, 0), share.hasTime(1, 1000)]).to.deep.equal([false, true, true]);
  });

  it('filters of many tenants work for three quarters of each second together', () => {
    const share = new CpuShare();
    for (let tenantId = 1; tenantId <= 10; tenantId++) share.spend(tenantId, 1050, 0);
    let worked = 0;
    for (let now = 0; now < 20_000; now += 10)
      for (let tenantId = 1; tenantId <= 10; tenantId++)
        if (share.hasTime(tenantId, now)) {
          share.spend(tenantId, 50, now);
          worked += 50;
        }
    expect(worked).to.be.within(12_000, 15_500);
  });

  it('positions read back as they were written, and nothing else does', () => {
    const place = new LogPlace([[0, 0], [12_345_678, 3], [7, 0]]); // prettier-ignore
    expect(readPlace(place.toString()).vector).to.deep.equal(place.vector);
    const phase = { start: '-5', from: null, until: place, given: 17 };
    for (const position of [{ place }, { phase }, { phase: { ...phase, start: null, from: place } }])
      expect(positionText(readPosition(positionText(position)))).to.equal(positionText(position));
    for (const text of [
      '',
      'p',
      'p~',
      'p~0_',
      'p~-1',
      'p~0.',
      'p~1.zzzzzzzzzz',
      `p~${'0_'.repeat(5000)}0`,
      's~1~2~3',
      's~x~~0~0',
      's~~~~0',
      '__proto__',
      'p~0~1',
      `p~${'z'.repeat(70_000)}`,
    ])
      // prettier-ignore
      expect(() => readPosition(text), text.slice(0, 50)).to.throw('not a position').with.property('status', 400);
  });

  it('a place is within what is stored where all before it is', () => {
    const place = new LogPlace([[3, 0], [5, 2]]); // prettier-ignore
    expect([place.isWithin([3, 6]), place.isWithin([3, 5]), place.isWithin([2, 9]), place.isWithin([3])]).to.deep.equal([true, false, false, false]); // prettier-ignore
    expect(place.after(2, 4, 1).vector).to.deep.equal([[3, 0], [5, 2], [4, 2]]); // prettier-ignore
    expect(place.orLater([[9, 0], [5, 1], [1, 0]]).vector).to.deep.equal([[9, 0], [5, 2], [1, 0]]); // prettier-ignore
  });

  it('a place is not further than a log that has lost its end, partition by partition', () => {
    const place = new LogPlace([
      [5, 0],
      [5, 1],
      [7, 2],
    ]);
    expect(place.within([5, 5, 8]).vector).to.deep.equal([
      [5, 0],
      [0, 0],
      [7, 2],
    ]);
    expect(place.within([4]).vector).to.deep.equal([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect([place.isAt(new LogPlace(place.vector)), place.isAt(place.within([4]))]).to.deep.equal([true, false]);
  });

  it('held entries are let go while stored ones can still be asked for, and lost afterwards', () => {
    const held = new HeldEntries();
    const place = (offset: number): LogPlace => new LogPlace([[offset, 0]]);
    for (let at = 0; at < 20_001; at++) held.add(Buffer.from('x'), place(at));
    expect(held.takeMoved()?.vector).to.deep.equal([[20_000, 0]]);
    held.add(Buffer.from('y'), place(20_001));
    expect(held.takeMoved()).to.equal(null);
    held.add(Buffer.alloc(4 * 1024 * 1024), place(20_002));
    expect([held.lost, held.next()?.text.toString(), held.next()]).to.deep.equal([1, 'y', null]);
  });

  it('frames of the live worker are none by which it is asked whether it is there', () => {
    const numbers = Object.values(messages).filter((value) => typeof value === 'number');
    expect(numbers).to.include(messages.SAMPLED).and.not.include.members([frames.PING]).and.not.include.members([frames.PONG]);
    expect(new Set(numbers).size).to.equal(numbers.length);
  });

  it('frames of entries read back', () => {
    const found = { tails: [1, 70_000], partition: 3, offset: 9_007_199_254_740_000, index: 5, text: 'é' };
    expect({ ...decodeMatched(encodeMatched(found)), text: 'é' }).to.deep.equal(found);
  });
});
