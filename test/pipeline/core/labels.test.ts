import { expect } from 'chai';
import fc from 'fast-check';
import { isStream, parseStream, renderStream } from '../../../pipeline/core/labels.ts';

const reads = (text: string): boolean => {
  try {
    parseStream(text);
    return true;
  } catch {
    return false;
  }
};

const agrees = (text: string): void => {
  const bytes = Buffer.from(`xx${text}yy`);
  expect(isStream(bytes, 2, bytes.length - 2), text).to.equal(reads(text));
};

describe('the text of a label set', () => {
  for (const text of [
    ...['{}', '{', '}', '', '{}}', '{a="b"}', '{a="b",}', '{,}', '{a="b",,c="d"}', '{a="b" ,c="d"}', '{a=b}', '{="b"}', '{a="b}', '{a="}'],
    ...[
      '{"a b"="c"}',
      '{a="\\""}',
      '{a="\\q"}',
      '{a="x\ny"}',
      '{é="é"}',
      '{a\u00a0b="c"}',
      '{a="b"}x',
      'x{a="b"}',
      '{a="b"c="d"}',
      '{a="}"}',
    ],
  ])
    it(`is told from what is none: ${JSON.stringify(text)}`, () => {
      agrees(text);
    });

  it('is told from what is none, whatever is drawn', () => {
    const piece = fc.constantFrom('{', '}', '=', ',', '"', '\\', ' ', 'a', 'b="c"', ',d="e"', '\n', 'é', '"x y"="z"');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        agrees(pieces.join(''));
        agrees(`{${pieces.join('')}}`);
      }),
      { numRuns: 3000 },
    );
  });

  it('is what it was written of, whatever names and values', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }))), (labels) => {
        const text = renderStream(new Map(labels));
        expect(parseStream(text)).to.deep.equal(new Map([...new Map(labels)].sort(([a], [b]) => (a < b ? -1 : 1))));
        agrees(text);
      }),
    );
  });
});
