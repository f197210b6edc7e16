import { expect } from 'chai';
import fc from 'fast-check';
import { LogPartition, type Written } from '../../../fakes/log-partition.ts';
import { extent } from '../../../extent.ts';

const record: fc.Arbitrary<Written> = fc.record({ days: fc.array(fc.nat(2), { maxLength: 3 }) });
/** A process that dies after so many steps, what came before it, and whether the power failed before that. */
const life = fc.record({
  steps: fc.oneof(fc.nat(40), fc.constant(Infinity)),
  come: fc.array(record, { maxLength: 10 }),
  // what a single record has always fits
  memory: fc.constantFrom(Infinity, Infinity, 3, 5),
  loss: fc.option(fc.record({ kept: fc.nat(25), commits: fc.nat(60) })),
});

describe('a log that has lost its end', () => {
  it('has each of its records stored once, whatever was lost of it and of the commits, and whichever step a process dies at', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 8 }), async (lives) => {
        const world = new LogPartition();
        const counts: number[] = [];
        for (const { steps, come, loss, memory } of [...lives, { steps: Infinity, come: [], loss: null, memory: 4 }]) {
          world.memory = memory;
          if (loss !== null) world.losePower(loss.kept, loss.commits);
          counts.length = world.messages.length;
          for (const one of come) {
            counts.push(one.days.length);
            world.append(one);
          }
          world.stepsLeft = steps;
          await world.own();
        }
        const all = counts.map((count, offset) => Array.from({ length: count }, (_, index) => world.copies(offset, index)));
        expect(all).to.deep.equal(counts.map((count) => Array.from({ length: count }, () => 1)));
        // of what the log has lost, nothing is doubled either
        expect([...world.rows.values()].every((copies) => copies === 1)).to.equal(true);
      }),
      { numRuns: extent(100, 300), endOnFailure: true },
    );
  }).timeout(600_000);
});
