/** Bytes that are put one after the other. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** `capacity`: bytes that fit before what was written is copied to a larger buffer. */
  constructor(capacity = 4096) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  /** An integer from 0 to 2^53 as LEB128. */
  count(number: number): void {
    this.#reserve(8);
    let rest = number;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) | 128;
    this.#bytes[this.#length++] = rest;
  }

  /** Many integers, each as `count` writes it. */
  counts(numbers: Uint16Array): void {
    this.#reserve(3 * numbers.length);
    const bytes = this.#bytes;
    let at = this.#length;
    for (const number of numbers) {
      if (number < 128) bytes[at++] = number;
      else if (number < 16_384) {
        bytes[at++] = (number & 127) | 128;
        bytes[at++] = number >> 7;
      } else {
        bytes[at++] = (number & 127) | 128;
        bytes[at++] = ((number >> 7) & 127) | 128;
        bytes[at++] = number >> 14;
      }
    }
    this.#length = at;
  }

  /** An integer of either sign, the smaller the shorter. */
  signed(number: number): void {
    this.count(number < 0 ? -2 * number - 1 : 2 * number);
  }

  word(number: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(number, this.#length);
  }

  /** Any number. */
  float(number: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(number, this.#length);
  }

  /** A string with a character for each byte, after its length. */
  text(text: string): void {
    this.count(text.length);
    this.#reserve(text.length);
    this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }

  /** Bytes, after their length; they can be read as bytes or as a string. */
  bytes(bytes: Uint8Array): void {
    this.count(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Begins again with nothing: what `finish` gave before is overwritten. */
  clear(): void {
    this.#length = 0;
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#length + more, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Bytes are not what a reader expects. */
export class CutOff extends Error {}

/** Reads what a ByteWriter wrote; throws CutOff where the bytes are others. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** What has not been read yet. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  /** An integer from 0 to `most`. */
  count(most = Number.MAX_SAFE_INTEGER): number {
    let number = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new CutOff();
      number += (byte & 127) * factor;
      if (number > most) throw new CutOff();
      if (byte < 128) return number;
      // more bytes than the largest number has
      if (factor > most) throw new CutOff();
    }
  }

  /** An integer of 32 bits. */
  signed(): number {
    const number = this.count(0xffff_ffff);
    return number % 2 === 0 ? number / 2 : -(number + 1) / 2;
  }

  word(): number {
    if (this.#at + 4 > this.#bytes.length) throw new CutOff();
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  float(): number {
    if (this.#at + 8 > this.#bytes.length) throw new CutOff();
    this.#at += 8;
    return this.#bytes.readDoubleLE(this.#at - 8);
  }

  /** Bytes that were written with their length: a view. */
  bytes(): Buffer {
    const length = this.count(this.#bytes.length);
    if (this.#at + length > this.#bytes.length) throw new CutOff();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    const length = this.count(this.#bytes.length);
    if (this.#at + length > this.#bytes.length) throw new CutOff();
    this.#at += length;
    return this.#bytes.toString('latin1', this.#at - length, this.#at);
  }
}

/** What is read of bytes; null where they are cut off. */
export const unlessCutOff = <Read>(read: () => Read | null): Read | null => unless([CutOff], read);

/** The same of bytes with JSON in them, which may be damaged too. */
export const unlessDamaged = <Read>(read: () => Read | null): Read | null => unless([CutOff, SyntaxError, TypeError], read);

function unless<Read>(faults: readonly (new () => Error)[], read: () => Read | null): Read | null {
  try {
    return read();
  } catch (error) {
    if (faults.some((fault) => error instanceof fault)) return null;
    throw error;
  }
}
