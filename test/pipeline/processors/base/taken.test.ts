import { expect } from 'chai';
import fc from 'fast-check';
import { Taken } from '../../../../pipeline/processors/base/taken.ts';
import type { Source } from '../../../../pipeline/processors/base/partial.ts';
import { ByteReader, ByteWriter, CutOff } from '../../../../pipeline/core/snapshot-bytes.ts';

const NOW = 1_795_269_600_000;
const source = (partition: number, offset: number, number = 0, appendedAt = NOW + offset): Source => ({
  partition,
  offset,
  number,
  appendedAt,
});

const again = (taken: Taken): Taken => {
  const to = new ByteWriter();
  taken.write(to);
  return Taken.read(new ByteReader(to.finish()));
};

describe('the partials that were taken', () => {
  it('are each taken once, whoever writes how much of them again, and between which others', () => {
    const count = 12;
    /** Two outputs at each record but the third. Append times may go back. */
    const emitted = [0, 1].map((partition) =>
      Array.from({ length: count }, (_, n) => source(partition, n >> 1, n % 2, NOW + (n % 5))).filter(({ offset }) => offset !== 2),
    );
    const writings = fc.array(fc.record({ partition: fc.nat(1), from: fc.nat(count), to: fc.nat(count) }), { maxLength: 12 });
    fc.assert(
      fc.property(writings, fc.infiniteStream(fc.nat(3)), (list, chance) => {
        // an owner begins behind what is there at most, and the last one writes all that is left
        const reach = [0, 0];
        const queues = [...list, { partition: 0, from: 0, to: count }, { partition: 1, from: 0, to: count }].map(
          ({ partition, from, to }): Source[] => {
            const begin = Math.min(from, reach[partition] as number);
            reach[partition] = Math.max(reach[partition] as number, to);
            return (emitted[partition] as Source[]).slice(begin, to);
          },
        );
        let taken = new Taken();
        const got: Source[] = [];
        for (const queue of queues)
          for (const one of queue) {
            if (chance.next().value === 0) taken = again(taken);
            if (taken.take(one)) got.push(one);
          }
        for (const partition of [0, 1])
          expect(got.filter((one) => one.partition === partition)).to.deep.equal(emitted[partition]); // prettier-ignore
      }),
    );
  });

  it('may come under an offset that was there before, where the log lost its end', () => {
    const taken = new Taken();
    for (const offset of [5, 6, 7]) expect(taken.take(source(1, offset))).to.equal(true);
    expect(taken.take(source(1, 6)), 'a replay').to.equal(false);
    expect(taken.take(source(1, 6, 0, NOW + 60_000)), 'another record').to.equal(true);
    expect(taken.take(source(1, 6, 1, NOW + 60_000))).to.equal(true);
    expect(taken.take(source(1, 6, 0, NOW + 60_000))).to.equal(false);
    expect(taken.take(source(2, 1)), 'of another partition').to.equal(true);
  });

  it('are read from what they wrote, and from nothing else', () => {
    const taken = new Taken();
    taken.take(source(3, 9, 2));
    const to = new ByteWriter();
    taken.write(to);
    const bytes = to.finish();
    expect(Taken.read(new ByteReader(bytes)).take(source(3, 9, 2))).to.equal(false);
    for (let length = 0; length < bytes.length; length++)
      expect(() => Taken.read(new ByteReader(bytes.subarray(0, length)))).to.throw(CutOff); // prettier-ignore
  });
});
