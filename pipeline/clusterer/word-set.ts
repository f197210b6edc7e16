/** A set of ASCII words of at most 31 bytes that looks bytes up where they lie. */
export class WordSet {
  readonly #byFirst: (readonly Uint8Array[] | undefined)[] = new Array<undefined>(256).fill(undefined);
  /** For each first byte, a bit for each length that a word with it has: most words are distinguished by these alone. */
  readonly #lengths = new Uint32Array(256);
  readonly #longest: number;

  constructor(words: readonly string[]) {
    const lists = new Map<number, Uint8Array[]>();
    for (const word of words) {
      const bytes = Uint8Array.from(Buffer.from(word));
      const first = bytes[0] as number;
      this.#lengths[first] = (this.#lengths[first] as number) | (1 << bytes.length);
      const list = lists.get(first);
      if (list === undefined) lists.set(first, [bytes]);
      else list.push(bytes);
    }
    for (const [first, list] of lists) this.#byFirst[first] = list;
    this.#longest = Math.max(...words.map((word) => word.length));
  }

  /** Whether `bytes[start, end)` is one of the words. */
  has(bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    if (length > this.#longest || (((this.#lengths[bytes[start] as number] as number) >>> length) & 1) === 0) return false;
    const list = this.#byFirst[bytes[start] as number] as readonly Uint8Array[];
    for (const word of list) {
      if (word.length !== length) continue;
      let at = 1;
      while (at < length && word[at] === bytes[start + at]) at += 1;
      if (at === length) return true;
    }
    return false;
  }

  /** Where the word begins that ends at `end` and is one of these, with `from` or a byte before it that may stand there; else -1. */
  startBefore(bytes: Uint8Array, from: number, end: number, isEdge: (byte: number) => boolean): number {
    let start = end;
    while (start > from && end - start <= this.#longest && !isEdge(bytes[start - 1] as number)) start -= 1;
    return this.has(bytes, start, end) ? start : -1;
  }
}
