import { expect } from 'chai';
import fc from 'fast-check';
import { createVolume } from '../../../../pipeline/processors/volume/volume.ts';
import { extent } from '../../../extent.ts';
import { batchOf, type PlainEntry } from '../../../fakes/volume-rows.ts';

const volume = createVolume();

function snapshotOf(streams: number, levels = ['info', 'error']): Buffer {
  const state = volume.init();
  const entries = Array.from(
    { length: streams },
    (_, n): PlainEntry => ({ time: 1_795_000_000_000_000_000n, stream: BigInt(n) * 0x9e3779b97f4a7c15n % 2n ** 64n, level: levels[n % levels.length] ?? '' }), // prettier-ignore
  );
  volume.fold(state, batchOf(entries, { offset: 5, appendedAt: 1_795_000_000_123 }));
  return volume.snapshot(state);
}

/** What becomes of bytes: nothing, or a state that is written as the same bytes. */
function isSafe(bytes: Buffer): boolean {
  const state = volume.restore(bytes);
  if (state === null) return true;
  // a length may be spelled with more bytes than it needs
  return volume.restore(volume.snapshot(state)) !== null;
}

describe('a snapshot of the volume', () => {
  it('takes some twenty bytes a group', () => {
    const groups = 3 * (10_000 + 2);
    expect(snapshotOf(10_000).length / groups).to.be.within(10, 22);
  });

  it('is empty before the first record, and can be read', () => {
    expect(volume.snapshot(volume.init())).to.have.length(9);
    expect(volume.restore(volume.snapshot(volume.init()))).to.deep.equal(volume.init());
  });

  it('is not read where it is cut off, longer, or of another version', () => {
    const whole = snapshotOf(20);
    for (let length = 0; length < whole.length; length++) expect(volume.restore(whole.subarray(0, length))).to.equal(null);
    expect(volume.restore(Buffer.concat([whole, Buffer.from([0])]))).to.equal(null);
    const other = Buffer.from(whole);
    other[0] = 1;
    expect(volume.restore(other)).to.equal(null);
    for (const bytes of ['', '{}', '\u0001', '\u0001\u0001\u0001\u0001']) expect(volume.restore(Buffer.from(bytes))).to.equal(null);
  });

  it('is not read where it says a group or a level twice, or a group without entries', () => {
    const [open, closed] = [Buffer.from([3, 6, 0, 0, 0, 0, 1, 5, 9]), Buffer.from([0, 0])];
    const read = (...rest: number[]): boolean => restored(0, 0, ...rest);
    const restored = (...rest: number[]): boolean => volume.restore(Buffer.concat([open, Buffer.from(rest), closed])) !== null;
    expect(restored(1, 2, 0, 1, 0, 1, 1, 30, 4, 0, 1, 1), 'a tenant without single streams').to.equal(true);
    expect(restored(2, 2, 2, 0, 1, 0, 1, 1, 30, 4, 0, 1, 1), 'a tenant twice').to.equal(false);
    // tenants that are not counted: their number, then tenant, first and last time, class
    expect(restored(0, 1, 7, 4, 6, 30, 0, 0), 'a tenant that is not counted, alone').to.equal(true);
    expect(restored(0, 1, 7, 4, 6, 30, 1, 0, 1, 1, 30, 4, 0, 1, 1), 'beside another one').to.equal(true);
    expect(restored(0, 1, 1, 4, 6, 30, 1, 0, 1, 1, 30, 4, 0, 1, 1), 'and counted').to.equal(false);
    expect(restored(0, 2, 7, 4, 6, 30, 7, 4, 6, 30, 0, 0), 'twice').to.equal(false);
    expect(restored(0, 1, 7, 6, 4, 30, 0, 0), 'last before first').to.equal(false);
    expect(restored(0, 1, 0, 4, 6, 30, 0, 0), 'nobody').to.equal(false);
    // levels: their number, their texts; groups: their number, then tenant, kind, time, level, entries, bytes
    expect(read(1, 0, 1, 1, 30, 4, 0, 1, 1)).to.equal(true);
    expect(read(1, 0, 2, 1, 30, 4, 0, 1, 1, 1, 30, 4, 0, 1, 1), 'a group twice').to.equal(false);
    expect(read(2, 1, 65, 1, 65, 1, 1, 30, 4, 0, 1, 1), 'a level twice').to.equal(false);
    expect(read(1, 0, 1, 1, 30, 4, 1, 1, 1), 'a level that is not there').to.equal(false);
    expect(read(0, 1, 1, 30, 4, 0, 1, 1), 'no level').to.equal(false);
    expect(read(1, 0, 1, 1, 30, 4, 0, 0, 1), 'no entries').to.equal(false);
    expect(read(1, 0, 1, 0, 30, 4, 0, 1, 1), 'no tenant').to.equal(false);
    expect(read(1, 0, 0), 'no groups').to.equal(false);
    expect(read(1, 0, 1, 1, 0xff, 0xff, 0x0f, 4, 0, 1, 1), 'another kind').to.equal(false);
  });

  it('of any bytes is nothing, or a state', () => {
    const whole = snapshotOf(5);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), (place, byte) => {
        const bytes = Buffer.from(whole);
        bytes[place] = byte;
        return isSafe(bytes);
      }),
      { numRuns: extent(2000, 20_000) },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => isSafe(Buffer.from([3, ...bytes]))),
      { numRuns: extent(2000, 20_000) },
    );
  });
});
