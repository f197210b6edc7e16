import { expect } from 'chai';
import fc from 'fast-check';
import { nativeString } from '../../../pipeline/rows/native.ts';
import { StringView } from '../../../pipeline/rows/string-view.ts';

const text = fc.oneof(
  fc.string({ maxLength: 10 }),
  fc.constantFrom(0, 1, 127, 128, 129, 16_383, 16_384, 20_000).map((length) => 'x'.repeat(length)),
);

const textsOf = (view: StringView, bytes: Buffer): string[] => {
  const { starts, ends, count } = view;
  return Array.from({ length: count }, (_, i) => bytes.toString('utf8', starts[i], ends[i]));
};

describe('StringView', () => {
  const view = new StringView();

  it('finds each string, wherever they begin, and where they end', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), fc.nat(5), fc.nat(5), (texts, before, after) => {
        const strings = Buffer.concat(texts.map(nativeString));
        const bytes = Buffer.concat([Buffer.alloc(before, 255), strings, Buffer.alloc(after, 255)]);
        expect(view.read(bytes, before, texts.length)).to.equal(true);
        expect(textsOf(view, bytes)).to.deep.equal(texts);
        expect([view.from, view.to]).to.deep.equal([before, before + strings.length]);
      }),
    );
  });

  it('has none where one of them is cut off, or its length is', () => {
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 5 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (texts, part) => {
          const bytes = Buffer.concat(texts.map(nativeString));
          const cut = bytes.subarray(0, Math.floor(part * bytes.length));
          expect(view.read(cut, 0, texts.length)).to.equal(false);
          expect(textsOf(view, cut)).to.deep.equal([]);
        },
      ),
    );
  });

  it('takes no length that is longer than 32 bits can be', () => {
    for (const length of [5, 6, 9, 20]) {
      const bytes = Buffer.concat([Buffer.alloc(length, 128), Buffer.from([0])]);
      expect(view.read(bytes, 0, 1), String(length)).to.equal(false);
    }
    expect(view.read(Buffer.from([128, 128, 128, 128, 0]), 0, 1)).to.equal(true);
  });

  it('reads few after very many', () => {
    expect(view.read(Buffer.alloc(300_000), 0, 300_000)).to.equal(true);
    expect(view.ends[299_999]).to.equal(300_000);
    const bytes = Buffer.from([1, 65]);
    expect(view.read(bytes, 0, 1)).to.equal(true);
    expect(textsOf(view, bytes)).to.deep.equal(['A']);
    expect(view.starts.length).to.be.below(300_000);
  });
});
