import { compress } from 'snappyjs';
import { gzipSync } from 'node:zlib';
import { crc32c } from '../../pipeline/compression/crc32c.ts';

/** The content encodings of a body, as shippers make them. */
export const ENCODINGS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  identity: (body) => body,
  gzip: (body) => gzipSync(body, { level: 1 }),
  zstd: zstdRaw,
  snappy: (body) => Buffer.from(compress(body)),
  'snappy-framed': snappyFramed,
};

/** The header's value for one of `ENCODINGS`. */
export const contentEncoding = (name: string): string => (name === 'snappy-framed' ? 'snappy' : name);

/** A Zstandard frame of raw blocks (RFC 8878): no compression, but every header. */
function zstdRaw(body: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x58, ...littleEndian(body.length, 4)])];
  const block = 100_000;
  for (let at = 0; at === 0 || at < body.length; at += block) {
    const piece = body.subarray(at, at + block);
    const isLast = at + block >= body.length ? 1 : 0;
    parts.push(Buffer.from(littleEndian((piece.length << 3) | isLast, 3)), piece);
  }
  return Buffer.concat(parts);
}

/** The framing format of Snappy, with uncompressed chunks. */
function snappyFramed(body: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([0xff, 6, 0, 0]), Buffer.from('sNaPpY')];
  for (let at = 0; at < body.length; at += 65_536) {
    const piece = body.subarray(at, at + 65_536);
    const checksum = crc32c(piece);
    const masked = (((checksum >>> 15) | (checksum << 17)) + 0xa282ead8) >>> 0;
    parts.push(Buffer.from([1, ...littleEndian(piece.length + 4, 3), ...littleEndian(masked, 4)]), piece);
  }
  return Buffer.concat(parts);
}

function littleEndian(value: number, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, index) => (value >>> (index * 8)) & 0xff);
}
