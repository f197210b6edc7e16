import { LABEL } from './read-labels.ts';

const NAME_TAG = 0x0a;
const VALUE_TAG = 0x12;

/** Labels as `readLabels` has them, written part by part: what a series is found by. Memory is kept when it is cleared. */
export class KeyBytes {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  /** Bytes that are labels already. */
  raw(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    this.bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** A label by the UTF-8 of its parts. */
  label(name: Uint8Array, value: Uint8Array): void {
    this.pair(name, 0, name.length, value, 0, value.length);
  }

  /** The same of parts of larger buffers. */
  pair(names: Uint8Array, nameStart: number, nameEnd: number, values: Uint8Array, valueStart: number, valueEnd: number): void {
    const [name, value] = [nameEnd - nameStart, valueEnd - valueStart];
    this.#reserve(name + value + 24);
    this.#put(LABEL.pair);
    this.#varint(2 + sizeOf(name) + name + sizeOf(value) + value);
    this.#put(NAME_TAG);
    this.#varint(name);
    this.#copy(names, nameStart, nameEnd);
    this.#put(VALUE_TAG);
    this.#varint(value);
    this.#copy(values, valueStart, valueEnd);
  }

  /** A label of strings. */
  text(name: string, value: string): void {
    this.label(Buffer.from(name), Buffer.from(value));
  }

  /** What is known of the metric, behind all labels. */
  facts(text: string): void {
    if (text === '') return;
    const bytes = Buffer.from(text);
    this.#reserve(bytes.length + 12);
    this.#put(LABEL.facts);
    this.#varint(bytes.length);
    this.#copy(bytes, 0, bytes.length);
  }

  #put(byte: number): void {
    this.bytes[this.length++] = byte;
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#put((rest & 127) | 128);
    this.#put(rest);
  }

  #copy(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    let to = this.length;
    for (let at = start; at < end; at++) bytes[to++] = source[at] as number;
    this.length = to;
  }

  #reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.length + more, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

const sizeOf = (value: number): number => (value < 128 ? 1 : value < 16_384 ? 2 : value < 2_097_152 ? 3 : value < 268_435_456 ? 4 : 5);
