import { createHash } from 'node:crypto';
import { Masker } from './masker.ts';
import { ABSENT, ShapeTable } from './shape-table.ts';

/** What a process remembers of shapes at most, twice: the young and the old ones. */
const MAX_SHAPES = 16_384;
const MAX_WORDS = 524_288;

/** The fingerprint of a template: SHA-256 of its UTF-8, in hexadecimal. */
export function fingerprintOf(template: string): string {
  return createHash('sha256').update(template).digest('hex');
}

/**
 * From messages to patterns: the first 8 bytes of the fingerprint of the message's template. Shapes that were seen lately are found by the
 * bytes of their template; SHA-256 is worked out for the others alone. Bounded, whatever comes in.
 */
export class Shapes {
  readonly #masker = new Masker();
  readonly #words: Int32Array;
  #young: ShapeTable;
  #old: ShapeTable;
  #length = 0;
  /** The pattern of the message that was looked up last, as two halves of 32 bits. */
  high = 0;
  low = 0;

  constructor(maxShapes = MAX_SHAPES, maxWords = MAX_WORDS) {
    this.#young = new ShapeTable(maxShapes, maxWords);
    this.#old = new ShapeTable(maxShapes, maxWords);
    this.#words = new Int32Array(this.#masker.out.buffer);
  }

  /** Works out the pattern of the message `bytes[from, to)`, into `high` and `low`. True where its shape was not remembered. */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    const length = this.#masker.mask(bytes, from, to);
    this.#length = length;
    const hash = hashOf(this.#masker.out, this.#words, length);
    let table = this.#young;
    let item = table.find(this.#words, length, hash);
    if (item === ABSENT) {
      table = this.#old;
      item = table.find(this.#words, length, hash);
      if (item === ABSENT) {
        const digest = createHash('sha256').update(this.template()).digest();
        this.#remember(length, hash, digest.readUInt32BE(0), digest.readUInt32BE(4));
        return true;
      }
      this.#remember(length, hash, table.high[item] as number, table.low[item] as number);
      return false;
    }
    this.high = table.high[item] as number;
    this.low = table.low[item] as number;
    return false;
  }

  #remember(length: number, hash: number, high: number, low: number): void {
    this.high = high;
    this.low = low;
    if (this.#young.add(this.#words, length, hash, high, low) !== ABSENT) return;
    const dropped = this.#old;
    this.#old = this.#young;
    this.#young = dropped;
    dropped.clear();
    dropped.add(this.#words, length, hash, high, low);
  }

  /** The template of the message that was looked up last. */
  template(): string {
    return Buffer.from(this.#masker.out.buffer, 0, this.#length).toString();
  }
}

/** Of this process: who chooses messages cannot choose which of them share a slot. */
const SEED = Math.floor(Math.random() * 2 ** 32) | 0;

/** A hash of the first `length` bytes; the word that they end in is filled up with zeros. */
function hashOf(bytes: Uint8Array, words: Int32Array, length: number): number {
  for (let index = length; (index & 3) !== 0; index += 1) bytes[index] = 0;
  const count = (length + 3) >> 2;
  let hash = SEED ^ length;
  for (let index = 0; index < count; index += 1) {
    hash = Math.imul(hash ^ (words[index] as number), 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
