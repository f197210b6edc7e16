import { bytesOf, putEnds, putStrings, putWords } from '../../rows/column-writer.ts';
import { framesOf, type FrameWriter } from '../../rows/frames.ts';
import { DICTIONARY_VERSION } from '../../rows/native.ts';
import type { LogColumns } from './log-columns.ts';
import { HEADS } from './log-layout.ts';

/** The value of a record with the encoding `columns`. */
export const encodeColumns = (columns: LogColumns): Buffer =>
  framesOf((to) => {
    putColumns(to, columns);
  });

/** Puts the columns, in the order of the layout. */
export function putColumns(to: FrameWriter, columns: LogColumns): void {
  const { count, names, jsonNames } = columns;
  to.put(HEADS.time.bytes);
  to.put(bytesOf(columns.time, 8 * count));
  to.put(HEADS.streamId.bytes);
  to.put(bytesOf(columns.streamId, 8 * count));
  to.put(HEADS.severity.bytes);
  to.put(columns.severity.subarray(0, count));
  to.put(HEADS.pattern.bytes);
  to.put(bytesOf(columns.pattern, 8 * count));
  to.put(HEADS.level.bytes);
  to.putNumber(DICTIONARY_VERSION);
  putWords(to, columns.level);
  to.put(HEADS.service.bytes);
  to.putNumber(DICTIONARY_VERSION);
  putWords(to, columns.service);
  to.put(HEADS.traceId.bytes);
  putStrings(to, columns.traceId);
  to.put(HEADS.spanId.bytes);
  putStrings(to, columns.spanId);
  to.put(HEADS.message.bytes);
  putStrings(to, columns.message);
  to.put(HEADS.fields.bytes);
  to.putNumber(DICTIONARY_VERSION);
  putEnds(to, columns.fieldEnds, count);
  if (names.length > 0) putWords(to, names);
  putStrings(to, columns.values);
  to.put(HEADS.jsonKeys.bytes);
  to.putNumber(DICTIONARY_VERSION);
  putEnds(to, columns.jsonEnds, count);
  if (jsonNames.length > 0) putWords(to, jsonNames);
}
