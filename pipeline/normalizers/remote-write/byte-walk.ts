import { CorruptBytes } from '../../core/corrupt-bytes.ts';

const [VARINT, FIXED64, LENGTH, FIXED32] = [0, 1, 2, 5];
const SEVEN = 128;
/** The bits of four bytes that say that another byte follows. */
const FOUR_MORE = 0x8080_8080 | 0;

/**
 * Walks over protobuf's wire format without an object or a call into native code for a field: remote write has millions of them a second. Every
 * length is checked against the end of what it lies in. Corrupt bytes throw CorruptBytes.
 */
export class ByteWalk {
  readonly bytes: Buffer;
  readonly view: DataView;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** A varint below 2^53, as tags and lengths are; a larger one is corrupt. */
  varint(end: number): number {
    let value = 0;
    let factor = 1;
    const { bytes } = this;
    for (let at = this.at; at < end; factor *= SEVEN) {
      const byte = bytes[at++] as number;
      value += (byte & 127) * factor;
      if (byte < SEVEN) {
        this.at = at;
        return value <= Number.MAX_SAFE_INTEGER ? value : this.fail('a number that is too large');
      }
      if (factor > 2 ** 49) return this.fail('a number that is too large');
    }
    return this.fail('it ends inside a number');
  }

  /** A tag: its field's number times 8, plus its wire type. */
  tag(end: number): number {
    const byte = this.at < end ? (this.bytes[this.at] as number) : SEVEN;
    if (byte >= SEVEN) {
      const tag = this.varint(end);
      return tag >= 8 && tag < 2 ** 32 ? tag : this.fail('a field number that cannot be');
    }
    this.at += 1;
    return byte >= 8 ? byte : this.fail('field number 0');
  }

  /** The length before a message; returns where that ends. */
  messageEnd(end: number): number {
    const length = this.varint(end);
    const to = this.at + length;
    return to <= end ? to : this.fail(`a length of ${String(length)} where ${String(end - this.at)} bytes are left`);
  }

  /** An int64 as a number; beyond 2^53 the nearest one. */
  int64(end: number): number {
    const from = this.at;
    const { bytes } = this;
    if (from + 6 <= end) {
      // six bytes, as times of this century have
      const first = this.view.getInt32(from, true);
      const [fifth, sixth] = [bytes[from + 4] as number, bytes[from + 5] as number];
      if ((first & FOUR_MORE) === FOUR_MORE && fifth >= SEVEN && sixth < SEVEN) {
        this.at = from + 6;
        const low = (first & 0x7f) | ((first >>> 1) & 0x3f80) | ((first >>> 2) & 0x1f_c000) | ((first >>> 3) & 0xfe0_0000);
        return low + ((fifth & 127) + sixth * SEVEN) * 2 ** 28;
      }
    }
    let at = from;
    while (at < end && (bytes[at] as number) >= SEVEN) at += 1;
    if (at >= end) return this.fail('it ends inside a number');
    if (at - from < 7) return this.varint(end);
    if (at - from > 9) return this.fail('a number of more than 64 bits');
    let value = 0n;
    for (let i = at; i >= from; i--) value = (value << 7n) | BigInt((bytes[i] as number) & 127);
    this.at = at + 1;
    return Number(BigInt.asIntN(64, value));
  }

  /** Where the eight bytes of a double begin, or of another fixed64. */
  fixed64(end: number): number {
    const { at } = this;
    if (at + 8 > end) return this.fail('it ends inside a number of 8 bytes');
    this.at = at + 8;
    return at;
  }

  /** Half of what lies at `at`. */
  word(at: number): number {
    return this.view.getUint32(at, true);
  }

  skip(tag: number, end: number): void {
    const type = tag & 7;
    if (type === VARINT) this.int64(end);
    else if (type === FIXED64) this.fixed64(end);
    else if (type === LENGTH) this.at = this.messageEnd(end);
    else if (type === FIXED32 && this.at + 4 <= end) this.at += 4;
    else this.fail(`wire type ${String(type)}`);
  }

  fail(what: string): never {
    throw new CorruptBytes(`The protobuf body is corrupt at byte ${String(this.at)}: ${what}.`);
  }
}
