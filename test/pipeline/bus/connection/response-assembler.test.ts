import { expect } from 'chai';
import fc from 'fast-check';
import { ResponseAssembler } from '../../../../pipeline/bus/connection/response-assembler.ts';

/** A response of these bytes, which are at least four. */
function framed(content: Uint8Array): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32BE(content.length, 0);
  return Buffer.concat([size, content]);
}

describe('responses of Kafka', () => {
  it('are given whole and in order, however they are cut, and stay when the memory they came in is written again', () => {
    const contents = fc.array(fc.uint8Array({ minLength: 4, maxLength: 300 }), { maxLength: 20 });
    fc.assert(
      fc.property(contents, fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), (given, cuts) => {
        const got: Buffer[] = [];
        const assembler = new ResponseAssembler((response) => got.push(response));
        const all = Buffer.concat(given.map(framed));
        const memory = Buffer.alloc(200);
        for (let at = 0, cut = 0; at < all.length; cut++) {
          const length = Math.min(cuts[cut % cuts.length] as number, all.length - at);
          all.copy(memory, 0, at, at + length);
          expect(assembler.take(memory.subarray(0, length))).to.equal(true);
          memory.fill(255);
          at += length;
        }
        expect(Buffer.concat(got)).to.deep.equal(all);
        expect(got.length).to.equal(given.length);
      }),
    );
  });

  it('have a size that can be', () => {
    for (const size of [-1, 0, 3, 256 * 1024 * 1024 + 1]) {
      const head = Buffer.alloc(4);
      head.writeInt32BE(size, 0);
      expect(new ResponseAssembler(() => undefined).take(head)).to.equal(false);
    }
  });
});
