import { FIELD, FIELDS, type SeriesTable } from './known-series.ts';

const FIRST_WORDS = 64;
const FIRST_BYTES = 8192;

/** Whose definitions a page has, and the day (since 1970) on which all of them were sent: no series counts as active by the page of another day. */
export type PageScope = { readonly tenantId: number; readonly day: number };

/** Definitions of one tenant that came together, in a frame of their own: a record that needs one of them takes it as it is. */
export type DefinitionPage = PageScope & {
  readonly number: number;
  readonly frame: Buffer;
  readonly count: number;
  /** Their bytes before they are compressed. */
  readonly size: number;
  /** How many records in a row have used few of them. */
  unused: number;
};

/** Codes in this list of the definitions of another one: of those of its pages, and of the others. */
export type Codes = { readonly paged: Int32Array; readonly loose: Int32Array };

/**
 * The definitions of a record: pages as a whole, of which the record's rows need some, and behind them the loose ones, each once, as Native has
 * strings. Since pages may still come, the code of a loose one is -1 minus its place until the list is complete.
 */
export class DefinitionList {
  /** How many the pages have, and how many are loose. */
  paged = 0;
  loose = 0;
  readonly pages: DefinitionPage[] = [];
  /** How many definitions of each page are used. */
  readonly uses: number[] = [];
  /** Bytes of the loose ones: of each its length, then its text. */
  natives: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  length = 0;
  #pageBytes = 0;
  #frameBytes = 0;
  readonly #bases: number[] = [];
  readonly #indexes = new Map<number, number>();
  #lastNumber = 0;
  #lastIndex = 0;
  #lows = new Uint32Array(FIRST_WORDS);
  #highs = new Uint32Array(FIRST_WORDS);
  #ends = new Uint32Array(FIRST_WORDS);
  /** Where each was found in the table of known series; -1: nowhere. */
  #entries = new Int32Array(FIRST_WORDS);
  /** Loose ones by id, made when rows of another record come in. */
  #codes: Map<number, number> | null = null;

  get count(): number {
    return this.paged + this.loose;
  }

  /** Forgets all, and keeps its memory. */
  clear(): void {
    this.paged = 0;
    this.loose = 0;
    this.pages.length = 0;
    this.uses.length = 0;
    this.length = 0;
    this.#pageBytes = 0;
    this.#frameBytes = 0;
    this.#bases.length = 0;
    this.#indexes.clear();
    this.#lastNumber = 0;
    this.#lastIndex = 0;
    this.#codes = null;
  }

  /** What they take before a page is decompressed, and after. */
  get size(): number {
    return this.length + this.#frameBytes;
  }

  get content(): number {
    return this.length + this.#pageBytes;
  }

  /** The code of the definition at a place of a page, which comes in with all of its definitions. */
  use(page: DefinitionPage, place: number): number {
    if (page.number !== this.#lastNumber) {
      this.#lastIndex = this.#indexOf(page);
      this.#lastNumber = page.number;
    }
    const index = this.#lastIndex;
    this.uses[index] = (this.uses[index] as number) + 1;
    return (this.#bases[index] as number) + place;
  }

  /** Adds one that the caller knows to be new, or takes for it; returns its code. `source[start..end)`: its text as Native has it. */
  add(low: number, high: number, source: Uint8Array, start: number, end: number, entry = -1): number {
    const place = this.loose;
    if (place === this.#lows.length) this.#grow();
    const to = this.length + end - start;
    if (to > this.natives.length) this.#widen(to);
    this.natives.set(source.subarray(start, end), this.length);
    this.length = to;
    this.#lows[place] = low;
    this.#highs[place] = high;
    this.#ends[place] = to;
    this.#entries[place] = entry;
    this.loose = place + 1;
    this.#codes?.set(keyOf(low, high), place);
    return -1 - place;
  }

  /** Adds those of another list that are not here yet. */
  append(other: DefinitionList): Codes {
    const paged = new Int32Array(other.paged);
    other.pages.forEach((page, index) => {
      const own = this.#indexOf(page);
      this.uses[own] = (this.uses[own] as number) + (other.uses[index] as number);
      const [base, from] = [this.#bases[own] as number, other.#bases[index] as number];
      for (let place = 0; place < page.count; place++) paged[from + place] = base + place;
    });
    const loose = new Int32Array(other.loose);
    if (other.loose > 0) {
      const known = (this.#codes ??= this.#index());
      for (let place = 0; place < other.loose; place++) loose[place] = this.#looseOf(other, place, known);
    }
    return { paged, loose };
  }

  /** The place behind those from `from` on that make a page: at most so many, and so many bytes unless a single one has more. */
  pageEnd(from: number, definitions: number, bytes: number): number {
    const start = this.#startOf(from);
    const most = Math.min(this.loose, from + definitions);
    let to = from + 1;
    while (to < most && (this.#ends[to] as number) - start <= bytes) to += 1;
    return to;
  }

  /** The bytes of the loose ones from a place on. */
  bytesOf(from: number, to = this.loose): Buffer {
    return this.natives.subarray(this.#startOf(from), this.#startOf(to));
  }

  /** Where a loose one lies in the table of known series, if it still does; else -1. */
  entryOf(place: number, { entries, bytes, size }: SeriesTable): number {
    const at = this.#entries[place] as number;
    if (at < 0 || at >= size * FIELDS) return -1;
    const [start, end] = [this.#startOf(place), this.#ends[place] as number];
    const native = entries[at + FIELD.nativeAt] as number;
    if (entries[at + FIELD.nativeLength] !== end - start) return -1;
    return this.natives.compare(bytes, native, native + end - start, start, end) === 0 ? at : -1;
  }

  #indexOf(page: DefinitionPage): number {
    const known = this.#indexes.get(page.number);
    if (known !== undefined) return known;
    const index = this.pages.push(page) - 1;
    this.#indexes.set(page.number, index);
    this.#bases.push(this.paged);
    this.uses.push(0);
    this.paged += page.count;
    this.#pageBytes += page.size;
    this.#frameBytes += page.frame.length;
    return index;
  }

  #looseOf(other: DefinitionList, place: number, known: ReadonlyMap<number, number>): number {
    const [low, high] = [other.#lows[place] as number, other.#highs[place] as number];
    const [start, end] = [other.#startOf(place), other.#ends[place] as number];
    const own = known.get(keyOf(low, high));
    return own !== undefined && this.#has(own, low, high, other.natives, start, end)
      ? -1 - own
      : this.add(low, high, other.natives, start, end, other.#entries[place]);
  }

  #index(): Map<number, number> {
    const places = new Map<number, number>();
    for (let place = 0; place < this.loose; place++) places.set(keyOf(this.#lows[place] as number, this.#highs[place] as number), place);
    return places;
  }

  #startOf(place: number): number {
    return place === 0 ? 0 : (this.#ends[place - 1] as number);
  }

  #has(place: number, low: number, high: number, natives: Buffer, start: number, end: number): boolean {
    if (this.#lows[place] !== low >>> 0 || this.#highs[place] !== high >>> 0) return false;
    return this.natives.compare(natives, start, end, this.#startOf(place), this.#ends[place]) === 0;
  }

  #widen(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.natives.length));
    this.natives.copy(larger, 0, 0, this.length);
    this.natives = larger;
  }

  #grow(): void {
    const words = 2 * this.#lows.length;
    const [lows, highs, ends, entries] = [new Uint32Array(words), new Uint32Array(words), new Uint32Array(words), new Int32Array(words)];
    lows.set(this.#lows);
    highs.set(this.#highs);
    ends.set(this.#ends);
    entries.set(this.#entries);
    [this.#lows, this.#highs, this.#ends, this.#entries] = [lows, highs, ends, entries];
  }
}

/** 52 bits of an id: what is found by it is compared. */
const keyOf = (low: number, high: number): number => (high & 0xf_ffff) * 4_294_967_296 + (low >>> 0);
