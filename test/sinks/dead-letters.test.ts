import { expect } from 'chai';
import fc from 'fast-check';
import { LogPartition, type Written } from '../fakes/log-partition.ts';
import { extent } from '../extent.ts';

const written: fc.Arbitrary<Written> = fc.record({
  days: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
  refused: fc.boolean(),
  unread: fc.boolean(),
});
const good = fc.record({ days: fc.array(fc.nat(2), { minLength: 0, maxLength: 3 }) });
const records = fc.array(fc.oneof({ weight: 3, arbitrary: good }, { weight: 1, arbitrary: written }), { minLength: 1, maxLength: 25 });
/** How many rows of one insert the table has the memory for: what a single record has always fits. */
const memory = fc.constantFrom(Infinity, 3, 5);
/** A process: how long it lives, and what happens before it starts. */
const life = fc.record({
  steps: fc.nat(40),
  table: fc.boolean(),
  reader: fc.boolean(),
  replay: fc.boolean(),
  memory,
});

/** Every row of the records that may be stored, and of no other, once. */
function faultOf(world: LogPartition, all: readonly Written[]): string | null {
  for (const [offset, { days, refused = false, unread = false }] of all.entries()) {
    const dead = world.letters.some((letter) => letter.offset === offset);
    const times = days.map((_, index) => world.copies(offset, index));
    if (times.some((count) => count > 1)) return `record ${offset} is stored ${times.join()} times`;
    if (times.some((count) => count === 0) && !dead) return `record ${offset} is lost: ${times.join()}`;
    if (dead && !refused && !unread) return `record ${offset} is a dead letter for no reason`;
  }
  const rows = all.reduce((sum, { days }) => sum + days.length, 0);
  return world.rows.size > rows ? 'there are rows of no record' : null;
}

/** How many rows are stored. */
const whole = (world: LogPartition, all: readonly Written[]): boolean =>
  world.rows.size === all.reduce((sum, { days }) => sum + days.length, 0);

describe('dead letters', () => {
  it('leave every other row stored once, and are stored once when they are replayed, whichever step a process dies at', async () => {
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.array(life, { maxLength: 8 }),
        life,
        fc.array(fc.nat(40), { maxLength: 4 }),
        async (all, lives, long, last) => {
          const world = new LogPartition();
          for (const one of all) world.append(one);
          let replays = 0;
          for (const { steps, table, reader, replay, memory } of lives) {
            world.memory = memory;
            world.mended = { table, reader };
            if (replay && replays++ < 2) world.replay();
            world.stepsLeft = steps;
            await world.own();
          }
          // one that reads all there is
          world.mended = long;
          world.memory = long.memory;
          world.stepsLeft = Infinity;
          await world.own();
          expect(faultOf(world, all)).to.equal(null);
          // mended: a replay, and the same once more
          world.mended = { table: true, reader: true };
          for (let twice = 0; twice < 2; twice++) {
            world.replay();
            for (const steps of [...last, Infinity]) {
              world.stepsLeft = steps;
              await world.own();
            }
          }
          expect(faultOf(world, all)).to.equal(null);
          expect(whole(world, all)).to.equal(true);
        },
      ),
      { numRuns: extent(100, 700) },
    );
  }).timeout(600_000);

  it('are not doubled by an insert of the whole range that arrives late', async () => {
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.array(fc.record({ steps: fc.nat(40), memory }), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        async (all, lives, table) => {
          const world = new LogPartition();
          for (const one of all) world.append(one);
          for (const { steps, memory } of [...lives, { steps: Infinity, memory: 4 }]) {
            world.stepsLeft = steps;
            world.memory = memory;
            const late = world.unsent.splice(0);
            await world.own();
            // the table may be mended by then: what is dead may get in, and everything else is there already
            world.mended = { table, reader: false };
            for (const arrive of late) arrive();
            world.mended = { table: false, reader: false };
          }
          expect(faultOf(world, all)).to.equal(null);
        },
      ),
      { numRuns: extent(60, 400) },
    );
  }).timeout(600_000);

  it('stop the partition before there are more of them than the limit, and nothing is skipped', async () => {
    const world = new LogPartition();
    const all = Array.from({ length: 40 }, (_, n) => ({ days: [1], refused: n % 4 === 0 }));
    for (const one of all) world.append(one);
    await world.own(3);
    expect(world.letters.length).to.be.at.most(3);
    const { offset } = world.committed;
    expect(offset).to.be.within(7, 16);
    // a new process counts those of the one before
    for (let n = 0; n < 3; n++) await world.own(3);
    expect(world.letters.length).to.be.at.most(3);
    expect(world.committed.offset).to.equal(offset);
    world.mended = { table: true, reader: true };
    await world.own(3);
    expect(world.done).to.equal(true);
    expect(faultOf(world, all)).to.equal(null);
  });

  it('stop it for records that cannot be read, too; with the limit raised they are drained', async () => {
    const world = new LogPartition();
    for (let n = 0; n < 30; n++) world.append({ days: [1], unread: n % 2 === 0 });
    await world.own(5);
    expect(world.letters.length).to.be.at.most(5);
    expect(world.done).to.equal(false);
    await world.own(10_000);
    expect(world.done).to.equal(true);
    expect(new Set(world.letters.map(({ offset }) => offset)).size).to.equal(15);
  });
});
