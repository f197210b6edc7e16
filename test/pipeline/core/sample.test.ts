import { expect } from 'chai';
import fc from 'fast-check';
import { SAMPLE_BYTES, sampleOf } from '../../../pipeline/core/sample.ts';

describe('samples of entries', () => {
  const rows: readonly (readonly [string, Buffer, string])[] = [
    ['nothing', Buffer.alloc(0), ''],
    ['a short one', Buffer.from('abc'), 'abc'],
    ['exactly as long as may be', Buffer.from('a'.repeat(200)), 'a'.repeat(200)],
    ['one byte longer', Buffer.from('a'.repeat(201)), 'a'.repeat(200)],
    ['cut before a character of two bytes', Buffer.from(`${'a'.repeat(199)}éb`), 'a'.repeat(199)],
    ['cut before a character of four bytes', Buffer.from(`${'a'.repeat(197)}😀b`), 'a'.repeat(197)],
    ['a character that just fits', Buffer.from(`${'a'.repeat(196)}😀b`), `${'a'.repeat(196)}😀`],
    ['no UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\uFFFDb'],
    ['control characters', Buffer.from('a\u0000\u001b[2J\n'), 'a\u0000\u001b[2J\n'],
  ];
  for (const [name, source, sample] of rows) it(name, () => expect(sampleOf(source)).to.equal(sample));

  it('a part of a buffer', () => {
    expect(sampleOf(Buffer.from('0123456789'), 3, 6)).to.equal('345');
  });
  it('bytes that only go on and never begin a character are not walked back to the start', () => {
    expect(sampleOf(Buffer.alloc(1000, 0x80))).to.have.lengthOf(SAMPLE_BYTES - 3);
  });
  it('of a text, its own beginning: never half a character, at most 200 bytes and at least 197 where there are more', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const well = text.toWellFormed();
        const sample = sampleOf(Buffer.from(well));
        const bytes = Buffer.byteLength(sample);
        expect(well.startsWith(sample)).to.equal(true);
        expect(bytes).to.be.at.most(SAMPLE_BYTES);
        expect(bytes).to.be.at.least(Math.min(Buffer.byteLength(well), SAMPLE_BYTES - 3));
      }),
    );
  });
});
