import { expect } from 'chai';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { HttpError, httpErrorOf } from '../../../pipeline/core/errors.ts';
import { inflateLz4 } from '../../../pipeline/compression/lz4.ts';
import { refusalOf, tooLarge } from '../../fakes/refusal.ts';
import { sampleLines } from '../../fixtures/inflate/sample.ts';

const FIXTURES = new URL('../../fixtures/inflate/', import.meta.url);
const refused = (bytes: Buffer, cap = 1_000_000): HttpError => refusalOf(() => inflateLz4(bytes, cap, tooLarge));

const fixture = (name: string): Buffer => readFileSync(new URL(name, FIXTURES));
const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.lz4'));

/** Magic, version 1 with independent blocks and no checksums, blocks of 64 KiB, a header checksum that nobody reads. */
const HEADER = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0];
const LINKED = [0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0];
const END = [0, 0, 0, 0];
const word = (size: number): number[] => [size & 255, (size >> 8) & 255, (size >> 16) & 255, size >>> 24];
const block = (...bytes: readonly number[]): number[] => [...word(bytes.length), ...bytes];
const raw = (...bytes: readonly number[]): number[] => [...word(bytes.length + 0x80000000), ...bytes];
const frame = (...parts: readonly (readonly number[])[]): Buffer => Buffer.from(parts.flat());
const inflate = (bytes: Buffer, cap = 1000): string => inflateLz4(bytes, cap, tooLarge).toString();

describe('inflate lz4', () => {
  it('has frames of the reference encoder to read', () => expect(names).to.have.length(4));
  for (const name of names) {
    const text = sampleLines(parseInt(name, 10));
    it(`${name}: what the reference encoder wrote`, () =>
      expect(inflateLz4(fixture(name), text.length, tooLarge).equals(text)).to.equal(true));
    it(`${name}: the cap is inclusive`, () => expect(refused(fixture(name), text.length - 1)).to.include({ status: 413 }));
    it(`${name}: cut anywhere, 400`, () => {
      const bytes = fixture(name);
      for (const cut of [1, 2, 3, 4, 5, bytes.length >> 1, bytes.length - 5, bytes.length - 7, bytes.length])
        expect(refused(bytes.subarray(0, bytes.length - cut)), String(cut)).to.include({ status: 400 });
    });
  }

  it('literals, copies that reach into themselves, blocks as they are, an empty frame', () => {
    expect(inflate(frame(HEADER, END))).to.equal('');
    expect(inflate(frame(HEADER, raw(0x68, 0x69), END))).to.equal('hi');
    expect(inflate(frame(HEADER, block(0x20, 0x68, 0x69), END))).to.equal('hi');
    // "ab", then 19 + 1 bytes from 2 back, then "!"
    expect(inflate(frame(HEADER, block(0x2f, 0x61, 0x62, 2, 0, 1, 0x10, 0x21), END))).to.equal(`${'ab'.repeat(11)}!`);
  });

  it('copies from the block before only where blocks are linked', () => {
    const blocks = [raw(0x61, 0x62, 0x63, 0x64), block(0x00, 4, 0, 0x10, 0x21), END];
    expect(inflate(frame(LINKED, ...blocks))).to.equal('abcdabcd!');
    expect(refused(frame(HEADER, ...blocks))).to.include({ status: 400 });
  });

  const corruptions: readonly (readonly [string, Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('{"_msg":"x"}')],
    ['the magic alone', frame(HEADER.slice(0, 4))],
    ['another version', frame([...HEADER.slice(0, 4), 0xa0, 0x40, 0], END)],
    ['a dictionary', frame([...HEADER.slice(0, 4), 0x61, 0x40, 0], END)],
    ['a block size that there is not', frame([...HEADER.slice(0, 4), 0x60, 0x30, 0], END)],
    ['no end mark', frame(HEADER, raw(0x61))],
    ['bytes after the end', frame(HEADER, END, [0])],
    ['an empty block', frame(HEADER, [...word(1)], END)],
    ['a literal beyond its block', frame(HEADER, block(0x50, 0x61), END)],
    ['a length that never ends', frame(HEADER, block(0xf0, 255, 255), END)],
    ['a copy of nothing', frame(HEADER, block(0x10, 0x61, 0, 0, 0), END)],
    ['a copy from before the beginning', frame(HEADER, block(0x10, 0x61, 2, 0, 0), END)],
    ['no last literals', frame(HEADER, block(0x10, 0x61, 1, 0), END)],
    ['a block that says it is huge', frame(HEADER, [0xff, 0xff, 0xff, 0x7f], END)],
    [
      'a block that holds more than it may',
      frame(HEADER, block(0x1f, 0x61, 1, 0, ...Array.from({ length: 300 }, () => 255), 0, 0x00), END),
    ],
  ];
  for (const [name, bytes] of corruptions) it(`${name}: 400`, () => expect(refused(bytes)).to.include({ status: 400 }));

  it('a bomb is stopped at the cap, whatever it would be', () => {
    const bomb = frame(
      HEADER,
      ...Array.from({ length: 2000 }, () => block(0x1f, 0x61, 1, 0, ...Array.from({ length: 250 }, () => 255), 0, 0)),
      END,
    );
    expect(bomb.length).to.be.below(600_000);
    expect(refused(bomb, 10_000_000)).to.include({ status: 413 });
  });

  it('garbage is refused or read, and nothing else', () => {
    const of = fixture('20-kafka.lz4');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(of.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 }), (changes) => {
        const bytes = Buffer.from(of);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          expect(inflateLz4(bytes, 1_000_000, tooLarge)).to.be.an.instanceOf(Buffer);
        } catch (error) {
          expect(httpErrorOf(error)).to.be.instanceOf(HttpError);
        }
      }),
    );
  });
});
