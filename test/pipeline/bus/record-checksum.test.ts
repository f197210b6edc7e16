import { expect } from 'chai';
import fc from 'fast-check';
import { createRequire } from 'node:module';
import { kafkajs } from '../../../pipeline/bus/kafkajs.ts';
import { crc32c } from '../../../pipeline/wasm/crc32c.ts';

const require = createRequire(import.meta.url);

describe("the checksum of kafkajs' batches", () => {
  it('is ours', () => {
    expect(kafkajs.Kafka).to.be.a('function');
    // by its text: other tests load modules of ours anew
    const used = require('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number;
    expect(used.toString()).to.equal(crc32c.toString());
  });

  it('is what kafkajs computes itself', () => {
    const own = require('kafkajs/src/protocol/recordBatch/crc32C/crc32C.js') as (bytes: Buffer) => number;
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
        expect(crc32c(bytes)).to.equal(own(Buffer.from(bytes)));
      }),
    );
  });
});
