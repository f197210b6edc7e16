import { expect } from 'chai';
import fc from 'fast-check';
import { logColumns } from '../../../bench/wire/columns.ts';
import { benchLogs } from '../../../bench/wire/logs.ts';
import { lz4Bound, lz4Compress, lz4Decompress, MAX_BLOCK, typescriptLz4, wasmLz4, type Lz4 } from '../../../pipeline/wasm/lz4.ts';
import { wasm } from '../../../pipeline/wasm/module.ts';
import { sampleLines } from '../../fixtures/inflate/sample.ts';
import { Random } from '../../fuzz/random.ts';
import { extent } from '../../extent.ts';

const MIB = 1_048_576;
if (wasm === undefined) throw new Error('The WebAssembly module is not built.');
const module = wasm;
const FORMS: Readonly<Record<string, Lz4>> = { wasm: wasmLz4(module), typescript: typescriptLz4() };
const { wasm: inWasm, typescript: inTypescript } = FORMS as { readonly wasm: Lz4; readonly typescript: Lz4 };
const random = new Random(13);
const noise = (size: number, of = 256): Uint8Array => Uint8Array.from({ length: size }, () => random.below(of));

/** A block of these bytes, written with room before it that must stay as it is. */
function blockOf(form: Lz4, bytes: Uint8Array): Uint8Array {
  const target = new Uint8Array(lz4Bound(bytes.length) + 3).fill(0xee);
  const source = Buffer.concat([Buffer.from('ab'), bytes, Buffer.from('c')]);
  const length = form.compress(source, 2, 2 + bytes.length, target, 3);
  expect([...target.subarray(0, 3)]).to.deep.equal([0xee, 0xee, 0xee]);
  return target.slice(3, 3 + length);
}

/** What a form makes of a block; null where it refuses. Nothing beyond the size may be written, whatever it says. */
function read(form: Lz4, block: Uint8Array, size: number): Buffer | null {
  const target = Buffer.alloc(size + 20, 0xee);
  const taken = form.decompress(Buffer.concat([Buffer.from('a'), block, Buffer.from('bc')]), 1, 1 + block.length, target, 5, size);
  expect(target.subarray(0, 5).equals(Buffer.alloc(5, 0xee))).to.equal(true);
  expect(target.subarray(5 + size).equals(Buffer.alloc(15, 0xee))).to.equal(true);
  return taken ? target.subarray(5, 5 + size) : null;
}

const INPUTS: readonly (readonly [string, Uint8Array])[] = [
  ['nothing', new Uint8Array(0)],
  ['a period of 1', new Uint8Array(100_000).fill(65)],
  ...[2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 255].map((period): readonly [string, Uint8Array] => [
    `a period of ${String(period)}`,
    Uint8Array.from({ length: 5000 + period }, (_, at) => (at % period) * 7),
  ]),
  ['noise', noise(70_000)],
  ['noise of four letters', noise(200_000, 4)],
  ['a repetition just within reach', Buffer.concat([noise(65_535), noise(0)])],
  ['lines of text', sampleLines(500)],
  ['columns of logs', logColumns(benchLogs(2000, 1_700_000_000_000))],
  ['1 MiB of zeros', new Uint8Array(MIB)],
  ['1 MiB of noise', noise(MIB)],
  ['the most noise that may be', noise(MAX_BLOCK)],
];

describe('lz4 blocks', () => {
  for (const [writer, by] of Object.entries(FORMS)) {
    for (const [reader, form] of Object.entries(FORMS)) {
      describe(`written in ${writer}, read in ${reader}`, () => {
        for (const [name, bytes] of INPUTS) {
          it(name, () => {
            const block = blockOf(by, bytes);
            expect(block.length).to.be.within(1, lz4Bound(bytes.length));
            expect(read(form, block, bytes.length)?.equals(bytes)).to.equal(true);
            if (bytes.length > 0) expect(read(form, block, bytes.length - 1)).to.equal(null);
            if (bytes.length < MAX_BLOCK) expect(read(form, block, bytes.length + 1)).to.equal(null);
          });
        }

        it('1 to 64 bytes', () => {
          for (let size = 1; size <= 64; size++)
            for (const bytes of [noise(size), noise(size, 2), new Uint8Array(size).fill(9)])
              expect(read(form, blockOf(by, bytes), size)?.equals(bytes), String(size)).to.equal(true);
        });

        it('any mixture of noise and of what came before', () => {
          const part = fc.oneof(
            fc.record({ fresh: fc.uint8Array({ maxLength: 400 }) }),
            fc.record({ back: fc.integer({ min: 1, max: 70_000 }), size: fc.integer({ min: 1, max: 3000 }) }),
          );
          fc.assert(
            fc.property(fc.array(part, { maxLength: 80 }), (parts) => {
              const bytes: number[] = [];
              for (const one of parts)
                if ('fresh' in one) bytes.push(...one.fresh);
                else
                  for (let left = bytes.length === 0 ? 0 : one.size; left > 0; left--)
                    bytes.push(bytes[Math.max(bytes.length - one.back, 0)]!);
              const plain = Uint8Array.from(bytes);
              return read(form, blockOf(by, plain), plain.length)?.equals(plain) === true;
            }),
          );
        });
      });
    }
  }

  for (const [name, form] of Object.entries(FORMS)) {
    describe(`in ${name}`, () => {
      it('the same bytes give the same block, whatever came before', () => {
        const bytes = sampleLines(200);
        const first = blockOf(form, bytes);
        blockOf(form, noise(MIB, 3));
        expect(Buffer.from(blockOf(form, bytes)).equals(first)).to.equal(true);
      });

      it('the last five bytes are literals, and no match begins in the last twelve', () => {
        for (let size = 13; size < 60; size++)
          expect(matchStarts(blockOf(form, new Uint8Array(size))).every((at) => at <= size - 12)).to.equal(true);
      });

      it('takes input in place', () => {
        const bytes = sampleLines(300);
        form.input.set(bytes);
        const length = form.compressInput(bytes.length);
        const block = form.output.slice(0, length);
        form.input.set(block);
        expect(form.decompressInput(length, bytes.length)).to.equal(true);
        expect(bytes.equals(form.output.subarray(0, bytes.length))).to.equal(true);
        expect(form.decompressInput(length, bytes.length + 1)).to.equal(false);
        expect(form.decompressInput(form.input.length + 1, 1)).to.equal(false);
        expect(form.decompressInput(1, MAX_BLOCK + 1)).to.equal(false);
      });

      it('throws where there is no room, and for more than a block holds', () => {
        const target = new Uint8Array(lz4Bound(100) - 1);
        expect(() => form.compress(noise(100), 0, 100, target, 0)).to.throw(RangeError);
        expect(() => form.compress(noise(100), 0, 101, new Uint8Array(1000), 0)).to.throw(RangeError);
        expect(() => form.compress(noise(MAX_BLOCK + 1), 0, MAX_BLOCK + 1, new Uint8Array(2 * MAX_BLOCK), 0)).to.throw(RangeError);
        expect(() => form.compressInput(MAX_BLOCK + 1)).to.throw(RangeError);
        expect(() => form.compressInput(-1)).to.throw(RangeError);
        expect(() => form.decompress(noise(10), 5, 11, new Uint8Array(10), 0, 10)).to.throw(RangeError);
        expect(() => form.decompress(noise(10), 0, 10, new Uint8Array(10), 5, 6)).to.throw(RangeError);
      });

      it('a bomb is refused at the size, and costs no more than that', () => {
        const bomb = Buffer.concat([Buffer.of(0x1f, 0x61, 1, 0), Buffer.alloc(100_000, 255), Buffer.of(0, 0x00)]);
        expect(read(form, bomb, 1000)).to.equal(null);
      });
    });
  }

  const damaged: readonly (readonly [string, readonly number[], number])[] = [
    ['nothing at all', [], 0],
    ['an empty sequence after the last literals', [0x10, 0x61, 0x00], 1],
    ['literals beyond the block', [0x50, 0x61], 5],
    ['a length that never ends', [0xf0, 255, 255], 525],
    ['a copy of nothing', [0x10, 0x61, 0, 0, 0x00], 5],
    ['a copy from before the beginning', [0x10, 0x61, 2, 0, 0x00], 5],
    ['half an offset', [0x10, 0x61, 1], 5],
    ['no last literals', [0x10, 0x61, 1, 0], 5],
    ['a copy whose length never ends', [0x1f, 0x61, 1, 0, 255], 275],
    ['a copy beyond the size', [0x1f, 0x61, 1, 0, 255, 255, 0, 0x00], 20],
  ];
  for (const [name, bytes, size] of damaged) {
    it(`refuses ${name}, in both forms`, () => {
      for (const form of [inWasm, inTypescript]) expect(read(form, Uint8Array.from(bytes), size)).to.equal(null);
    });
  }

  it('both forms say the same about damaged blocks', function () {
    this.timeout(60_000);
    const plain = sampleLines(60);
    const blocks = [blockOf(inWasm, plain), blockOf(inTypescript, plain), blockOf(inWasm, noise(3000, 3))];
    const change = fc.tuple(fc.nat(5000), fc.constantFrom(0, 1, 15, 16, 31, 127, 240, 254, 255));
    fc.assert(
      fc.property(
        fc.constantFrom(...blocks),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.nat(40),
        fc.integer({ min: -40, max: 400 }),
        (block, changes, cut, more) => {
          const bytes = block.slice(0, block.length - cut);
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          const size = Math.max(0, plain.length + more);
          const [one, other] = [read(inWasm, bytes, size), read(inTypescript, bytes, size)];
          return one === null ? other === null : other?.equals(one) === true;
        },
      ),
      { numRuns: extent(1000, 3000) },
    );
  });

  it("memory outside of the module's input and output stays as it is, whatever a block says", () => {
    const memory = new Uint8Array(module.memory.buffer);
    const outside = (): Buffer =>
      Buffer.concat([memory.subarray(0, module.INPUT.value), memory.subarray(module.OUTPUT.value + MAX_BLOCK + 64)]);
    const before = outside();
    for (let run = 0; run < 2000; run++) {
      const bytes = noise(1 + random.below(60));
      inWasm.input.set(bytes);
      inWasm.decompressInput(bytes.length, random.below(2) === 0 ? MAX_BLOCK : random.below(500));
    }
    expect(outside().equals(before)).to.equal(true);
  });

  it("the module's memory does not grow", () => expect(() => module.memory.grow(1)).to.throw(RangeError));

  it('the process takes WebAssembly where it is built', () => {
    const bytes = sampleLines(50);
    const target = new Uint8Array(lz4Bound(bytes.length));
    const length = lz4Compress(bytes, 0, bytes.length, target, 0);
    expect(target.subarray(0, length)).to.deep.equal(blockOf(inWasm, bytes));
    const back = new Uint8Array(bytes.length);
    expect(lz4Decompress(target, 0, length, back, 0, bytes.length)).to.equal(true);
    expect(bytes.equals(back)).to.equal(true);
  });
});

/** Where in the plain bytes the matches of a block begin. */
function matchStarts(block: Uint8Array): number[] {
  const starts: number[] = [];
  let [at, plain] = [0, 0];
  const rest = (nibble: number): number => {
    let length = nibble;
    if (nibble === 15) for (let byte = 255; byte === 255; length += byte) byte = block[at++]!;
    return length;
  };
  for (;;) {
    const token = block[at++]!;
    const literals = rest(token >> 4);
    at += literals;
    plain += literals;
    if (at >= block.length) {
      expect(literals).to.be.at.least(5);
      return starts;
    }
    starts.push(plain);
    at += 2;
    plain += rest(token & 15) + 4;
  }
}
