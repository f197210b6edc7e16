import type { Word, WordIds } from './words.ts';

const MAX_GENERATION = 0xffff;

/**
 * A column of words as codes into the list of its keys, as LowCardinality has it. A word is found by its id in an array, so an entry
 * costs neither a hash nor a string. A key may stand in the list twice, where ids began again in between.
 */
export class Dictionary {
  readonly #ids: WordIds;
  /** By word id: the generation in which it was given a code (high 16 bits), and the code. */
  #slots = new Uint32Array(64);
  #generation = 0;
  #epoch = -1;
  readonly words: Word[] = [];
  codes: Uint16Array;
  /** Codes in use. */
  length = 0;

  constructor(ids: WordIds, capacity: number) {
    this.#ids = ids;
    this.codes = new Uint16Array(capacity);
  }

  clear(): void {
    this.words.length = 0;
    this.length = 0;
    this.#forget();
  }

  /** Makes space for `more` codes. */
  reserve(more: number): void {
    if (this.length + more <= this.codes.length) return;
    const larger = new Uint16Array(Math.max(this.length + more, this.codes.length * 2));
    larger.set(this.codes.subarray(0, this.length));
    this.codes = larger;
  }

  /** Adds an entry's word; there must be space. */
  push(word: Word): void {
    this.codes[this.length++] = this.code(word);
  }

  /** Adds an entry's word, and makes space for it. */
  add(word: Word): void {
    this.reserve(1);
    this.push(word);
  }

  /** The code of a word, a new one where the list does not have it yet. */
  code(word: Word): number {
    if (this.#epoch !== this.#ids.epoch) this.#forget();
    const slot = word.id < this.#slots.length ? (this.#slots[word.id] as number) : 0;
    return slot >>> 16 === this.#generation ? slot & 0xffff : this.#learn(word);
  }

  #learn(word: Word): number {
    if (word.id >= this.#slots.length) {
      const larger = new Uint32Array(Math.max(word.id + 1, this.#slots.length * 2));
      larger.set(this.#slots);
      this.#slots = larger;
    }
    const code = this.words.length;
    this.words.push(word);
    this.#slots[word.id] = ((this.#generation << 16) | code) >>> 0;
    return code;
  }

  #forget(): void {
    this.#epoch = this.#ids.epoch;
    this.#generation += 1;
    if (this.#generation <= MAX_GENERATION) return;
    this.#generation = 1;
    this.#slots.fill(0);
  }

  /** Adds all codes of another dictionary of the same words. */
  append(other: Dictionary): void {
    const { words, codes, length } = other;
    const known = other.#epoch === this.#ids.epoch;
    const map = words.map((word) => (known ? this.code(word) : this.words.push(word) - 1));
    this.reserve(length);
    for (let i = 0, to = this.length; i < length; i++) this.codes[to++] = map[codes[i] as number] as number;
    this.length += length;
  }
}
