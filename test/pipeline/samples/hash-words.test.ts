import { expect } from 'chai';
import fc from 'fast-check';
import { sameBytes, viewOf } from '../../../pipeline/samples/hash-words.ts';
import { extent } from '../../extent.ts';

describe('bytes that are compared in words', () => {
  it('are the same where each one is, wherever they lie', () => {
    const bytes = fc.uint8Array({ minLength: 0, maxLength: 80 });
    fc.assert(
      fc.property(bytes, fc.nat(20), fc.nat(20), fc.nat(79), fc.integer({ min: 1, max: 255 }), (own, from, start, place, change) => {
        const [a, b] = [Buffer.alloc(from + own.length + 3, 1), Buffer.alloc(start + own.length + 3, 2)];
        a.set(own, from);
        b.set(own, start);
        expect(sameBytes(viewOf(a), from, viewOf(b), start, own.length)).to.equal(true);
        if (place >= own.length) return;
        b[start + place] = (own[place] as number) ^ change;
        expect(sameBytes(viewOf(a), from, viewOf(b), start, own.length)).to.equal(false);
      }),
      { numRuns: extent(300, 10_000) },
    );
  });
});
