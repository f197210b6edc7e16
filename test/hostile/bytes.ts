/** Bytes of binary formats that say more than they have. */

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
};

/** A field of protobuf's wire type 2. */
export const lengthDelimited = (tag: number, body: Buffer): Buffer => Buffer.concat([Buffer.from([tag]), varint(body.length), body]);

/** Messages inside messages: each holds the next one, to the end of the bytes. */
export function nestedMessages(tag: number, depth: number): Buffer {
  const parts: Buffer[] = [];
  for (let [left, size] = [depth, 0]; left > 0; left--) {
    const head = Buffer.concat([Buffer.from([tag]), varint(size)]);
    parts.push(head);
    size += head.length;
  }
  return Buffer.concat(parts.reverse());
}

/** Snappy's block format: runs of up to 64 bytes that repeat the byte before, as far as they do. */
export function snappyOf(bytes: Buffer): Buffer {
  const parts: Buffer[] = [varint(bytes.length)];
  const period = bytes.length > 1 && bytes[0] !== bytes[1] ? 2 : 1;
  parts.push(Buffer.from([(period - 1) << 2]), bytes.subarray(0, period));
  for (let left = bytes.length - period; left > 0; left -= 64) parts.push(Buffer.from([((Math.min(left, 64) - 1) << 2) | 2, period, 0]));
  return Buffer.concat(parts);
}

/** A Zstandard frame of so many blocks of 128 KiB, four bytes each. */
export function zstdBomb(blocks: number): Buffer {
  const head = Buffer.from('28b52ffd0058', 'hex');
  const body = Buffer.alloc(blocks * 4);
  const size = 128 * 1024;
  for (let at = 0; at < blocks; at++) {
    const header = (size << 3) | (1 << 1) | (at === blocks - 1 ? 1 : 0);
    body.writeUIntLE(header, at * 4, 3);
    body[at * 4 + 3] = 0x20;
  }
  return Buffer.concat([head, body]);
}
