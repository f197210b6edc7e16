import type { MessagePatterns } from '../../clusterer/message-patterns.ts';
import type { Canon } from '../canonical.ts';
import { ABSENT, LITERAL, STRING, type Draft } from '../draft.ts';
import type { Name } from '../names.ts';
import type { Severity } from '../../core/severity.ts';
import type { SplitTime } from '../../rows/halves.ts';
import { nanosecondsOf } from '../../rows/halves.ts';
import type { LogColumns, Vocabulary } from './log-columns.ts';
import type { Halves } from '../../rows/halves.ts';
import type { StringColumn } from '../../rows/string-column.ts';
import type { Word, WordTable } from '../../rows/words.ts';

/** What all entries of a process share: the words of their columns, and what finds the patterns of their messages. */
export type RowContext = { readonly vocabulary: Vocabulary; readonly patterns: MessagePatterns };

/** What the rules have found of an entry; `message` is its index in the draft; `headerLength`: bytes of its header, -1 where not known. */
export type CanonicalEntry = {
  readonly time: SplitTime;
  readonly streamId: Halves;
  readonly severity: Severity;
  readonly message: number;
  readonly headerLength: number;
};

const ns: Halves = { low: 0, high: 0 };

/** Adds the entry that lies in the draft as a row. Its tokens are copied from where they are; neither strings nor objects are made. */
export function addDraft(
  columns: LogColumns,
  draft: Draft,
  canon: Canon,
  { vocabulary, patterns }: RowContext,
  entry: CanonicalEntry,
): void {
  nanosecondsOf(entry.time.seconds, entry.time.nanos, ns);
  columns.openRow(ns.low, ns.high, entry.streamId, entry.severity);
  columns.level.push(wordOf(draft, canon.level, vocabulary.levels));
  columns.service.push(wordOf(draft, canon.service, vocabulary.services));
  putField(columns.traceId, draft, canon.traceId);
  putField(columns.spanId, draft, canon.spanId);
  putToken(columns.message, draft, entry.message);
  columns.readPattern(patterns, entry.headerLength);
  addFields(columns, draft, canon, entry.message);
  columns.closeRow();
}

function addFields(columns: LogColumns, draft: Draft, canon: Canon, message: number): void {
  const { count, kinds, fieldNames } = draft;
  const { names, jsonNames, values } = columns;
  names.reserve(count);
  jsonNames.reserve(count);
  for (let index = 0; index < count; index++) {
    const kind = kinds[index];
    if (kind === ABSENT || index === message) continue;
    const name = fieldNames[index] as Name;
    // a trace id that is a number stands in its column as a string and here for its type
    if (name.column && !(kind === LITERAL && (name === canon.traceId || name === canon.spanId))) continue;
    const code = names.code(name);
    names.codes[names.length++] = code;
    putToken(values, draft, index);
    if (kind === LITERAL) jsonNames.push(name);
  }
}

function putToken(column: StringColumn, draft: Draft, index: number): void {
  const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
  const quote = draft.kinds[index] === STRING ? 1 : 0;
  column.token(source, (draft.starts[index] as number) + quote, (draft.ends[index] as number) - quote);
}

function putField(column: StringColumn, draft: Draft, name: Name): void {
  const index = draft.find(name);
  if (index < 0) column.empty();
  else putToken(column, draft, index);
}

function wordOf(draft: Draft, name: Name, table: WordTable): Word {
  const index = draft.find(name);
  if (index < 0) return table.none;
  const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
  return table.of(source, draft.starts[index] as number, draft.ends[index] as number, () => draft.text(index));
}
