import { expect } from 'chai';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { HttpError } from '../../../pipeline/core/errors.ts';
import { inflate, type Coding } from '../../../pipeline/compression/inflate.ts';
import { laterRefusalOf, tooLarge } from '../../fakes/refusal.ts';
import { sampleLines } from '../../fixtures/inflate/sample.ts';

const refused = (coding: Coding, bytes: Buffer, cap = 1_000_000): Promise<HttpError> =>
  laterRefusalOf(() => inflate(coding, bytes, cap, tooLarge));

describe('inflate gzip', () => {
  const text = sampleLines(50);
  const packed = gzipSync(text);

  it('one member', async () => expect(await inflate('gzip', packed, text.length, tooLarge)).to.deep.equal(text));
  it('many members', async () => {
    const all = await inflate('gzip', Buffer.concat([packed, packed, packed]), text.length * 3, tooLarge);
    expect(all).to.deep.equal(Buffer.concat([text, text, text]));
  });
  it('an empty member', async () => expect((await inflate('gzip', gzipSync(''), 10, tooLarge)).length).to.equal(0));
  it('a large body, in a thread', async () => {
    const large = Buffer.concat(Array.from({ length: 40 }, (_, i) => sampleLines(100 + i)));
    const bytes = gzipSync(large, { level: 1 });
    expect(bytes.length).to.be.above(16_384);
    expect((await inflate('gzip', bytes, large.length, tooLarge)).equals(large)).to.equal(true);
    expect(await refused('gzip', bytes, large.length - 1)).to.include({ status: 413 });
    expect(await refused('gzip', bytes.subarray(0, -1))).to.include({ status: 400 });
  });

  it('a small body that becomes a large one, in a thread: the event loop goes on meanwhile', async () => {
    for (const [coding, pack] of [
      ['gzip', gzipSync],
      ['zstd', zstdCompressSync],
    ] as const)
      // prettier-ignore
      for (const [size, isAtOnce] of [
        [100_000, true],
        [8_000_000, false],
      ] as const) {
        const bytes = pack(Buffer.alloc(size, 'x'));
        expect(bytes.length, coding).to.be.below(16_384);
        const found: Buffer[] = [];
        const reading = inflate(coding, bytes, 8_000_000, tooLarge).then((body) => (found.push(body), body));
        // what is done at once is there before the event loop turns
        for (let i = 0; i < 50; i++) await Promise.resolve();
        expect(found.length === 1, `${coding} ${String(size)}`).to.equal(isAtOnce);
        expect((await reading).length).to.equal(size);
        expect(await refused(coding, bytes, size - 1), coding).to.include({ status: 413 });
      }
  });

  const corruptions: readonly (readonly [string, Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['text', text],
    ['truncated by a byte', packed.subarray(0, -1)],
    ['truncated in the header', packed.subarray(0, 5)],
    ['truncated in the second member', Buffer.concat([packed, packed.subarray(0, 30)])],
    ['garbage after the end', Buffer.concat([packed, Buffer.from('garbage')])],
    ['one byte after the end', Buffer.concat([packed, Buffer.from([0x1f])])],
    ['a magic after the end', Buffer.concat([packed, Buffer.from([0x1f, 0x8b])])],
    ['NUL bytes after the end', Buffer.concat([packed, Buffer.alloc(8)])],
    ['a member after NUL bytes', Buffer.concat([packed, Buffer.alloc(8), packed])],
    ['a wrong checksum', withByte(packed, packed.length - 6)],
    ['a wrong length', withByte(packed, packed.length - 1)],
    ['a wrong byte inside', withByte(packed, packed.length >> 1)],
  ];
  for (const [name, bytes] of corruptions) {
    it(`${name}: 400`, async () => {
      const error = await refused('gzip', bytes);
      expect(error).to.include({ status: 400, slug: 'invalid_body' });
      expect(error.message).to.match(/^The gzip stream is corrupt: .+\.$/);
    });
  }

  it('a bomb: 413, with little memory', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000), { level: 9 });
    const before = process.memoryUsage().rss;
    expect(await refused('gzip', bomb, 2_097_152)).to.include({ status: 413, message: 'true 2097152' });
    expect(process.memoryUsage().rss - before).to.be.below(30_000_000);
  });

  it('the cap is inclusive', async () => {
    expect((await inflate('gzip', packed, text.length, tooLarge)).length).to.equal(text.length);
    expect(await refused('gzip', packed, text.length - 1)).to.include({ status: 413 });
  });
});

function withByte(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x55;
  return copy;
}
