import { expect } from 'chai';
import fc from 'fast-check';
import { compress } from 'snappyjs';
import { crc32c } from '../../../pipeline/compression/crc32c.ts';
import { HttpError, httpErrorOf } from '../../../pipeline/core/errors.ts';
import { inflateSnappy } from '../../../pipeline/compression/snappy.ts';
import { refusalOf, tooLarge } from '../../fakes/refusal.ts';
import { sampleLines } from '../../fixtures/inflate/sample.ts';

const ok = (bytes: Buffer, cap = 1_000_000): Buffer => inflateSnappy(bytes, cap, tooLarge);

const refused = (bytes: Buffer, cap = 1_000_000): HttpError => refusalOf(() => ok(bytes, cap));

const IDENTIFIER = Buffer.from('ff060000734e61507059', 'hex');

function chunk(type: number, content: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(content.length * 256 + type);
  return Buffer.concat([head, content]);
}

function data(text: Buffer, compressed = true, crcError = 0): Buffer {
  const crc = crc32c(text) ^ crcError;
  const masked = Buffer.alloc(4);
  masked.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
  return chunk(compressed ? 0 : 1, Buffer.concat([masked, compressed ? compress(text) : text]));
}

describe('crc32c', () => {
  const rows: readonly (readonly [string | Buffer, number])[] = [
    ['', 0],
    ['a', 0xc1d04330],
    ['123456789', 0xe3069283],
    [Buffer.alloc(32), 0x8a9136aa],
    [Buffer.alloc(32, 0xff), 0x62a8ab43],
  ];
  for (const [text, crc] of rows)
    it(`${JSON.stringify(text).slice(0, 20)}: ${crc.toString(16)}`, () => expect(crc32c(Buffer.from(text as string))).to.equal(crc));
});

describe('inflate snappy block', () => {
  const text = sampleLines(200);

  it('what snappyjs writes', () => {
    expect(ok(compress(text)).equals(text)).to.equal(true);
    expect(ok(compress(Buffer.alloc(0))).length).to.equal(0);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(5), (bytes, times) => {
        const repeated = Buffer.concat(new Array<Uint8Array>(times + 1).fill(bytes));
        expect(ok(compress(repeated)).equals(repeated)).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });
  it('all three kinds of copies, overlapping too', () => {
    const literal = Buffer.from([9, 1 << 2, 0x61, 0x62]);
    expect(ok(Buffer.concat([literal, Buffer.from([1 | (3 << 2), 2])])).toString()).to.equal('ababababa');
    expect(ok(Buffer.concat([literal, Buffer.from([2 | (6 << 2), 2, 0])])).toString()).to.equal('ababababa');
    expect(ok(Buffer.concat([literal, Buffer.from([3 | (6 << 2), 2, 0, 0, 0])])).toString()).to.equal('ababababa');
  });
  it('long literals with 1, 2, 3 and 4 bytes of length', () => {
    for (const [extra, size] of [
      [1, 61],
      [1, 256],
      [2, 300],
      [3, 70_000],
      [4, 70_000],
    ] as const) {
      const head = Buffer.alloc(extra);
      head.writeUIntLE(size - 1, 0, extra);
      const length = Buffer.from([(size & 127) | 128, ((size >> 7) & 127) | 128, size >> 14]);
      expect(
        ok(Buffer.concat([length, Buffer.from([(59 + extra) << 2]), head, text.subarray(0, 1), Buffer.alloc(size - 1, 65)])).length,
      ).to.equal(size);
    }
  });

  const corruptions: readonly (readonly [string, readonly number[]])[] = [
    ['nothing', []],
    ['a length that does not end', [0x80, 0x80]],
    ['a length of six bytes', [0x80, 0x80, 0x80, 0x80, 0x80, 0x01]],
    ['a length of 35 bits', [0xff, 0xff, 0xff, 0xff, 0x7f]],
    ['no data', [5]],
    ['ends before its length', [5, 0, 0x41]],
    ['a literal past the input', [5, 4 << 2, 0x41]],
    ['a literal past the output', [1, 1 << 2, 0x41, 0x42]],
    ['a literal of negative length (snappyjs loops for ever)', [10, 63 << 2, 0xfa, 0xff, 0xff, 0xff, 0, 0, 0, 0]],
    ['a literal of 4 GiB', [10, 63 << 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]],
    ['a literal whose length is cut', [70, 60 << 2]],
    ['a copy of offset 0', [5, 0, 0x41, 1, 0]],
    ['a copy before the begin', [5, 0, 0x41, 1, 2]],
    ['a copy past the output', [3, 0, 0x41, 1 | (7 << 2), 1]],
    ['a copy whose offset is cut', [5, 0, 0x41, 2, 1]],
    ['something after its length is reached', [1, 0, 0x41, 0, 0x42]],
  ];
  for (const [name, bytes] of corruptions)
    it(`${name}: 400`, () => expect(refused(Buffer.from(bytes))).to.include({ status: 400, slug: 'invalid_body' }));

  it('refuses a claim above the cap before allocating for it', () => {
    expect(refused(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0x41]), 2_097_152)).to.include({
      status: 413,
      message: 'false 4294967295',
    });
    expect(refused(compress(text), text.length - 1)).to.include({ status: 413 });
    expect(ok(compress(text), text.length).length).to.equal(text.length);
  });
  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          ok(Buffer.from(bytes), 10_000);
        } catch (error) {
          expect(httpErrorOf(error)).to.be.instanceOf(HttpError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

/** One element of a block: bytes as they are, or a copy of what is there. */
type Element = { readonly literal: Uint8Array } | { readonly offset: number; readonly size: number; readonly wide: boolean };

/** Elements as a block, and what they say, byte by byte. */
function blockOf(elements: readonly Element[]): { block: Buffer; text: Buffer } {
  const text: number[] = [];
  const parts: Buffer[] = [];
  for (const element of elements) {
    if ('literal' in element) {
      const size = element.literal.length;
      const tag = size <= 60 ? [(size - 1) << 2] : size <= 256 ? [60 << 2, size - 1] : [61 << 2, (size - 1) & 0xff, (size - 1) >> 8];
      parts.push(Buffer.from([...tag, ...element.literal]));
      text.push(...element.literal);
    } else if (text.length > 0) {
      const offset = (element.offset % text.length) + 1;
      const tag = [((element.size - 1) << 2) | (element.wide ? 3 : 2), offset & 0xff, offset >> 8];
      parts.push(Buffer.from(element.wide ? [...tag, 0, 0] : tag));
      for (let i = 0; i < element.size; i++) text.push(text[text.length - offset] ?? 0);
    }
  }
  const length: number[] = [];
  for (let left = text.length; length.length === 0 || left > 0; left >>>= 7) length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
  return { block: Buffer.concat([Buffer.from(length), ...parts]), text: Buffer.from(text) };
}

describe('inflate any snappy block', () => {
  const literal = fc.record({
    literal: fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.uint8Array({ minLength: 55, maxLength: 300 })),
  });
  const copy = fc.record({ offset: fc.oneof(fc.nat(9), fc.nat(65_534)), size: fc.integer({ min: 1, max: 64 }), wide: fc.boolean() });
  const elements = fc.array(fc.oneof(literal, { weight: 3, arbitrary: copy }), { maxLength: 60 });

  it('reads literals of any length and copies that reach into themselves', () => {
    fc.assert(
      fc.property(elements, (list) => {
        const { block, text } = blockOf(list);
        expect(ok(block).equals(text)).to.equal(true);
      }),
    );
  });

  it('reads a part of a larger buffer, and touches nothing around what it gives', () => {
    const { block, text } = blockOf([{ literal: Buffer.from('abcde') }, { offset: 2, size: 7, wide: false }]);
    const around = Buffer.concat([Buffer.alloc(3, 1), block, Buffer.alloc(9, 2)]);
    expect(ok(around.subarray(3, 3 + block.length)).equals(text)).to.equal(true);
  });

  it('takes or refuses a damaged one, and throws nothing else', () => {
    fc.assert(
      fc.property(elements, fc.nat(), fc.nat(255), (list, at, value) => {
        const { block } = blockOf(list);
        block[at % block.length] = value;
        try {
          ok(block);
        } catch (error) {
          expect(httpErrorOf(error)).to.be.instanceOf(HttpError);
        }
      }),
    );
  });
});

describe('inflate snappy frames', () => {
  const [a, b] = [sampleLines(30), sampleLines(100)];

  it('compressed, plain, padding, skippable chunks and a second stream', () => {
    const bytes = Buffer.concat([
      IDENTIFIER,
      data(a),
      data(b, false),
      chunk(0xfe, Buffer.alloc(7)),
      chunk(0x80, Buffer.from('skip')),
      IDENTIFIER,
      data(a),
    ]);
    expect(ok(bytes).equals(Buffer.concat([a, b, a]))).to.equal(true);
  });
  it('nothing but the identifier', () => expect(ok(IDENTIFIER).length).to.equal(0));

  const corruptions: readonly (readonly [string, Buffer])[] = [
    ['a wrong checksum', Buffer.concat([IDENTIFIER, data(a, true, 1)])],
    ['a wrong checksum of a plain chunk', Buffer.concat([IDENTIFIER, data(a, false, 1)])],
    ['cut inside a chunk', Buffer.concat([IDENTIFIER, data(a)]).subarray(0, -1)],
    ['cut inside the header of a chunk', Buffer.concat([IDENTIFIER, data(a), Buffer.from([0, 1])])],
    ['a chunk without a checksum', Buffer.concat([IDENTIFIER, chunk(0, Buffer.from('abc'))])],
    ['a reserved chunk', Buffer.concat([IDENTIFIER, chunk(0x02, Buffer.from('abc'))])],
    ['a wrong identifier later', Buffer.concat([IDENTIFIER, chunk(0xff, Buffer.from('sNaPpX'))])],
    ['a plain chunk above 64 KiB', Buffer.concat([IDENTIFIER, data(Buffer.alloc(65_537), false)])],
    ['a compressed chunk above 64 KiB', Buffer.concat([IDENTIFIER, data(Buffer.alloc(65_537))])],
    ['garbage after the end', Buffer.concat([IDENTIFIER, data(a), Buffer.from('garbage')])],
  ];
  for (const [name, bytes] of corruptions)
    it(`${name}: 400`, () => expect(refused(bytes)).to.include({ status: 400, slug: 'invalid_body' }));

  it('stops at the cap', () => {
    const bomb = Buffer.concat([IDENTIFIER, ...new Array<Buffer>(100).fill(data(Buffer.alloc(65_536)))]);
    expect(refused(bomb, 2_097_152)).to.include({ status: 413, message: 'true 2097152' });
    expect(ok(Buffer.concat([IDENTIFIER, data(a)]), a.length).length).to.equal(a.length);
  });
});
