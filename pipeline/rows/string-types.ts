import type { ColumnReader } from './column-reader.ts';
import type { ColumnType } from './column-type.ts';
import { putEnds, putStrings, putWords } from './column-writer.ts';
import type { FrameWriter } from './frames.ts';
import { DICTIONARY_VERSION, MAX_KEYS, nativeString } from './native.ts';
import { StringColumn } from './string-column.ts';
import { StringView } from './string-view.ts';
import { WordView } from './word-view.ts';

/** A map of strings: names, each with its value. */
export type Pairs = readonly (readonly [string, string])[];

const scratch = new StringColumn(4096);

function putAll<Value>(to: FrameWriter, values: readonly Value[], add: (column: StringColumn, value: Value) => void): void {
  scratch.clear();
  for (const value of values) add(scratch, value);
  putStrings(to, scratch);
}

/** Strings, and words, of which a column has one for each row, or a list. */
type Items = {
  readonly name: string;
  /** Whether a version stands before all of them. */
  readonly isVersioned: boolean;
  put(to: FrameWriter, values: readonly string[]): void;
  read(from: ColumnReader, count?: number): (index: number) => string;
};

const strings: Items = {
  name: 'String',
  isVersioned: false,
  put(to, values) {
    putAll(to, values, (column, value) => column.text(value));
  },
  read(from, count) {
    const view = new StringView();
    from.strings(view, count);
    const { bytes } = from;
    const { starts, ends } = view;
    return (index) => bytes.toString('utf8', starts[index], ends[index]);
  },
};

const words: Items = {
  name: 'LowCardinality(String)',
  isVersioned: true,
  put(to, values) {
    // there are no keys at all where there are no words
    if (values.length === 0) return;
    const keys = new Map<string, number>();
    const codes = Uint16Array.from(values, (value) => keys.get(value) ?? keys.set(value, keys.size).size - 1);
    if (keys.size > MAX_KEYS) throw new Error(`BUG: a column has more than ${String(MAX_KEYS)} different words.`);
    putWords(to, { words: Array.from(keys.keys(), (word) => ({ native: nativeString(word) })), codes, length: values.length });
  },
  read(from, count = from.count) {
    const view = new WordView();
    if (count > 0) from.words(view, count);
    const { bytes } = from;
    const { starts, ends } = view.keys;
    const { codes } = view;
    return (index) => bytes.toString('utf8', starts[codes[index] as number], ends[codes[index] as number]);
  },
};

function putVersion(to: FrameWriter, { isVersioned }: Items): void {
  if (isVersioned) to.putNumber(DICTIONARY_VERSION);
}

const one = (items: Items): ColumnType<string> => ({
  name: items.name,
  put(to, values) {
    putVersion(to, items);
    items.put(to, values);
  },
  read(from) {
    if (items.isVersioned) from.version();
    return items.read(from);
  },
});

/** The ends of lists, before the items of all of them. */
function putListEnds(to: FrameWriter, lists: readonly { readonly length: number }[]): void {
  let end = 0;
  putEnds(to, Uint32Array.from(lists, ({ length }) => (end += length)), lists.length); // prettier-ignore
}

/** Takes ends; returns how many items there are, and those of a row by what gives one. */
function readEnds(from: ColumnReader): readonly [count: number, of: <Item>(row: number, at: (index: number) => Item) => Item[]] {
  const ends = new Uint32Array(from.count);
  const count = from.ends(ends);
  return [
    count,
    (row, at) => {
      const first = row === 0 ? 0 : (ends[row - 1] as number);
      return Array.from({ length: (ends[row] as number) - first }, (_none, index) => at(first + index));
    },
  ];
}

const listOf = (items: Items): ColumnType<readonly string[]> => ({
  name: `Array(${items.name})`,
  put(to, values) {
    putVersion(to, items);
    putListEnds(to, values);
    items.put(to, values.flat());
  },
  read(from) {
    if (items.isVersioned) from.version();
    const [count, of] = readEnds(from);
    const at = items.read(from, count);
    return (row) => of(row, at);
  },
});

const mapOf = (names: Items): ColumnType<Pairs> => ({
  name: `Map(${names.name}, String)`,
  put(to, values) {
    const pairs = values.flat();
    putVersion(to, names);
    putListEnds(to, values);
    names.put(to, pairs.map(([name]) => name)); // prettier-ignore
    strings.put(to, pairs.map(([, value]) => value)); // prettier-ignore
  },
  read(from) {
    if (names.isVersioned) from.version();
    const [count, of] = readEnds(from);
    const [name, value] = [names.read(from, count), strings.read(from, count)];
    return (row) => of(row, (index) => [name(index), value(index)] as const);
  },
});

export const string = one(strings);

/** A string that many rows share. */
export const word = one(words);

export const stringList = listOf(strings);
export const wordList = listOf(words);

/** Any map, with equal names maybe. */
export const pairs = mapOf(strings);
export const wordPairs = mapOf(words);

/** A map in the order of its names, each once: so one map has one form. */
export const sortedPairs: ColumnType<Pairs> = {
  ...pairs,
  read(from) {
    const of = pairs.read(from);
    for (let row = 0; row < from.count; row++)
      if (of(row).some(([name], index, own) => index > 0 && name <= (own[index - 1] as Pairs[number])[0]))
        throw from.wrong('has a map that is not in the order of its names');
    return of;
  },
};

/** A String that need not be UTF-8, as its bytes. What is read is valid until the next value is. */
export const bytes: ColumnType<Buffer> = {
  name: 'String',
  put(to, values) {
    putAll(to, values, (column, value) => {
      column.raw(value, 0, value.length);
    });
  },
  read(from) {
    const view = new StringView();
    from.strings(view);
    const { bytes: content } = from;
    const { starts, ends } = view;
    return (row) => content.subarray(starts[row], ends[row]);
  },
};
