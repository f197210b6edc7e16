import { ByteMap, sameBytes } from '../core/byte-map.ts';
import { nativeString } from './native.ts';

/** A string that many entries share: a field name, a level, a service. `id` is unique within its `WordIds`. */
export type Word = {
  readonly id: number;
  /** As it stands in a dictionary of a record. */
  readonly native: Uint8Array;
};

/** Gives words their ids. `restart` is called when words are forgotten: former ids are given again then, in a new epoch. */
export class WordIds {
  /** Grows when ids may mean other words than before. */
  epoch = 0;
  #next = 0;

  next(): number {
    return this.#next++;
  }

  /** How many ids were given in this epoch. */
  get given(): number {
    return this.#next;
  }

  restart(from = 0): void {
    this.epoch += 1;
    this.#next = from;
  }
}

/** `next`: the word that followed it last. */
type Known = Word & { readonly token: Uint8Array; next: Known | null };

/** How many values of one column are remembered before the table starts afresh. */
const MAX_WORDS = 20_000;
/** A longer value is not remembered, so that the table's memory is bounded. */
const MAX_WORD_BYTES = 1024;

/** The values of a column that has few: looked up by their JSON token, without a string for one that is known. */
export class WordTable {
  readonly ids = new WordIds();
  #known = new ByteMap<Known>(64);
  /** What stands before the first word of a list, and the word that was followed last. */
  #first: Known = beforeAll();
  #last = this.#first;
  /** The empty text. */
  none: Word = this.#word('');

  /** The word of the token `bytes[start..end)`; `read` decodes it where it is new. */
  of(bytes: Uint8Array, start: number, end: number, read: () => string): Word {
    return this.#of(bytes, start, end, read);
  }

  /** The words of a list, one after the other, for `follow`: such lists are alike. */
  begin(): void {
    this.#last = this.#first;
  }

  /** The same as `of`, where the token is UTF-8. First it looks at the word that followed the one before the last time. */
  follow(bytes: Buffer, start: number, end: number): Word {
    const { next } = this.#last;
    if (next !== null && next.token.length === end - start && sameBytes(next.token, bytes, start)) return (this.#last = next);
    const word = this.#of(bytes, start, end, () => bytes.toString('utf8', start, end));
    // a long one is not remembered, nor one that a word of an epoch before was followed by
    if (end - start <= MAX_WORD_BYTES) this.#last.next = word;
    return (this.#last = word);
  }

  #of(bytes: Uint8Array, start: number, end: number, read: () => string): Known {
    const known = this.#known.find(bytes, start, end);
    if (known !== undefined) return known;
    if (this.ids.given >= MAX_WORDS) this.#restart();
    const word = { ...this.#word(read()), token: Uint8Array.prototype.slice.call(bytes, start, end), next: null };
    if (end - start <= MAX_WORD_BYTES) this.#known.add(word);
    return word;
  }

  #word(text: string): Word {
    return { id: this.ids.next(), native: nativeString(text) };
  }

  #restart(): void {
    this.ids.restart();
    this.#known = new ByteMap<Known>(64);
    this.none = this.#word('');
    this.#first = beforeAll();
  }
}

const beforeAll = (): Known => ({ id: -1, native: new Uint8Array(0), token: new Uint8Array(0), next: null });
