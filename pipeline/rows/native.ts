/** The encoding of a record whose value is columns in ClickHouse's Native format, in frames. docs/topics.md is the specification. */
export const COLUMNS = 'columns';

/** The bytes of an unsigned LEB128 number, as Native has lengths. */
export function varint(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** A string as Native has it: its length, then its bytes. */
export function nativeString(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = varint(bytes.length);
  // memory of its own: one out of the shared pool would keep 8 KiB
  const whole = Buffer.alloc(length.length + bytes.length);
  length.copy(whole);
  bytes.copy(whole, length.length);
  return whole;
}

/** How a column begins: its name and its type. */
export const columnHead = (name: string, type: string): Buffer => Buffer.concat([nativeString(name), nativeString(type)]);

/** A column by its name, and the bytes that begin it. */
export type ColumnHead = { readonly name: string; readonly bytes: Buffer };

/** The version of a LowCardinality column's dictionary, before its data (8 bytes). */
export const DICTIONARY_VERSION = 1;
/** Flags of a LowCardinality column's data: it brings its own keys, and no shared dictionary. The low byte is the width of its codes. */
export const DICTIONARY_FLAGS = 0x600;

/** Most rows of a record, and most keys of one of its dictionaries: codes are at most 16 bits wide. */
export const MAX_ROWS = 60_000;
export const MAX_KEYS = 65_536;
