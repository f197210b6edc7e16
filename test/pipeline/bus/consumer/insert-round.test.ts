import { expect } from 'chai';
import { pino } from 'pino';
import { InsertRound, type Outcome } from '../../../../pipeline/bus/consumer/insert-round.ts';
import type { Range, RangeStore } from '../../../../pipeline/bus/consumer/range.ts';
import { logRecord, rangeOf } from '../../../fakes/log-record.ts';

const log = pino({ level: 'silent' });
const range = (partition: number): Range => ({ ...rangeOf(logRecord({ offset: 1, count: 2, partition })), partition });

describe('insert round', () => {
  const inserts: (readonly [string, readonly number[]])[] = [];
  const joined: Pick<RangeStore, 'joins' | 'storeJointly'> = {
    joins: () => Promise.resolve(true),
    storeJointly: (id, ranges) => {
      inserts.push([id, ranges.map(({ partition }) => partition)]);
      return Promise.resolve();
    },
  };
  const round = (seats: number, store = joined, gatherMs = 60_000): InsertRound =>
    new InsertRound({ id: 'x', seats, store, log, gatherMs });
  beforeEach(() => (inserts.length = 0));

  it('is one insert, sent when each partition has come or left', async () => {
    const one = round(3);
    const [first, second, third] = [one.seat(), one.seat(), one.seat()];
    const outcomes = [first.store(range(1)), second.store(range(2))];
    await Promise.resolve();
    expect(inserts).to.deep.equal([]);
    third.leave();
    third.leave();
    expect(await Promise.all(outcomes)).to.deep.equal(['stored', 'stored']);
    expect(inserts).to.deep.equal([['x', [1, 2]]]);
    await one.over;
  });

  it('leaves a range that comes alone to its partition', async () => {
    const one = round(2);
    const [first, second] = [one.seat(), one.seat()];
    second.leave();
    expect(await first.store(range(1))).to.equal('alone');
    await one.over;
    expect(inserts).to.deep.equal([]);
  });

  it('is over where nobody brings anything', async () => {
    const one = round(2);
    one.seat().leave();
    one.seat().leave();
    await one.over;
  });

  it('does not wait for ever for one that is late, which is stored by itself', async () => {
    const one = round(3, joined, 20);
    const [first, second, third] = [one.seat(), one.seat(), one.seat()];
    expect(await Promise.all([first.store(range(1)), second.store(range(2))])).to.deep.equal(['stored', 'stored']);
    expect(await third.store(range(3))).to.equal('alone');
    expect(inserts).to.deep.equal([['x', [1, 2]]]);
  });

  const cases: readonly [string, Partial<typeof joined>, Outcome][] = [
    ['an insert that failed leaves each range in doubt', { storeJointly: () => Promise.reject(new Error('cut off')) }, 'in doubt'],
    ['nothing is sent where the table takes one range only', { joins: () => Promise.resolve(false) }, 'alone'],
    ['nothing is sent where that cannot be told', { joins: () => Promise.reject(new Error('away')) }, 'alone'],
  ];
  for (const [what, own, outcome] of cases) {
    it(what, async () => {
      const one = round(2, { ...joined, ...own });
      const seats = [one.seat(), one.seat()];
      expect(await Promise.all(seats.map((seat, at) => seat.store(range(at))))).to.deep.equal([outcome, outcome]);
      await one.over;
      expect(inserts).to.deep.equal([]);
    });
  }
});
