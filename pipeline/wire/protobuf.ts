import { CorruptBytes } from '../core/corrupt-bytes.ts';

/** Wire types (https://protobuf.dev/programming-guides/encoding/#structure). */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

/** The tag of a field whose value is a varint, 8 bytes, or has a length: text, bytes or a message. */
export const varintTag = (field: number): number => field * 8 + VARINT;
export const fixed64Tag = (field: number): number => field * 8 + FIXED64;
export const lengthTag = (field: number): number => field * 8 + LENGTH;

/**
 * Reads protobuf's wire format in place, message by message: only what is read is decoded. A read never passes the end of the
 * message it stands in. Corrupt bytes throw HttpError 400, with what is wrong and where. A message is read so:
 *
 *     const outer = reader.enter();
 *     while (reader.at < reader.end) {
 *       const tag = reader.tag();
 *       if (tag === lengthTag(1)) … else reader.skip(tag);
 *     }
 *     reader.leave(outer);
 */
export class ProtobufReader {
  readonly bytes: Buffer;
  /** The offset of what is read next. */
  at = 0;
  /** Where the message that is being read ends. */
  end: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** Goes to a message, or a part of one, that was passed over. */
  seek(start: number, end: number): void {
    this.at = start;
    this.end = end;
  }

  /** The tag of the next field: its number times 8, plus its wire type. */
  tag(): number {
    const tag = this.varint32();
    return tag < 8 ? this.#fail('field number 0') : tag;
  }

  /** Enters the message, text or bytes that has its length before it. Gives the end of the outer one, for `leave`. */
  enter(): number {
    const outer = this.end;
    const length = this.varint32();
    if (length > outer - this.at) this.#fail(`a length of ${String(length)} where ${String(outer - this.at)} bytes are left`);
    this.end = this.at + length;
    return outer;
  }

  /** Goes to the end of what was entered. */
  leave(outer: number): void {
    this.at = this.end;
    this.end = outer;
  }

  /** A varint's low 32 bits. */
  varint32(): number {
    const { bytes, end } = this;
    let { at } = this;
    let value = 0;
    for (let shift = 0; at < end; shift += 7) {
      const byte = bytes[at++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return value >>> 0;
      }
      if (shift === 63) return this.#fail('a varint of more than 10 bytes');
    }
    return this.#fail('a varint that does not end');
  }

  /** An int64 as a number; beyond 2^53 the nearest one. */
  int64(): number {
    const start = this.at;
    const low = this.varint32();
    const length = this.at - start;
    if (length <= 4) return low;
    // 7 bytes are 49 bits
    if (length > 7) return Number(this.#bigint(start));
    let value = 0;
    for (let i = this.at - 1; i >= start; i--) value = value * 128 + ((this.bytes[i] as number) & 0x7f);
    return value;
  }

  /** An int64 as decimal text, with every digit. */
  int64Text(): string {
    const start = this.at;
    const number = this.int64();
    return this.at - start <= 7 ? String(number) : this.#bigint(start).toString();
  }

  /** The int64 that was read, from its first byte. */
  #bigint(start: number): bigint {
    let value = 0n;
    for (let i = this.at - 1; i >= start; i--) value = (value << 7n) | BigInt((this.bytes[i] as number) & 0x7f);
    return BigInt.asIntN(64, value);
  }

  double(): number {
    this.#need(8);
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  /** A fixed64 of nanoseconds, split into seconds and nanoseconds. */
  nanoseconds(into: { seconds: number; nanos: number }): void {
    this.#need(8);
    const { bytes, at } = this;
    const low = bytes.readUInt32LE(at);
    const third = bytes.readUInt16LE(at + 4);
    const fourth = bytes.readUInt16LE(at + 6);
    // 2^32 is 4 s and 294,967,296 ns; 2^48 is 281,474 s and 976,710,656 ns: no step leaves 53 bits
    const rest = fourth * 976_710_656 + third * 294_967_296 + low;
    const seconds = Math.floor(rest / 1e9);
    into.seconds = fourth * 281_474 + third * 4 + seconds;
    into.nanos = rest - seconds * 1e9;
    this.at = at + 8;
  }

  /** Passes over the value of a field. */
  skip(tag: number): void {
    const type = tag & 7;
    if (type === VARINT) this.varint32();
    else if (type === LENGTH) this.leave(this.enter());
    else if (type === START_GROUP) this.#skipGroup();
    else if (type === FIXED64 || type === FIXED32) {
      const size = type === FIXED64 ? 8 : 4;
      this.#need(size);
      this.at += size;
    } else this.#fail(type === END_GROUP ? 'the end of a group that did not begin' : `wire type ${String(type)}`);
  }

  /** Groups may be nested as deep as they like. */
  #skipGroup(): void {
    for (let depth = 1; depth > 0;) {
      const tag = this.tag();
      if ((tag & 7) === START_GROUP) depth += 1;
      else if ((tag & 7) === END_GROUP) depth -= 1;
      else this.skip(tag);
    }
  }

  #need(size: number): void {
    const left = this.end - this.at;
    if (left < size) this.#fail(`a value of ${String(size)} bytes where ${String(left)} are left`);
  }

  #fail(what: string): never {
    throw new CorruptBytes(`The protobuf body is corrupt at byte ${String(this.at)}: ${what}.`);
  }
}
