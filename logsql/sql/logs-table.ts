/**
 * The table `logs` (pipeline/store/schema/002_logs.sql) as queries see it. The expression W is exactly that of its text index of the words of
 * `_msg` without digits (012_short_words.sql): `has(W, word)` is answered from the index alone. Words with digits, which are nearly as many
 * as the messages, are looked for in the messages. A Bloom filter on the values of the map decides for `fields[name] = value` which granules
 * are not read.
 */
import { join, sql, text, type Sql } from '../../pipeline/core/sql.ts';
import type { Look, Table } from '../base/table.ts';
import { entryColumns } from './columns.ts';
import { renderRow } from './entry-text.ts';
import { PROMOTED, promoted, promotedLabel } from './promoted.ts';
import { TIME_TEXT } from './time.ts';

const W = sql`arrayFilter(w -> position(w, '0') = 0 AND length(w) <= 128, if(length(_msg) = lengthUTF8(_msg), splitByWhitespace(translate(_msg, '123456789!"#$%&\\'()*+,-./:;<=>?@[\\\\]^\`{|}~\\x00\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\x08\\x0E\\x0F\\x10\\x11\\x12\\x13\\x14\\x15\\x16\\x17\\x18\\x19\\x1A\\x1B\\x1C\\x1D\\x1E\\x1F\\x7F', '000000000                                                           ')), arrayFlatten(arrayMap(m -> extractAll(replaceRegexpAll(m, '[1-9]', '0'), '[\\\\pL\\\\p{Nd}_]+'), if(length(_msg) = lengthUTF8(_msg), emptyArrayString(), [_msg])))))`;
/** How a statement begins that the index of words can answer. */
const INDEXED_WORDS = W.strings.join('');
/** More words than this are not looked up one by one in the index: the first ones have narrowed it down. */
const MAX_INDEXED_WORDS = 8;

/** Longer words are not in the index, so that no tenant makes it large for all (docs/limits.md). Bytes. */
const MAX_INDEXED_BYTES = 128;

const AND = sql` AND `;
const COMMA = sql`, `;
const COLUMNS: Readonly<Record<string, Sql>> = {
  _msg: sql`_msg`,
  level: sql`level`,
  service: sql`service`,
  trace_id: sql`trace_id`,
  span_id: sql`span_id`,
  _time: TIME_TEXT,
  _stream_id: sql`concat(leftPad(lower(hex(tenant_id)), 16, '0'), leftPad(lower(hex(stream_id)), 32, '0'))`,
};

/** Columns whose strings take long to read and to test. */
const DEAR = /\b_msg\b|\bfields\[|\btrace_id\b|\bspan_id\b/;
/** An index shows where none of the rows meets these. */
const INDEXED = /\bfields\[\] (?:=|IN) |\btrace_id (?:=|IN) /;

const isIndexed = (word: string): boolean => !/[0-9]/.test(word) && Buffer.byteLength(word) <= MAX_INDEXED_BYTES;

/** The string of a field of the table; null for `_stream`, which is in another table. */
function textOf(field: string): Sql | null {
  if (Object.hasOwn(COLUMNS, field)) return COLUMNS[field] ?? null;
  return field === '_stream' ? null : (promoted(field)?.whole ?? sql`fields[${text(field)}]`);
}

function look(conditions: readonly Sql[]): Look {
  const written = conditions.map(({ strings }) => strings.join(''));
  if (written.some((one) => one.includes(INDEXED_WORDS) || INDEXED.test(one))) return 'indexed';
  return written.some((one) => DEAR.test(one)) ? 'texts' : 'columns';
}

const readsMap = (condition: Sql): boolean => condition.strings.some((part) => part.includes('fields['));

/**
 * Conditions that columns or indexes answer go first (PREWHERE). Those that decode the map stay behind, so that it is decoded once for them
 * and for what is selected; that halves the time of an aggregation.
 */
function matching(conditions: readonly Sql[]): Sql {
  const scans = conditions.filter(readsMap);
  const cheap = conditions.filter((condition) => !readsMap(condition));
  return scans.length === 0 ? sql`logs WHERE ${join(cheap, AND)}` : sql`logs PREWHERE ${join(cheap, AND)} WHERE ${join(scans, AND)}`;
}

export const LOGS: Table = {
  ...{ row: 'entry', member: 'logs' },
  from: sql`logs`,
  where: (conditions) => sql`logs WHERE ${join(conditions, AND)}`,
  columns: join(
    [
      sql`tenant_id, _time, arrived, kafka_part, kafka_off, kafka_idx, stream_id, pattern, level, service, trace_id, span_id, _msg, fields`,
      ...PROMOTED.flatMap(({ short, long }) => [short, long]),
    ],
    COMMA,
  ),
  matching,
  look,
  indexes: [
    { name: 'tenant and time (primary key)', parts: ['tenant_id = '] },
    { name: 'words of _msg (text index)', parts: [`has(${INDEXED_WORDS}`] },
    { name: 'values of fields (bloom filter)', parts: ['fields[] = )', 'fields[] IN )'] },
    { name: 'trace_id (bloom filter)', parts: ['trace_id = ', 'trace_id IN '] },
    { name: 'pattern (bloom filter)', parts: ['pattern IN '] },
    { name: 'streams (table of label sets)', parts: ['stream_id IN '] },
  ],
  text: textOf,
  isMapField: (field) => !Object.hasOwn(COLUMNS, field) && field !== '_stream',
  promoted,
  promotedLabel,
  indexedWords: (field, words) =>
    field === '_msg' ? [...new Set(words.filter(isIndexed))].slice(0, MAX_INDEXED_WORDS).map((word) => sql`has(${W}, ${text(word)})`) : [],
  isOneOf: () => undefined,
  isOneWord: () => false,
  number: () => undefined,
  fewWords: () => undefined,
  ...{ names: sql`mapKeys(fields)`, values: sql`mapValues(fields)`, namesAlone: sql`fields.keys` },
  lists: {
    common: ['level', 'service', '_stream'],
    wide: ['_msg', 'trace_id', 'span_id', '_time'],
    sampled: sql`fields, _msg, trace_id, span_id, _time`,
    everywhere: '_stream',
    ...{ always: ['level', 'service', '_stream'], never: ['_time'] },
    counts: [
      ['_time', sql`count()`],
      ['_stream', sql`count()`],
      ['_msg', sql`countIf(_msg != '')`],
      ['level', sql`countIf(level != '')`],
      ['service', sql`countIf(service != '')`],
      ['trace_id', sql`countIf(trace_id != '')`],
      ['span_id', sql`countIf(span_id != '')`],
    ],
  },
  stream: { key: sql`stream_id`, isId: true, text: (id, streams) => streams.get(id) ?? '', labels: (label) => sql`labels[${text(label)}]` },
  ...{ isCounted: true, hasPatterns: true },
  entryColumns,
  render: renderRow,
};
