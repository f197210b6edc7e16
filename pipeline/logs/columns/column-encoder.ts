import type { Dictionary } from './dictionary.ts';
import { framesOf, type FrameWriter } from './frames.ts';
import { DICTIONARY_FLAGS, DICTIONARY_VERSION, HEADS } from './layout.ts';
import type { LogColumns } from './log-columns.ts';
import type { StringColumn } from './string-column.ts';

/** The value of a record with the encoding `columns`. */
export const encodeColumns = (columns: LogColumns): Buffer =>
  framesOf((to) => {
    putColumns(to, columns);
  });

/** Puts the columns, in the order of the layout. */
export function putColumns(to: FrameWriter, columns: LogColumns): void {
  const { count, names, jsonNames } = columns;
  to.put(HEADS._time);
  to.put(bytesOf(columns.time, 8 * count));
  to.put(HEADS.stream_id);
  to.put(bytesOf(columns.streamId, 8 * count));
  to.put(HEADS.severity);
  to.put(columns.severity.subarray(0, count));
  to.put(HEADS.pattern);
  to.put(bytesOf(columns.pattern, 8 * count));
  to.put(HEADS.level);
  to.putNumber(DICTIONARY_VERSION);
  putDictionary(to, columns.level);
  to.put(HEADS.service);
  to.putNumber(DICTIONARY_VERSION);
  putDictionary(to, columns.service);
  to.put(HEADS.trace_id);
  putStrings(to, columns.traceId);
  to.put(HEADS.span_id);
  putStrings(to, columns.spanId);
  to.put(HEADS._msg);
  putStrings(to, columns.message);
  to.put(HEADS.fields);
  to.putNumber(DICTIONARY_VERSION);
  putEnds(to, columns.fieldEnds, count);
  if (names.length > 0) putDictionary(to, names);
  putStrings(to, columns.values);
  to.put(HEADS.json_keys);
  to.putNumber(DICTIONARY_VERSION);
  putEnds(to, columns.jsonEnds, count);
  if (jsonNames.length > 0) putDictionary(to, jsonNames);
}

const bytesOf = (words: Uint32Array | Uint16Array, length: number): Uint8Array => new Uint8Array(words.buffer, words.byteOffset, length);

function putStrings(to: FrameWriter, column: StringColumn): void {
  to.put(column.bytes.subarray(0, column.length));
}

let scratch = new Uint32Array(1024);

/** Row ends are 64 bits wide. */
function putEnds(to: FrameWriter, ends: Uint32Array, count: number): void {
  if (scratch.length < 2 * count) scratch = new Uint32Array(4 * count);
  for (let i = 0; i < count; i++) {
    scratch[2 * i] = ends[i] as number;
    scratch[2 * i + 1] = 0;
  }
  to.put(bytesOf(scratch, 8 * count));
}

function putDictionary(to: FrameWriter, { words, codes, length }: Dictionary): void {
  const wide = words.length > 256;
  to.putNumber((wide ? 1 : 0) | DICTIONARY_FLAGS);
  to.putNumber(words.length);
  for (const { native } of words) to.put(native);
  to.putNumber(length);
  if (wide) to.put(bytesOf(codes, 2 * length));
  else to.put(Uint8Array.from(codes.subarray(0, length)));
}
