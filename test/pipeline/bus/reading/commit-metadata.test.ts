import { expect } from 'chai';
import fc from 'fast-check';
import { decodeMetadata, encodeMetadata, WINDOW } from '../../../../pipeline/bus/reading/commit-metadata.ts';

/** Of a commit that an older version made. */
const known = { appendedBy: null, inDoubtTo: -1, insert: null };

describe('metadata of a commit', () => {
  it('is nothing where nothing is under way and no record is a dead letter', () => {
    expect(encodeMetadata(10, null, [])).to.equal('');
    expect(decodeMetadata(10, '')).to.deep.equal({ from: 10, intent: null, dead: new Set(), ...known });
  });

  it('is the end of the range for an intent', () => {
    expect(encodeMetadata(5, 9, [])).to.equal('{"e":9,"v":1}');
    expect(decodeMetadata(5, '{"e":9,"v":1}')).to.deep.equal({ from: 5, intent: { start: 5, end: 9 }, dead: new Set(), ...known });
  });

  it('is when the last record was appended, and how far what is stored is in doubt, for as long as it is', () => {
    const doubt = { appendedBy: 1_795_000_000_000, inDoubtTo: 12 };
    expect(encodeMetadata(5, 9, [], doubt)).to.equal('{"e":9,"v":1,"t":1795000000000,"m":12}');
    expect(decodeMetadata(5, encodeMetadata(5, 9, [], doubt))).to.deep.include({ ...doubt, intent: { start: 5, end: 9 } });
    expect(decodeMetadata(13, encodeMetadata(13, null, [], doubt))).to.deep.include({ ...doubt, inDoubtTo: -1, intent: null });
  });

  it('keeps the dead letters of the last 10,000 offsets', () => {
    fc.assert(
      fc.property(
        fc.nat(1e9),
        fc.option(fc.integer({ min: 0, max: WINDOW - 1 })),
        fc.uniqueArray(fc.integer({ min: -20_000, max: 20_000 })),
        (offset, width, around) => {
          const last = width === null ? offset - 1 : offset + width;
          const dead = around.map((back) => last - back).filter((at) => at >= 0 && at <= last);
          const progress = decodeMetadata(offset, encodeMetadata(offset, width === null ? null : last, dead));
          expect(progress.intent).to.deep.equal(width === null ? null : { start: offset, end: last });
          expect([...progress.dead].sort()).to.deep.equal(dead.filter((at) => at > last - WINDOW).sort());
        },
      ),
    );
  });

  it('fits what Kafka takes, 4,096 bytes, whichever are dead', () => {
    const some = (share: number): number[] => Array.from({ length: WINDOW }, (_, at) => at).filter((at) => (at * 7919) % 97 < share * 97);
    for (const share of [0.01, 0.1, 0.3, 0.5, 0.7, 1]) expect(encodeMetadata(0, WINDOW - 1, some(share)).length).to.be.below(2000);
    // the worst that there is: chance
    const chance = Array.from({ length: WINDOW }, (_, at) => at).filter(() => Math.random() < 0.5);
    expect(
      encodeMetadata(
        2 ** 50,
        2 ** 50 + WINDOW - 1,
        chance.map((at) => at + 2 ** 50),
      ).length,
    ).to.be.below(2000);
  });

  for (const text of ['{', '5', '{"e":9}', '{"e":"9","v":1}', '{"v":2}', '{"v":1,"d":"x"}', '{"v":1,"t":"5"}', '{"v":1,"m":null}'])
    it(`is not guessed at: ${text}`, () => expect(() => decodeMetadata(5, text)).to.throw());
});
