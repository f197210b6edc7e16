import xxhash from 'xxhash-wasm';
import { Generations, RecentMap } from '../core/generations.ts';
import { labelValue, MAX_LABEL_BYTES, renderStream } from '../core/labels.ts';
import { HASH_START, hashEnd, hashStep } from '../core/byte-map.ts';
import { ABSENT, type Draft } from './draft.ts';
import { nativeString } from '../rows/native.ts';
import type { StringColumn } from '../rows/string-column.ts';
import { LabelText } from './label-text.ts';
import type { Name, Names } from './names.ts';
import { TokenTable, type Item } from './token-table.ts';

/** The stream of an entry: a full label set, its string, and its id, XXH64 (seed 0) of that. Found by tokens: valid until the next one. */
export interface Stream {
  /** The id, as two signed halves; by the lower one its place in a tenant's shard is chosen. */
  readonly high: number;
  readonly low: number;
  /** What was marked of the stream last, and a mark of one's own: a list that finds it knows the stream without a look-up. */
  readonly mark: number;
  setMark(mark: number): void;
  /** Adds its string to a column. */
  writeText(to: StringColumn): void;
}

/** What is remembered of streams in each of two generations: how many, and bytes of their labels' tokens. */
export type StreamBounds = { readonly items: number; readonly bytes: number };
const BOUNDS: StreamBounds = { items: 262_144, bytes: 16 * 1024 * 1024 };
/** Longer ones are read each time. */
const MAX_TOKEN_BYTES = 65_536;
/** Streams that protocols give as a whole, in each of two generations. */
const MAX_GIVEN = 20_000;
const MAX_GIVEN_BYTES = 4 * 1024 * 1024;
/** Sets of label names that requests may choose, in each of two generations, and the labels of one. */
const MAX_LABEL_SETS = 100;
const MAX_LABELS = 64;
const LINE_FEED = 0x0a;
/** Each key begins with the number of its set of label names. */
const KEY_START = 4;

const { h64, h64Raw } = await xxhash();
/** An id, and its halves (all platforms of Node that we know are little-endian). */
const id = new BigUint64Array(1);
const halves = new Int32Array(id.buffer);

/** A stream that a protocol gives as a whole. */
class GivenStream implements Stream {
  readonly high: number;
  readonly low: number;
  readonly #text: Uint8Array;
  mark = 0;

  constructor(text: string) {
    this.#text = nativeString(text);
    id[0] = h64(text);
    this.high = halves[1] as number;
    this.low = halves[0] as number;
  }

  setMark(mark: number): void {
    this.mark = mark;
  }

  writeText(to: StringColumn): void {
    to.append(this.#text);
  }
}

/** The stream that was found last by its tokens: a view of the table, so that nothing is made for an entry. */
class FoundStream implements Stream {
  high = 0;
  low = 0;
  #table: TokenTable | null = null;
  #index = 0;
  #labels: LabelText | null = null;
  #tokens: Buffer = Buffer.alloc(0);
  #length = 0;

  /** It is the item of this index, and these are its tokens. */
  is(table: TokenTable, index: number, labels: LabelText, tokens: Buffer, length: number): this {
    this.high = table.high(index);
    this.low = table.low(index);
    this.#table = table;
    this.#index = index;
    this.#labels = labels;
    this.#tokens = tokens;
    this.#length = length;
    return this;
  }

  get mark(): number {
    return (this.#table as TokenTable).mark(this.#index);
  }

  setMark(mark: number): void {
    (this.#table as TokenTable).setMark(this.#index, mark);
  }

  writeText(to: StringColumn): void {
    const labels = this.#labels as LabelText;
    const length = labels.write(this.#tokens, KEY_START, this.#length);
    to.raw(labels.bytes, 0, length);
  }
}

/**
 * The streams that a process has seen lately, over all tenants and sets of label names. What is in use stays, whatever else comes by;
 * all of it takes at most 50 MB for those found by tokens, and 20 MB for those that were given as a whole.
 */
export class Streams {
  readonly #names: Names;
  readonly #seen: Generations<TokenTable>;
  readonly #given = new RecentMap<string, Stream>(MAX_GIVEN, MAX_GIVEN_BYTES);
  readonly #tables = new RecentMap<string, StreamTable>(MAX_LABEL_SETS);
  readonly #found = new FoundStream();
  #tableCount = 0;
  /** How often a stream's text had to be made and hashed, since it was not seen lately. */
  hashed = 0;
  scratch: Buffer = Buffer.allocUnsafeSlow(4096);

  constructor(names: Names, { items, bytes } = BOUNDS) {
    this.#names = names;
    this.#seen = new Generations((dropped?: TokenTable) => dropped?.clear() ?? new TokenTable(), items, bytes);
  }

  /** Finds streams by these label names, of which the first 64 count. */
  table(labels: readonly string[]): StreamTable {
    const key = labels.join('\n');
    let table = this.#tables.get(key);
    if (table === undefined) {
      this.#tableCount += 1;
      table = new StreamTable(this, this.#names, labels.slice(0, MAX_LABELS), this.#tableCount);
      this.#tables.set(key, table);
    }
    return table;
  }

  /** The stream of a label set that a protocol gives as a whole. */
  ofPairs(pairs: Iterable<readonly [string, string]>): Stream {
    return this.#ofText(renderStream(pairs));
  }

  /** The stream of the tokens that lie in `scratch`, after the number of their set of names. `hash`: that of all these bytes. */
  ofTokens(labels: LabelText, length: number, hash: number): Stream {
    const { scratch } = this;
    const table = this.#seen.young;
    const index = table.find(scratch, 0, length, hash);
    if (index >= 0) return this.#found.is(table, index, labels, scratch, length);
    if (length > MAX_TOKEN_BYTES) return this.#ofText(labels.read(scratch, KEY_START, length));
    const item = this.#fromOld(length, hash) ?? this.#hash(labels, length);
    const young = this.#seen.tableFor(length);
    return this.#found.is(young, young.add(scratch, 0, length, hash, item), labels, scratch, length);
  }

  #fromOld(length: number, hash: number): Item | null {
    const { old } = this.#seen;
    const index = old.find(this.scratch, 0, length, hash);
    return index < 0 ? null : { high: old.high(index), low: old.low(index), mark: old.mark(index) };
  }

  /** What is to be known of a stream that was not seen lately. */
  #hash(labels: LabelText, length: number): Item {
    const written = labels.write(this.scratch, KEY_START, length);
    id[0] = h64Raw(labels.bytes.subarray(0, written));
    this.hashed += 1;
    return { high: halves[1] as number, low: halves[0] as number, mark: 0 };
  }

  #ofText(text: string): Stream {
    const known = this.#given.get(text, text.length);
    if (known !== undefined) return known;
    const stream = new GivenStream(text);
    this.#given.set(text, stream, text.length);
    return stream;
  }
}

/** The streams of entries by one set of label names. It costs nothing to make one: names are looked up when an entry comes. */
export class StreamTable {
  readonly #streams: Streams;
  readonly #names: Names;
  readonly #number: number;
  /** The hash of the number, with which each key begins. */
  readonly #hash: number;
  readonly #labels: readonly string[];
  readonly #text: LabelText;
  #known: readonly Name[] = [];
  #age = -1;

  /** `number`: which one it is of its process. */
  constructor(streams: Streams, names: Names, labels: readonly string[], number: number) {
    this.#streams = streams;
    this.#names = names;
    this.#number = number;
    this.#hash = [0, 8, 16, 24].reduce((hash, shift) => hashStep(hash, (number >>> shift) & 255), HASH_START);
    this.#labels = [...new Set(labels)].sort();
    this.#text = new LabelText(this.#labels);
  }

  /** The stream of the current entry of the draft; `{}` where it has none of the labels. */
  of(draft: Draft): Stream {
    if (this.#age !== this.#names.age) this.#lookUp();
    const labels = this.#known;
    let { scratch } = this.#streams;
    scratch.writeInt32LE(this.#number, 0);
    let length = KEY_START;
    let hash = this.#hash;
    for (let label = 0; label < labels.length; label++) {
      const name = labels[label] as Name;
      if (name.seen !== draft.entry) continue;
      const index = name.index;
      if (draft.kinds[index] === ABSENT) continue;
      let start = draft.starts[index] as number;
      let end = draft.ends[index] as number;
      let source = draft.inArena[index] === 1 ? draft.arena : draft.body;
      if (end - start > MAX_LABEL_BYTES) {
        source = tokenOf(labelValue(draft.text(index)));
        [start, end] = [0, source.length];
      }
      if (length + end - start + 2 > scratch.length) scratch = this.#grow(length, end - start);
      scratch[length++] = label;
      hash = hashStep(hash, label);
      for (let at = start; at < end; at++) {
        const byte = source[at] as number;
        scratch[length++] = byte;
        hash = hashStep(hash, byte);
      }
      // no token holds a raw line feed, so the key is unambiguous
      scratch[length++] = LINE_FEED;
      hash = hashStep(hash, LINE_FEED);
    }
    return this.#streams.ofTokens(this.#text, length, hashEnd(hash));
  }

  /** The names of the labels, which are not held on to: names that a request has made up are forgotten like all others. */
  #lookUp(): void {
    this.#known = this.#labels.map((label) => this.#names.of(label));
    this.#age = this.#names.age;
  }

  #grow(length: number, more: number): Buffer {
    const larger = Buffer.allocUnsafeSlow((length + more + 2) * 2);
    this.#streams.scratch.copy(larger, 0, 0, length);
    this.#streams.scratch = larger;
    return larger;
  }
}

/** The token of a label that was read as a string. */
const tokenOf = (text: string): Buffer => Buffer.from(JSON.stringify(text));
