import { expect } from 'chai';
import fc from 'fast-check';
import { usage } from '../../../pipeline/processors/usage.ts';

const DAY = 86_400_000;
const record = (offset: number, tenantId: number, bytes: number, day = 20_000) => ({ offset, tenantId, bytes, timestamp: day * DAY + 5 });
const batch = (next: number, ...records: ReturnType<typeof record>[]) => ({ partition: 0, records, next });

describe('usage processor', () => {
  it('sums the bytes of a tenant by the day of the append time', () => {
    let state = usage.fold(usage.empty(), batch(4, record(0, 1, 10), record(1, 2, 5), record(3, 1, 7)));
    state = usage.fold(state, batch(6, record(5, 1, 100, 20_001)));
    expect(state).to.deep.equal({
      next: 6,
      days: new Map([[20_000, new Map([[1, 17], [2, 5]])], [20_001, new Map([[1, 100]])]]),
    }); // prettier-ignore
  });

  it('goes on over records that count nothing', () => expect(usage.fold(usage.empty(), batch(9)).next).to.equal(9));

  it('keeps the three days that were appended to last, and no clock of a broker empties it', () => {
    let state = usage.empty();
    for (const [offset, day] of [1, 2, 3, 4, 90_000, 4, 5].entries())
      state = usage.fold(state, batch(offset + 1, record(offset, 1, 1, day)));
    expect([...state.days.keys()]).to.deep.equal([90_000, 4, 5]);
    expect(state.days.get(4)).to.deep.equal(new Map([[1, 2]]));
  });

  it('comes to the same state from any snapshot, whatever batches the log is read in and however often a record comes', () => {
    const log = fc.array(
      fc.record({
        tenantId: fc.integer({ min: 1, max: 3 }),
        bytes: fc.integer({ min: 1, max: 1000 }),
        day: fc.integer({ min: 20_000, max: 20_005 }),
      }),
      { minLength: 1, maxLength: 40 },
    );
    const cuts = fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 10 });
    fc.assert(
      fc.property(log, cuts, (entries, steps) => {
        const records = entries.map(({ tenantId, bytes, day }, offset) => record(offset, tenantId, bytes, day));
        const read = (from: number, to: number) => batch(to, ...records.slice(from, to));
        const whole = usage.encode(0, usage.fold(usage.empty(), read(0, records.length)));
        let state = usage.empty();
        // reads from some offset that is not beyond what is known, and begins at a snapshot each time
        for (const [back, ahead] of [...steps, [0, records.length] as const]) {
          const to = Math.min(records.length, state.next + ahead);
          state = usage.fold(state, read(Math.max(0, state.next - back), Math.max(to, state.next)));
          const { key, value } = usage.encode(0, state);
          state = usage.decode(key, value)?.state ?? usage.empty();
        }
        expect(usage.encode(0, state)).to.deep.equal(whole);
      }),
    );
  });

  it('takes only snapshots from the topic', () => {
    expect(usage.decode('node:a', '{"next":1,"days":[]}')).to.equal(null);
    expect(usage.decode('partition:1', '{"next":1}')).to.equal(null);
    expect(usage.decode('partition:1', null)).to.equal(null);
  });
});
