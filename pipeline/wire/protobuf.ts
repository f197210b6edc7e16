import { BufferReader } from 'protobufjs/minimal.js';
import { CorruptBytes } from '../core/corrupt-bytes.ts';

/** Wire types (https://protobuf.dev/programming-guides/encoding/#structure). */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;

/** The tag of a field whose value is a varint or 8 bytes, or has a length: text, bytes or a message. */
export const varintTag = (field: number): number => field * 8 + VARINT;
export const fixed64Tag = (field: number): number => field * 8 + FIXED64;
export const lengthTag = (field: number): number => field * 8 + LENGTH;

/**
 * Reads protobuf's wire format in place with protobufjs, message by message: only what is read is decoded. A read never passes the end of the
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
  readonly #reader: BufferReader;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#reader = new BufferReader(bytes);
  }

  /** The offset of what is read next. */
  get at(): number {
    return this.#reader.pos;
  }

  /** Where the message that is being read ends. */
  get end(): number {
    return this.#reader.len;
  }

  /** Goes to a message, or a part of one, that was passed over. */
  seek(start: number, end: number): void {
    this.#reader.pos = start;
    this.#reader.len = end;
  }

  /** The tag of the next field: its number times 8, plus its wire type. */
  tag(): number {
    const tag = this.varint32();
    return tag < 8 ? this.#fail('field number 0') : tag;
  }

  /** Enters the message, text or bytes that has its length before it. Gives the end of the outer one, for `leave`. */
  enter(): number {
    const reader = this.#reader;
    const outer = reader.len;
    const length = this.varint32();
    if (length > outer - reader.pos) this.#fail(`a length of ${String(length)} where ${String(outer - reader.pos)} bytes are left`);
    reader.len = reader.pos + length;
    return outer;
  }

  /** Goes to the end of what was entered. */
  leave(outer: number): void {
    this.#reader.pos = this.#reader.len;
    this.#reader.len = outer;
  }

  /** A varint's low 32 bits. */
  varint32(): number {
    const reader = this.#reader;
    const { pos } = reader;
    // most are one byte
    if (pos < reader.len && (this.bytes[pos] as number) < 128) {
      reader.pos = pos + 1;
      return this.bytes[pos] as number;
    }
    try {
      return this.#reader.uint32();
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** The varint that comes next where it is below 2^28; else -1, and nothing was read. */
  smallVarint(): number {
    const { bytes } = this;
    const reader = this.#reader;
    const end = Math.min(reader.len, reader.pos + 4);
    for (let at = reader.pos, shift = 0, value = 0; at < end; at++, shift += 7) {
      const byte = bytes[at] as number;
      value |= (byte & 127) << shift;
      if (byte < 128) {
        reader.pos = at + 1;
        return value;
      }
    }
    return -1;
  }

  /** An int64 as a number; beyond 2^53 the nearest one. */
  int64(): number {
    try {
      const { high, low } = this.#reader.int64();
      return high * 2 ** 32 + (low >>> 0);
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** A uint64 as a number; beyond 2^53 the nearest one. */
  uint64(): number {
    try {
      const { high, low } = this.#reader.uint64();
      return (high >>> 0) * 2 ** 32 + (low >>> 0);
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** An int64 as decimal text, with every digit. */
  int64Text(): string {
    try {
      const { high, low } = this.#reader.int64();
      return high === 0 ? String(low >>> 0) : ((BigInt(high) << 32n) | BigInt(low >>> 0)).toString();
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** A fixed32, unsigned. */
  fixed32(): number {
    try {
      return this.#reader.fixed32();
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** A fixed64, or the bits of a double, as two words of 32 bits. */
  words(into: { low: number; high: number }): void {
    try {
      into.low = this.#reader.fixed32();
      into.high = this.#reader.fixed32();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A fixed64 as a number; beyond 2^53 the nearest one. */
  fixed64(): number {
    this.words(pair);
    return pair.high * 2 ** 32 + pair.low;
  }

  /** The same of one with a sign. */
  sfixed64(): number {
    this.words(pair);
    return (pair.high | 0) * 2 ** 32 + pair.low;
  }

  double(): number {
    try {
      return this.#reader.double();
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** A fixed64 of nanoseconds, split into seconds and nanoseconds. */
  nanoseconds(into: { seconds: number; nanos: number }): void {
    try {
      const low = this.#reader.fixed32();
      const high = this.#reader.fixed32();
      const [third, fourth] = [high & 0xffff, high >>> 16];
      // 2^32 is 4 s and 294,967,296 ns; 2^48 is 281,474 s and 976,710,656 ns: no step leaves 53 bits
      const rest = fourth * 976_710_656 + third * 294_967_296 + low;
      const seconds = Math.floor(rest / 1e9);
      into.seconds = fourth * 281_474 + third * 4 + seconds;
      into.nanos = rest - seconds * 1e9;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Passes over the value of a field. */
  skip(tag: number): void {
    try {
      this.#reader.skipType(tag & 7);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(what: unknown): never {
    const reason = what instanceof Error ? what.message : String(what);
    throw new CorruptBytes(`The protobuf body is corrupt at byte ${String(this.at)}: ${reason}.`);
  }
}

const pair = { low: 0, high: 0 };
