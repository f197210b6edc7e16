import { isUtf8 } from 'node:buffer';
import { BACKSLASH, QUOTE } from './bytes.ts';

/** Most bytes of a character of a string: `\u0001`. */
const ESCAPED_BYTES = 6;
const HEX = Buffer.from('0123456789abcdef');
/** The letters of short escapes, by the byte that they stand for. */
const SHORT: Readonly<Record<number, number>> = { 8: 0x62, 9: 0x74, 10: 0x6e, 12: 0x66, 13: 0x72 };

/** JSON that is written as bytes: the parts come in their order, and are valid by themselves. It grows; memory is kept when it is cleared. */
export class JsonText {
  bytes: Buffer;
  length = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  clear(): void {
    this.length = 0;
  }

  /** ASCII as it is. */
  ascii(text: string): void {
    this.#reserve(text.length);
    this.length += this.bytes.write(text, this.length, 'latin1');
  }

  /** Bytes that are JSON. */
  raw(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    this.bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** The string whose UTF-8 is `source[start..end)`; what is no UTF-8 becomes U+FFFD. */
  string(source: Buffer, start: number, end: number): void {
    const begin = this.length;
    if (this.#string(source, start, end) < 0x80 || isUtf8(source.subarray(start, end))) return;
    const text = Buffer.from(source.toString('utf8', start, end));
    this.length = begin;
    this.#string(text, 0, text.length);
  }

  /** Returns all bytes together, by or. */
  #string(source: Buffer, start: number, end: number): number {
    this.#reserve((end - start) * ESCAPED_BYTES + 2);
    const { bytes } = this;
    let to = this.length;
    let all = 0;
    bytes[to++] = QUOTE;
    for (let at = start; at < end; at++) {
      const byte = source[at] as number;
      all |= byte;
      if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) bytes[to++] = byte;
      else to = escape(bytes, to, byte);
    }
    bytes[to++] = QUOTE;
    this.length = to;
    return all;
  }

  #reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.length + more, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

/** Writes the escape of a byte at `to`; returns the offset after it. */
function escape(bytes: Buffer, to: number, byte: number): number {
  const short = byte === QUOTE || byte === BACKSLASH ? byte : SHORT[byte];
  bytes[to++] = BACKSLASH;
  if (short !== undefined) {
    bytes[to++] = short;
    return to;
  }
  bytes.set([0x75, 0x30, 0x30, HEX[byte >>> 4] as number, HEX[byte & 15] as number], to);
  return to + 5;
}
