/** `pipeline/wire/protobuf.ts` with the decoder of protobufjs inside: what its `Reader` would cost in the same place. For measurements alone. */
import { createRequire } from 'node:module';
import path from 'node:path';

/** As much of protobufjs' `Reader` as is used. */
type LibraryReader = {
  pos: number;
  uint32(): number;
  int64(): { toString(): string } | number;
  fixed32(): number;
  double(): number;
  skipType(type: number): unknown;
};
type Library = { readonly BufferReader: new (bytes: Buffer) => LibraryReader };

const require = createRequire(path.join(import.meta.dirname, '../../.bench/libraries/package.json'));
const { BufferReader } = require('protobufjs/minimal.js') as Library;

export const varintTag = (field: number): number => field * 8;
export const fixed64Tag = (field: number): number => field * 8 + 1;
export const lengthTag = (field: number): number => field * 8 + 2;

export class ProtobufReader {
  readonly bytes: Buffer;
  end: number;
  readonly #reader: LibraryReader;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.#reader = new BufferReader(bytes);
  }

  get at(): number {
    return this.#reader.pos;
  }

  seek(start: number, end: number): void {
    this.#reader.pos = start;
    this.end = end;
  }

  tag(): number {
    return this.#reader.uint32();
  }

  enter(): number {
    const outer = this.end;
    const length = this.#reader.uint32();
    if (length > outer - this.#reader.pos) throw new Error('a length beyond its message');
    this.end = this.#reader.pos + length;
    return outer;
  }

  leave(outer: number): void {
    this.#reader.pos = this.end;
    this.end = outer;
  }

  varint32(): number {
    return this.#reader.uint32();
  }

  int64(): number {
    return Number(this.#reader.int64());
  }

  int64Text(): string {
    return this.#reader.int64().toString();
  }

  double(): number {
    return this.#reader.double();
  }

  nanoseconds(into: { seconds: number; nanos: number }): void {
    const low = this.#reader.fixed32();
    const high = this.#reader.fixed32();
    const fourth = high >>> 16;
    const rest = fourth * 976_710_656 + (high & 0xffff) * 294_967_296 + low;
    const seconds = Math.floor(rest / 1e9);
    into.seconds = fourth * 281_474 + (high & 0xffff) * 4 + seconds;
    into.nanos = rest - seconds * 1e9;
  }

  skip(tag: number): void {
    this.#reader.skipType(tag & 7);
  }
}
