import { expect } from 'chai';
import { cpuMs } from '../../cpu-time.ts';
import { cpuCost } from '../../fakes/cpu-cost.ts';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, zstdCompressSync } from 'node:zlib';
import { HttpError, httpErrorOf } from '../../../pipeline/core/errors.ts';
import { inflateZstd } from '../../../pipeline/compression/zstd.ts';
import { laterRefusalOf, tooLarge } from '../../fakes/refusal.ts';
import { sampleLines } from '../../fixtures/inflate/sample.ts';
import { extent } from '../../extent.ts';

const FIXTURES = new URL('../../fixtures/inflate/', import.meta.url);
const fixture = (name: string): Buffer => readFileSync(new URL(name, FIXTURES));
const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.zst'));

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** A header without content size; the window is 2 MiB. */
const STREAMED = [...MAGIC, 0x00, 0x58];
const block = (type: number, size: number, last: boolean): number[] => {
  const word = (size << 3) | (type << 1) | (last ? 1 : 0);
  return [word & 255, (word >> 8) & 255, word >> 16];
};
const frame = (...parts: readonly (readonly number[])[]): Buffer => Buffer.from(parts.flat());
const SKIPPABLE = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

describe('inflate zstd', () => {
  const refused = (bytes: Buffer, cap = 1_000_000): Promise<HttpError> => laterRefusalOf(() => inflateZstd(bytes, cap, tooLarge));

  for (const name of names) {
    const text = sampleLines(parseInt(name, 10));
    it(`${name}: what the reference encoder wrote`, async () => {
      expect((await inflateZstd(fixture(name), text.length, tooLarge)).equals(text)).to.equal(true);
    });
    it(`${name}: the cap is inclusive`, async () => expect(await refused(fixture(name), text.length - 1)).to.include({ status: 413 }));
    it(`${name}: cut anywhere, 400`, async () => {
      const bytes = fixture(name);
      for (const cut of [1, 2, 3, 4, 5, bytes.length >> 1, bytes.length - 5, bytes.length - 3])
        expect(await refused(bytes.subarray(0, bytes.length - cut)), String(cut)).to.include({ status: 400 });
    });
  }

  it('several frames, skippable ones among them', async () => {
    const one = fixture('20-level3-checked.zst');
    const all = await inflateZstd(Buffer.concat([SKIPPABLE, one, SKIPPABLE, one, SKIPPABLE]), 100_000, tooLarge);
    expect(all.equals(Buffer.concat([sampleLines(20), sampleLines(20)]))).to.equal(true);
  });

  it('raw and repeated blocks, an empty frame', async () => {
    expect(
      (await inflateZstd(frame(STREAMED, block(0, 2, false), [0x68, 0x69], block(1, 3, true), [0x21]), 100, tooLarge)).toString(),
    ).to.equal('hi!!!');
    expect((await inflateZstd(frame(STREAMED, block(0, 0, true)), 100, tooLarge)).length).to.equal(0);
    expect((await inflateZstd(frame(MAGIC, [0x20, 2], block(0, 2, true), [0x68, 0x69]), 100, tooLarge)).toString()).to.equal('hi');
  });

  const corruptions: readonly (readonly [string, Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('{"_msg":"x"}')],
    ['the magic alone', Buffer.from(MAGIC)],
    ['garbage after the end', Buffer.concat([fixture('20-level3-checked.zst'), Buffer.from('garbage')])],
    ['one byte after the end', Buffer.concat([fixture('20-level3-checked.zst'), Buffer.from([0])])],
    ['the beginning of another frame', Buffer.concat([fixture('20-level3-checked.zst'), Buffer.from(MAGIC.slice(0, 3))])],
    ['a byte of the beginning of another frame', Buffer.concat([fixture('20-level3-checked.zst'), Buffer.from(MAGIC.slice(0, 1))])],
    ['the beginning of a skippable frame', Buffer.concat([fixture('20-level3-checked.zst'), SKIPPABLE.subarray(0, 2)])],
    ['a second frame that is cut', Buffer.concat([fixture('20-level3-checked.zst'), fixture('20-level3-checked.zst').subarray(0, -9)])],
    ['a skippable frame of 4 GiB', frame([0x50, 0x2a, 0x4d, 0x18, 255, 255, 255, 255, 0])],
    ['a NUL byte alone', Buffer.alloc(1)],
    ['a wrong checksum', flip(fixture('20-level3-checked.zst'), -1)],
    ['a missing checksum', fixture('20-level3-checked.zst').subarray(0, -4)],
    ['a dictionary', frame(MAGIC, [0x21, 7, 1], block(0, 1, true), [65])],
    ['a reserved bit', frame(MAGIC, [0x28, 1], block(0, 1, true), [65])],
    ['a reserved block', frame(STREAMED, block(3, 1, true), [65])],
    ['a block above 128 KiB', frame(STREAMED, block(1, 131_073, true), [65])],
    ['more than it announces', frame(MAGIC, [0x20, 1], block(0, 2, true), [65, 66])],
    ['less than it announces', frame(MAGIC, [0x20, 3], block(0, 2, true), [65, 66])],
    ['no last block', frame(STREAMED, block(0, 1, false), [65])],
    ['a skippable frame that ends early', SKIPPABLE.subarray(0, -1)],
    ['a Huffman tree that was never sent', frame(STREAMED, block(2, 5, true), [0x03 | 0x10, 0x40, 0x00, 0x41, 0])],
  ];
  for (const [name, bytes] of corruptions) {
    it(`${name}: 400`, async () => {
      const error = await refused(bytes);
      expect(error).to.include({ status: 400, slug: 'invalid_body' });
      expect(error.message).to.match(/^The zstd stream is corrupt: .+\.$/);
    });
  }

  for (const [name, size] of [
    ['4 GiB', [0, 0, 0, 0, 1, 0, 0, 0]],
    ['8 TiB', [0, 0, 0, 0, 0, 8, 0, 0]],
    ['2 GiB less a byte', [255, 255, 255, 127, 0, 0, 0, 0]],
  ] as const)
    it(`a header that announces ${name}: no memory for that`, async () => {
      const before = process.memoryUsage().rss;
      const bytes = frame(MAGIC, [0xe0, ...size], ...Array.from({ length: 9 }, () => [...block(1, 131_072, false), 65]), block(0, 0, true));
      expect(await refused(bytes, 1_000_000)).to.include({ status: 413, message: 'true 1000000' });
      expect(process.memoryUsage().rss - before).to.be.below(20_000_000);
    });

  for (const log of [10, 23, 24, 27, 28, 31])
    it(`a window of 2^${String(log)} bytes, with no memory for that`, async () => {
      const before = process.memoryUsage().rss;
      const bytes = frame(MAGIC, [0, (log - 10) << 3], block(0, 2, false), [0x68, 0x69], block(1, 3, true), [0x21]);
      expect((await inflateZstd(bytes, 100, tooLarge)).toString()).to.equal('hi!!!');
      expect(process.memoryUsage().rss - before).to.be.below(20_000_000);
    });

  it('what lies far back in a large window', async () => {
    const text = Buffer.concat([sampleLines(2000), Buffer.alloc(20_000_000, 'x'), sampleLines(2000)]);
    const params = { [constants.ZSTD_c_windowLog]: 26, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
    expect((await inflateZstd(zstdCompressSync(text, { params }), text.length, tooLarge)).equals(text)).to.equal(true);
  });

  it('a bomb of repeated blocks: 413 with little memory', async () => {
    const bomb = frame(STREAMED, ...Array.from({ length: 9_000 }, () => [...block(1, 131_072, false), 65]), block(0, 0, true));
    const before = process.memoryUsage().rss;
    expect(await refused(bomb, 2_097_152)).to.include({ status: 413, message: 'true 2097152' });
    expect(process.memoryUsage().rss - before).to.be.below(20_000_000);
  });

  it('a block of sequences that copy without end (fzstd works on it for seconds): 400 at once', async () => {
    const body = [0x00 | (1 << 3), 0x41, 255, 100, 0, 0x54, 0, 2, 52, 0x01];
    const bytes = frame(MAGIC, [0x20, 0xff], block(2, body.length, true), body);
    let answer: Promise<unknown> = Promise.resolve();
    // fzstd takes hundreds of times as much
    expect(cpuCost(() => (answer = refused(bytes)))).to.be.below(20);
    expect(await answer).to.include({ status: 400 });
  });

  it('very many blocks and frames cost next to nothing', async () => {
    const empty = frame(STREAMED, block(0, 0, true));
    const blocks = Buffer.concat([Buffer.from(STREAMED), Buffer.alloc(3 * 300_000), Buffer.from(block(0, 0, true))]);
    for (const body of [blocks, Buffer.concat(Array<Buffer>(100_000).fill(empty))]) {
      const began = cpuMs();
      // Node 24 decompresses frames one by one, and few of them are taken
      const taken = await inflateZstd(body, 100, tooLarge).catch((error: unknown) => httpErrorOf(error)?.status);
      expect(taken).to.satisfy((answer: unknown) => (Buffer.isBuffer(answer) ? answer.length === 0 : answer === 400));
      expect(cpuMs() - began).to.be.below(1000);
    }
  });

  it('the cap holds for all frames together', async () => {
    const one = zstdCompressSync('x'.repeat(1000));
    const both = Buffer.concat([one, one, SKIPPABLE]);
    expect((await inflateZstd(both, 2000, tooLarge)).length).to.equal(2000);
    for (const cap of [1, 999, 1000, 1001, 1999])
      expect(await refused(both, cap)).to.include({ status: 413, message: `true ${String(cap)}` });
  });

  it('a content of any size, in a large body and a small one', async () => {
    for (const size of [0, 1, 16_383, 16_384, 16_385, 131_072, 262_143, 262_144, 262_145, 5_000_000])
      for (const content of [Buffer.alloc(size, 'x'), randomBytes(size)])
        expect((await inflateZstd(zstdCompressSync(content), Math.max(1, size), tooLarge)).equals(content), String(size)).to.equal(true);
  });

  it('survives wrong bytes anywhere', async () => {
    const bytes = fixture('200-level19-checked.zst');
    const content = await inflateZstd(bytes, 100_000, tooLarge);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), async (changes) => {
        const copy = Buffer.from(bytes);
        for (const [at, value] of changes) copy[at] = value;
        // some bits mean nothing, such as one of the frame header descriptor (RFC 8878, 3.1.1.1.1.3): then the content is the same
        const taken = await inflateZstd(copy, 100_000, tooLarge).catch((error: unknown) => error);
        if (Buffer.isBuffer(taken)) expect(taken.equals(content)).to.equal(true);
        else expect(httpErrorOf(taken)).to.be.instanceOf(HttpError).and.to.have.property('status').that.is.oneOf([400, 413]);
      }),
      { numRuns: extent(100, 300), examples: [[[[4, 116]]], [[[1113, 175]]]] },
    );
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const index = at < 0 ? bytes.length + at : at;
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
}
