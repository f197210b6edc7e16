import { expect } from 'chai';
import fc from 'fast-check';
import { createRequire } from 'node:module';
import { kafkajs } from '../../../../pipeline/bus/connection/kafkajs.ts';
import { crc32c } from '../../../../pipeline/wasm/crc32c.ts';

const require = createRequire(import.meta.url);

describe("the checksum of kafkajs' batches", () => {
  it('is not the one of kafkajs', () => {
    expect(kafkajs.Kafka).to.be.a('function');
    const file = require.resolve('kafkajs/src/protocol/recordBatch/crc32C');
    const used = require(file) as (bytes: Buffer) => number;
    const loaded = require.cache[file];
    Reflect.deleteProperty(require.cache, file);
    const own = require(file) as (bytes: Buffer) => number;
    require.cache[file] = loaded;
    // by its text: other tests load modules anew
    expect(used.toString()).not.to.equal(own.toString());
    expect(used(Buffer.from('123456789'))).to.equal(0xe3069283);
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
