const BACKSLASH = 0x5c;
const ZERO = 0x30;
/** Shorter tokens are copied byte by byte, which is faster than a call into native code. */
const SHORT = 128;
const MAX_LENGTH_BYTES = 5;

/** A column of strings in Native's form: each is its length and its bytes, one after the other. */
export class StringColumn {
  bytes: Buffer;
  length = 0;
  /** Where the bytes of the string begin that was added last by `token`, `raw` or `text`; they end at `length`. */
  lastStart = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  clear(): void {
    this.length = 0;
  }

  /** Adds the value of a JSON string token, given without its quotes. */
  token(source: Buffer, start: number, end: number): void {
    const size = end - start;
    if (size >= SHORT) {
      this.#long(source, start, end);
      return;
    }
    this.#reserve(size + 1);
    const target = this.bytes;
    let to = this.length + 1;
    for (let at = start; at < end; at++) {
      const byte = source[at] as number;
      if (byte === BACKSLASH) {
        this.#escaped(source, start, end);
        return;
      }
      target[to++] = byte;
    }
    target[this.length] = size;
    this.lastStart = this.length + 1;
    this.length = to;
  }

  /** Adds bytes as they are. */
  raw(source: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.#reserve(size + MAX_LENGTH_BYTES);
    this.#putLength(size);
    this.lastStart = this.length;
    if (size >= SHORT) this.bytes.set(source.subarray(start, end), this.length);
    else for (let at = start, to = this.length; at < end; at++, to++) this.bytes[to] = source[at] as number;
    this.length += size;
  }

  /** Adds fewer than 128 bytes where all are ASCII; else false, and nothing was added. */
  ascii(source: Uint8Array, start: number, end: number): boolean {
    this.#reserve(end - start + 1);
    const target = this.bytes;
    let [to, all] = [this.length + 1, 0];
    for (let at = start; at < end; at++) {
      const byte = source[at] as number;
      all |= byte;
      target[to++] = byte;
    }
    if (all > 127) return false;
    target[this.length] = end - start;
    this.lastStart = this.length + 1;
    this.length = to;
    return true;
  }

  /** Adds the digits of a whole number that is not negative, and has at most 15 of them. */
  digits(number: number): void {
    let [size, beyond] = [1, 10];
    while (number >= beyond) {
      size += 1;
      beyond *= 10;
    }
    this.#reserve(size + 1);
    this.bytes[this.length] = size;
    this.lastStart = this.length + 1;
    this.length += size + 1;
    for (let at = this.length - 1, rest = number; at >= this.lastStart; at--) {
      const tens = Math.floor(rest / 10);
      this.bytes[at] = ZERO + rest - 10 * tens;
      rest = tens;
    }
  }

  /** Adds a string. */
  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.#reserve(size + MAX_LENGTH_BYTES);
    this.#putLength(size);
    this.lastStart = this.length;
    this.length += this.bytes.write(value, this.length);
  }

  /** Where the string ends that begins at `at` with its length. */
  endOf(at: number): number {
    let [length, from] = [0, at];
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[from++] as number;
      length += (byte & 127) * factor;
      if (byte < 128) return from + length;
    }
  }

  empty(): void {
    this.#reserve(1);
    this.bytes[this.length++] = 0;
  }

  /** Adds strings that are in Native's form already. */
  append(native: Uint8Array): void {
    this.#reserve(native.length);
    this.bytes.set(native, this.length);
    this.length += native.length;
  }

  /** Adds the strings of another column. */
  appendAll({ bytes, length }: StringColumn): void {
    this.#reserve(length);
    bytes.copy(this.bytes, this.length, 0, length);
    this.length += length;
  }

  #long(source: Buffer, start: number, end: number): void {
    const escape = source.subarray(start, end).indexOf(BACKSLASH);
    if (escape >= 0) this.#escaped(source, start, end);
    else this.raw(source, start, end);
  }

  #escaped(source: Buffer, start: number, end: number): void {
    const text = Buffer.from(JSON.parse(`"${source.toString('utf8', start, end)}"`) as string);
    this.raw(text, 0, text.length);
  }

  #putLength(size: number): void {
    let rest = size;
    while (rest > 127) {
      this.bytes[this.length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  #reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.length + more, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}
