import { expect } from 'chai';
import { StorageWindow } from '../../../api/limits/storage-window.ts';

const [STEP_MS, LOOK_MS, ROUND_MS, BODY, ENTRY_BYTES] = [50, 250, 2000, 2000, 300];

type World = {
  /** Entries/s that are sent while nothing waits, in bodies of 2,000. */
  readonly offered: number;
  readonly connections: number;
  /** Entries/s that storage can take, which it stores in rounds of two seconds. */
  readonly capacity: (second: number) => number;
  readonly seconds: number;
};

type Seen = { readonly ageS: number[]; readonly stored: number; readonly waited: number };

/** One partition under load: how old the oldest entry that is not stored is at most in each second, and how many steps requests waited. */
function simulate({ offered, connections, capacity, seconds }: World): Seen {
  const window = new StorageWindow();
  const acked: { offset: number; at: number }[] = [];
  const ageS: number[] = [];
  let [next, stored, taken, due, waited] = [0, 0, 0, 0, 0];
  for (let now = 0; now < seconds * 1000; now += STEP_MS) {
    const isOpen = (window.budget(now) ?? 1) > 0;
    if (!isOpen) waited += 1;
    // those that wait go on after 2.5 s in any case
    due += (STEP_MS / 1000) * (isOpen ? offered : Math.min(offered, (connections * BODY) / 2.5));
    for (; due >= BODY; due -= BODY) {
      next += BODY;
      acked.push({ offset: next - 1, at: now });
      window.sent({ partition: 0, offset: next - 1, bytes: BODY * ENTRY_BYTES, tenantId: 1, timestamp: now }, now);
    }
    taken = Math.min(next, taken + (capacity(now / 1000) * STEP_MS) / 1000);
    if (now % ROUND_MS === 0) stored = Math.floor(taken);
    if (now % LOOK_MS === 0) window.stored(new Map([[0, stored]]), now);
    while (acked[0] !== undefined && acked[0].offset < stored) acked.shift();
    const second = Math.floor(now / 1000);
    ageS[second] = Math.max(ageS[second] ?? 0, (now - (acked[0]?.at ?? now)) / 1000);
  }
  return { ageS, stored, waited };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const usual = { connections: 4, capacity: () => 60_000, seconds: 300 };

describe('storage window', () => {
  const table: readonly (readonly [string, World])[] = [
    ['a little too much', { ...usual, offered: 66_000 }],
    ['twice too much', { ...usual, offered: 120_000 }],
    ['twice too much over 32 connections', { ...usual, offered: 120_000, connections: 32 }],
    ['a slow machine', { ...usual, offered: 40_000, capacity: () => 15_000 }],
    [
      'storage that is slower for a minute',
      { ...usual, offered: 120_000, capacity: (second) => (second > 150 && second < 210 ? 30_000 : 100_000) },
    ],
  ];
  for (const [name, world] of table)
    it(`keeps what is not stored young, and storage busy: ${name}`, () => {
      const { ageS, stored } = simulate(world);
      const settled = ageS.slice(60);
      expect(mean(settled)).to.be.below(5);
      // what was let in before storage became slower takes as much longer
      expect(Math.max(...settled)).to.be.below(15);
      const could = Array.from({ length: world.seconds }, (_, second) => world.capacity(second)).reduce((sum, one) => sum + one, 0);
      expect(stored / could).to.be.above(0.9);
    });

  it('holds nothing up while storage keeps up', () => {
    expect(simulate({ ...usual, offered: 58_000 }).waited).to.equal(0);
  });

  it('holds nothing up in a burst', () => {
    for (const offered of [60_000, 150_000, 200_000])
      expect(simulate({ ...usual, offered, seconds: 1_000_000 / offered, capacity: () => 0.9 * offered }).waited).to.equal(0);
  });

  it('holds nothing up long after it was smaller, when storage has become faster', () => {
    const { ageS, stored } = simulate({ ...usual, offered: 90_000, seconds: 600, capacity: (second) => (second < 200 ? 20_000 : 100_000) });
    expect(Math.max(...ageS.slice(400))).to.be.below(4);
    expect(stored).to.be.above(0.9 * (200 * 20_000 + 400 * 90_000));
  });

  it('holds nothing up while nothing is stored at all, nor while what came then is caught up with', () => {
    const during = simulate({ ...usual, offered: 40_000, seconds: 120, capacity: (second) => (second < 20 ? 60_000 : 0) });
    expect(during.waited).to.be.below((10_000 + ROUND_MS) / STEP_MS);
    const after = simulate({ ...usual, offered: 20_000, capacity: (second) => (second > 20 && second < 120 ? 0 : 60_000) });
    expect(after.waited).to.be.at.most((2 * ROUND_MS) / STEP_MS);
    expect(after.ageS.at(-1)).to.be.below(4);
  });

  it('does not count a partition that stands still', () => {
    const window = new StorageWindow();
    window.sent({ partition: 0, offset: 0, bytes: 1e9, tenantId: 1, timestamp: 0 }, 0);
    window.sent({ partition: 1, offset: 0, bytes: 1, tenantId: 1, timestamp: 0 }, 0);
    expect(window.budget(100)).to.be.below(0);
    window.stored(new Map([[1, 1]]), 9000);
    expect(window.budget(9000)).to.be.below(0);
    expect(window.budget(10_001)).to.be.above(0);
  });
});
