import type { FrameWriter } from './frames.ts';
import { DICTIONARY_FLAGS } from './native.ts';
import type { StringColumn } from './string-column.ts';
import type { Word } from './words.ts';

/** Words as codes into the list of those that differ; `codes` may be longer than `length`. */
export type CodedWords = { readonly words: readonly Pick<Word, 'native'>[]; readonly codes: Uint16Array; readonly length: number };

/** The first bytes of a column of numbers. */
export const bytesOf = (numbers: Uint32Array | Uint16Array, length: number): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, length);

/** Puts strings. */
export function putStrings(to: FrameWriter, column: StringColumn): void {
  to.put(column.bytes.subarray(0, column.length));
}

let scratch = new Uint32Array(1024);

/** Puts where the list of each row ends, 64 bits each. */
export function putEnds(to: FrameWriter, ends: Uint32Array, count: number): void {
  if (scratch.length < 2 * count) scratch = new Uint32Array(4 * count);
  for (let i = 0; i < count; i++) {
    scratch[2 * i] = ends[i] as number;
    scratch[2 * i + 1] = 0;
  }
  to.put(bytesOf(scratch, 8 * count));
}

/** Puts words, without the version that stands before them. */
export function putWords(to: FrameWriter, { words, codes, length }: CodedWords): void {
  const wide = words.length > 256;
  to.putNumber((wide ? 1 : 0) | DICTIONARY_FLAGS);
  to.putNumber(words.length);
  for (const { native } of words) to.put(native);
  to.putNumber(length);
  if (wide) to.put(bytesOf(codes, 2 * length));
  else to.put(Uint8Array.from(codes.subarray(0, length)));
}
