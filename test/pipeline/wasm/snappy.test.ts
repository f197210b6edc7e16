import { expect } from 'chai';
import fc from 'fast-check';
import { compress } from 'snappyjs';
import { CorruptBytes } from '../../../pipeline/core/corrupt-bytes.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { inflateSnappy as typescriptInflate } from '../../../pipeline/compression/snappy.ts';
import { wasm } from '../../../pipeline/wasm/module.ts';
import { inflateSnappy, wasmSnappy } from '../../../pipeline/wasm/snappy.ts';
import { extent } from '../../extent.ts';
import { sampleLines } from '../../fixtures/inflate/sample.ts';
import { tooLarge } from '../../fakes/refusal.ts';
import { mutate } from '../../fuzz/mutate.ts';
import { Random } from '../../fuzz/random.ts';

if (wasm === undefined) throw new Error('The WebAssembly module is not built.');
const module = wasm;
const inWasm = wasmSnappy(module);
const CAP = 4_000_000;

/** What a form makes of a block: its bytes, or why it refuses them. */
function taken(form: typeof inWasm, block: Buffer, cap = CAP): string {
  try {
    return form(block, cap, tooLarge).toString('base64');
  } catch (error) {
    if (error instanceof HttpError || error instanceof CorruptBytes) return `refused: ${error.message}`;
    throw error;
  }
}

const text = sampleLines(400);
const INPUTS: readonly (readonly [string, Uint8Array])[] = [
  ['nothing', new Uint8Array(0)],
  ['a byte', new Uint8Array(1)],
  ...[1, 2, 3, 7, 8, 15, 16, 17, 255].map((period): readonly [string, Uint8Array] => [
    `a period of ${String(period)}`,
    Uint8Array.from({ length: 5000 + period }, (_none, at) => (at % period) * 7),
  ]),
  ['lines', text],
  ['more than the memory of the module holds', Buffer.alloc(module.ROOM.value + 1, 'abc')],
  ['exactly as much', Buffer.alloc(module.ROOM.value, 'abcde')],
];

describe('snappy in WebAssembly', () => {
  it('is what this process uses', () => {
    const block = Buffer.from(compress(text));
    expect(inflateSnappy(block, CAP, tooLarge).equals(text)).to.equal(true);
  });

  for (const [name, bytes] of INPUTS)
    it(`reads ${name}`, () => {
      expect(inWasm(Buffer.from(compress(Buffer.from(bytes))), CAP, tooLarge).equals(bytes)).to.equal(true);
    });

  it('reads and refuses what the form in TypeScript does, with the same words', () => {
    const random = new Random(11);
    for (let round = 0; round < extent(1000, 100_000); round++) {
      const of = Buffer.from(text.subarray(0, random.below(3000)));
      const block = Buffer.from(mutate(Buffer.from(compress(of)), of, random));
      expect(taken(inWasm, block), block.toString('hex')).to.equal(taken(typescriptInflate, block));
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(taken(inWasm, Buffer.from(bytes), 10_000)).to.equal(taken(typescriptInflate, Buffer.from(bytes), 10_000));
      }),
      { numRuns: extent(500, 20_000) },
    );
  });

  it('refuses a claim above the cap', () => {
    const block = Buffer.from(compress(text));
    expect(taken(inWasm, block, text.length - 1)).to.equal(taken(typescriptInflate, block, text.length - 1));
  });
});
