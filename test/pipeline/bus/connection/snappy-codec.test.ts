import { expect } from 'chai';
import fc from 'fast-check';
import { compress } from 'snappyjs';
import { snappyCodec } from '../../../../pipeline/bus/connection/snappy-codec.ts';

const HEADER = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);

/** As Java's clients write it: blocks with their length before them. */
function xerial(...parts: readonly Buffer[]): Buffer {
  const blocks = parts.flatMap((part) => {
    const block = compress(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(block.length);
    return [length, block];
  });
  return Buffer.concat([HEADER, ...blocks]);
}

describe('snappy codec of Kafka', () => {
  it('reads what it writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        const buffer = Buffer.from(bytes);
        expect((await snappyCodec.decompress(await snappyCodec.compress({ buffer }))).equals(buffer)).to.equal(true);
      }),
    );
  });

  it("reads the blocks of Java's clients", async () => {
    expect((await snappyCodec.decompress(xerial(Buffer.from('first,'), Buffer.from('second')))).toString()).to.equal('first,second');
    expect((await snappyCodec.decompress(xerial())).length).to.equal(0);
  });

  const bomb = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]);
  for (const [what, bytes] of [
    ['a block that claims 4 GiB', bomb],
    ['text', Buffer.from('no snappy at all')],
    ['nothing', Buffer.alloc(0)],
    ['a block that ends early', compress(Buffer.from('abcabcabcabc')).subarray(0, 4)],
    ['a length that leaves the batch', xerial(Buffer.from('first')).subarray(0, 19)],
    ['half a length', xerial(Buffer.from('first')).subarray(0, 18)],
  ] as const)
    it(`rejects ${what}`, async () => {
      const failure: unknown = await snappyCodec.decompress(bytes).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
    });
});
