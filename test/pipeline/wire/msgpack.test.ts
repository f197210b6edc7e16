import { expect } from 'chai';
import fc from 'fast-check';
import { head, numberText, readHead, skipPacked } from '../../../pipeline/wire/msgpack.ts';
import { pack } from '../normalizers/pack.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('MessagePack tokens', () => {
  // the formats of the specification, each with what its head says
  const heads: [string, typeof head.kind, number, number][] = [
    ['00', 'int', 1, 0],
    ['7f', 'int', 1, 0],
    ['e0', 'int', 1, 0],
    ['ff', 'int', 1, 0],
    ['82', 'map', 1, 2],
    ['9f', 'array', 1, 15],
    ['a3 616263', 'str', 1, 3],
    ['c0', 'nil', 1, 0],
    ['c2', 'bool', 1, 0],
    ['c3', 'bool', 1, 0],
    ['c4 02 0000', 'bin', 2, 2],
    ['c5 0002 0000', 'bin', 3, 2],
    ['c6 00000002 0000', 'bin', 5, 2],
    ['c7 03 05 000000', 'ext', 3, 3],
    ['c8 0003 05 000000', 'ext', 4, 3],
    ['c9 00000003 05 000000', 'ext', 6, 3],
    ['ca 3fc00000', 'float', 5, 0],
    ['cb 3ff8000000000000', 'float', 9, 0],
    ['cc ff', 'int', 2, 0],
    ['cd ffff', 'int', 3, 0],
    ['ce ffffffff', 'int', 5, 0],
    ['cf ffffffffffffffff', 'int', 9, 0],
    ['d0 80', 'int', 2, 0],
    ['d1 8000', 'int', 3, 0],
    ['d2 80000000', 'int', 5, 0],
    ['d3 8000000000000000', 'int', 9, 0],
    ['d4 05 00', 'ext', 2, 1],
    ['d5 05 0000', 'ext', 2, 2],
    ['d6 05 00000000', 'ext', 2, 4],
    ['d7 05 0000000000000000', 'ext', 2, 8],
    ['d8 05 00000000000000000000000000000000', 'ext', 2, 16],
    ['d9 01 61', 'str', 2, 1],
    ['da 0001 61', 'str', 3, 1],
    ['db 00000001 61', 'str', 5, 1],
    ['dc 0000', 'array', 3, 0],
    ['dd 00000000', 'array', 5, 0],
    ['de 0000', 'map', 3, 0],
    ['df 00000000', 'map', 5, 0],
  ];
  for (const [text, kind, start, size] of heads) {
    it(`reads ${text}`, () => {
      const bytes = hex(text);
      expect(readHead(bytes, 0, bytes.length)).to.equal(true);
      expect({ ...head, type: 0 }).to.deep.equal({ kind, start, size, type: 0 });
      if (kind === 'ext') expect(head.type).to.equal(5);
      if (size === 0 || (kind !== 'map' && kind !== 'array')) expect(skipPacked(bytes, 0, bytes.length)).to.equal(bytes.length);
      for (let cut = 0; cut < bytes.length; cut++) expect(skipPacked(bytes, 0, cut), `cut at ${String(cut)}`).to.equal(-1);
    });
  }

  const numbers: [string, string][] = [
    ['7f', '127'],
    ['e0', '-32'],
    ['cc ff', '255'],
    ['cd ffff', '65535'],
    ['ce ffffffff', '4294967295'],
    ['cf ffffffffffffffff', '18446744073709551615'],
    ['d0 80', '-128'],
    ['d1 8000', '-32768'],
    ['d2 80000000', '-2147483648'],
    ['d3 8000000000000000', '-9223372036854775808'],
    ['ca 3fc00000', '1.5'],
    ['cb 3ff8000000000000', '1.5'],
    ['cb 7ff0000000000000', 'Infinity'],
    ['cb 7ff8000000000000', 'NaN'],
  ];
  for (const [text, expected] of numbers) it(`reads ${text} as ${expected}`, () => expect(numberText(hex(text), 0)).to.equal(expected));

  it('skips any value as a whole', () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, false),
        fc.double(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
        fc.string({ unit: 'binary' }),
        fc.array(tie('value'), { maxLength: 20 }),
        fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 20 }).map((members) => new Map(members)),
      ),
    }));
    fc.assert(
      fc.property(value, (any) => {
        const bytes = pack(any as never);
        expect(skipPacked(bytes, 0, bytes.length)).to.equal(bytes.length);
        expect(skipPacked(bytes, 0, bytes.length - 1)).to.equal(-1);
      }),
    );
  });
  it('refuses counts that the bytes cannot hold, and the one byte that is never used', () => {
    for (const text of ['c1', 'dd ffffffff 00', 'df 00000002 00 00 00', '91 91 91', 'db ffffffff', ''])
      expect(skipPacked(hex(text), 0, hex(text).length), text).to.equal(-1);
  });
});
