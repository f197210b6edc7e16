import { expect } from 'chai';
import fc from 'fast-check';
import { crc32c as typescriptCrc32c } from '../../../pipeline/compression/crc32c.ts';
import { crc32c } from '../../../pipeline/wasm/crc32c.ts';
import { MAX_BLOCK } from '../../../pipeline/wasm/lz4.ts';

describe('crc32c in WebAssembly', () => {
  it('has the check value of CRC-32C', () => expect(crc32c(Buffer.from('123456789'))).to.equal(0xe3069283));

  it('is that of the TypeScript form for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => crc32c(bytes) === typescriptCrc32c(bytes)));
  });

  it('takes more than its input holds', () => {
    const bytes = Uint8Array.from({ length: 3 * MAX_BLOCK + 7 }, (_, at) => (at * 31) >>> 3);
    expect(crc32c(bytes)).to.equal(typescriptCrc32c(bytes));
  });
});
