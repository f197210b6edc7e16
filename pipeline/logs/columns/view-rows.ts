import type { Names } from '../names.ts';
import type { ColumnsView } from './column-reader.ts';
import type { Dictionary } from '../../rows/dictionary.ts';
import type { LogColumns } from './log-columns.ts';
import type { StringColumn } from '../../rows/string-column.ts';
import type { StringView } from '../../rows/string-view.ts';
import type { WordView } from '../../rows/word-view.ts';
import type { Word, WordTable } from '../../rows/words.ts';

/** The words of code that joins records of several processes. */
export type Words = { readonly names: Names; readonly levels: WordTable; readonly services: WordTable };

/** Adds all rows of a record that was read. */
export function addView(columns: LogColumns, view: ColumnsView, { names, levels, services }: Words): void {
  const { bytes, count } = view;
  columns.reserveRows(count);
  const first = columns.count;
  for (const [column, at] of [
    [columns.time, view.time],
    [columns.streamId, view.streamId],
    [columns.pattern, view.pattern],
  ] as const)
    new Uint8Array(column.buffer).set(bytes.subarray(at, at + 8 * count), 8 * first);
  columns.severity.set(bytes.subarray(view.severity, view.severity + count), first);
  addWords(columns.level, view.level, (start, end) => levels.of(bytes, start, end, () => bytes.toString('utf8', start, end)));
  addWords(columns.service, view.service, (start, end) => services.of(bytes, start, end, () => bytes.toString('utf8', start, end)));
  for (let row = 0; row < count; row++) {
    columns.fieldEnds[first + row] = columns.names.length + (view.fieldEnds[row] as number);
    columns.jsonEnds[first + row] = columns.jsonNames.length + (view.jsonEnds[row] as number);
  }
  const nameOf = (start: number, end: number): Word => names.ofBytes(bytes, start, end);
  addWords(columns.names, view.names, nameOf);
  addWords(columns.jsonNames, view.jsonNames, nameOf);
  addStrings(columns.traceId, view.traceId, bytes);
  addStrings(columns.spanId, view.spanId, bytes);
  addStrings(columns.message, view.message, bytes);
  addStrings(columns.values, view.values, bytes);
  columns.count += count;
}

function addWords(to: Dictionary, { keys, codes, count }: WordView, wordOf: (start: number, end: number) => Word): void {
  const { starts, ends } = keys;
  if (mapped.length < keys.count) mapped = new Uint16Array(keys.count * 2);
  for (let key = 0; key < keys.count; key++) mapped[key] = to.code(wordOf(starts[key] as number, ends[key] as number));
  to.reserve(count);
  for (let i = 0; i < count; i++) to.codes[to.length++] = mapped[codes[i] as number] as number;
}

/** The code in the joined column of each key of the column that is being added. */
let mapped = new Uint16Array(256);

function addStrings(to: StringColumn, { from, to: end }: StringView, bytes: Buffer): void {
  to.append(bytes.subarray(from, end));
}
