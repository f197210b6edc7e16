import { expect } from 'chai';
import fc from 'fast-check';
import { JointWorld, type Life } from '../../../fakes/joint-world.ts';
import { extent } from '../../../extent.ts';

const PARTITIONS = 4;
const rows = fc.array(fc.nat(2), { maxLength: 3 });
const life: fc.Arbitrary<Life> = fc.record({
  steps: fc.oneof(fc.nat(80), fc.constant(Infinity)),
  owns: fc.array(fc.boolean(), { minLength: PARTITIONS, maxLength: PARTITIONS }),
  come: fc.array(fc.array(rows, { maxLength: 6 }), { minLength: PARTITIONS, maxLength: PARTITIONS }),
  lateAt: fc.nat(40),
  // what a single record has always fits
  memory: fc.constantFrom(Infinity, 3, 6),
});

const ALL = Array.from({ length: PARTITIONS }, () => true);
const ENDLESS: Life = { steps: Infinity, owns: ALL, come: [], lateAt: Infinity };

describe('inserts of several partitions', () => {
  it('are never stored twice, whichever step a process dies at, and at whichever step of the next its insert arrives', async () => {
    const come = ALL.map((_, partition) => [[0, 1], [1], [partition % 2]]);
    for (let steps = 0; steps < 40; steps++)
      for (let lateAt = steps % extent(3, 1); lateAt < 30; lateAt += extent(3, 1)) {
        const world = new JointWorld(PARTITIONS);
        await world.live({ steps, owns: ALL, come, lateAt: Infinity });
        await world.live({ ...ENDLESS, lateAt });
        world.arriveLate();
        expect(world.copies, `died at step ${String(steps)}, late at ${String(lateAt)}`).to.deep.equal(world.copies.map(() => 1));
      }
  }).timeout(600_000);

  it('are never stored twice either where the next process has the memory for less, or for more, than the one before', async () => {
    const come = ALL.map((_, partition) => [[0, 1], [1], [partition % 2], [0], [0, 1, 2]]);
    for (const [first, second] of [
      [Infinity, 3],
      [3, Infinity],
      [3, 4],
    ] as const)
      for (let steps = 0; steps < 120; steps += extent(9, 3))
        for (let lateAt = 0; lateAt < 100; lateAt += extent(10, 5)) {
          const world = new JointWorld(2);
          await world.live({ steps, owns: ALL, come, lateAt: Infinity, memory: first });
          await world.live({ ...ENDLESS, lateAt, memory: second });
          world.arriveLate();
          const at = `${String(first)} then ${String(second)}, died at step ${String(steps)}, late at ${String(lateAt)}`;
          expect(world.copies, at).to.deep.equal(world.copies.map(() => 1));
        }
  }).timeout(600_000);

  it('store each record once, whichever step a process dies at, whoever goes on, and however late its insert arrives', async () => {
    let [joint, tooLarge] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 6 }), async (lives) => {
        const world = new JointWorld(PARTITIONS);
        for (const one of lives) await world.live(one);
        await world.live({ ...ENDLESS, lateAt: 3 });
        world.arriveLate();
        joint += world.joint;
        tooLarge += world.tooLarge;
        expect(world.copies.filter((copies) => copies !== 1)).to.deep.equal([]);
      }),
      { numRuns: extent(60, 200), endOnFailure: true },
    );
    // how many there are depends on the seed
    expect(joint, 'inserts with rows of several partitions').to.be.above(50);
    expect(tooLarge, 'inserts that are too large').to.be.above(50);
  }).timeout(600_000);
});
