import { expect } from 'chai';
import fc from 'fast-check';
import { StringColumn } from '../../../pipeline/rows/string-column.ts';
import { WordTable } from '../../../pipeline/rows/words.ts';
import { extent } from '../../extent.ts';

/** What a column has after a string was added to it, which begins small. */
function added(add: (column: StringColumn) => unknown): { readonly bytes: Buffer; readonly last: string } {
  const column = new StringColumn(1);
  column.text('before');
  add(column);
  return { bytes: column.bytes.subarray(0, column.length), last: column.bytes.toString('utf8', column.lastStart, column.length) };
}

describe('a column of strings', () => {
  it('takes whole numbers as their digits', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(), fc.constantFrom(0, 9, 10, 99, 100, 2 ** 28 - 1, 999_999_999_999_999)), (number) => {
        expect(added((column) => column.digits(number))).to.deep.equal(added((column) => column.text(String(number))));
      }),
    );
  });

  it('takes ASCII as it is, and nothing else so', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 127 }), fc.string({ unit: 'binary', maxLength: 30 })), (text) => {
        const bytes = Buffer.from(`(${text})`);
        const to = bytes.length - 1;
        let isTaken: unknown;
        const own = added((column) => (isTaken = column.ascii(bytes, 1, to)));
        expect(isTaken).to.equal(/^[\0-\x7f]*$/.test(text));
        if (isTaken === true) expect(own).to.deep.equal(added((column) => column.text(text)));
        else expect(own.bytes.toString()).to.equal('\x06before');
      }),
    );
  });

  it('takes all strings of another one', () => {
    const other = new StringColumn(4);
    for (const text of ['a', '', 'ü'.repeat(100)]) other.text(text);
    expect(added((column) => column.appendAll(other)).bytes.toString()).to.equal(
      `\x06before${other.bytes.toString('utf8', 0, other.length)}`,
    );
  });
});

describe('a table of words', () => {
  it('gives lists the same words by what followed before as by looking each up, over the beginning of an epoch', () => {
    const lists = fc.array(fc.array(fc.oneof(fc.constantFrom('a', 'b', 'ab', 'ü'), fc.string({ maxLength: 3 })), { maxLength: 6 }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(lists, fc.nat(40), (all, again) => {
        const [table, other] = [new WordTable(), new WordTable()];
        all.forEach((list, index) => {
          // so many words that it begins again
          if (index === again) for (const one of [table, other]) for (let word = 0; word < 20_001; word++) one.of(Buffer.from(`w${String(word)}`), 0, String(word).length + 1, () => ''); // prettier-ignore
          table.begin();
          for (const text of list) {
            const bytes = Buffer.from(`<${text}>`);
            const word = table.follow(bytes, 1, bytes.length - 1);
            expect(Buffer.from(word.native).toString().slice(1)).to.equal(text);
            expect([word.id, table.ids.epoch]).to.deep.equal([other.of(bytes, 1, bytes.length - 1, () => text).id, other.ids.epoch]);
          }
        });
      }),
      { numRuns: extent(12, 30) },
    );
  });
});
