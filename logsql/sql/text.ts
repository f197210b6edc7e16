/** Conditions on strings over a table (logsql/base/table.ts). */
import { join, sql, text, texts, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { foldCase, foldsTo } from '../values/fold.ts';
import { groupWide, quoteRegexp } from '../values/regexp.ts';
import type { Promoted, Table } from '../base/table.ts';
import type { SqlContext } from '../base/types.ts';
import { endsWithWord, isOneWord, startsWithWord, wholeWordsOfPrefix, wordsOf } from '../values/words.ts';
import { MAX_PROMOTED_BYTES } from './promoted.ts';
import { inChunks } from './statement-budget.ts';

const LEFT = '(?:^|[^\\pL\\p{Nd}_])';
const RIGHT = '(?:$|[^\\pL\\p{Nd}_])';
// prettier-ignore
const NO_WORD = sql`'', '\\x00', '\\x01', '\\x02', '\\x03', '\\x04', '\\x05', '\\x06', '\\x07', '\\x08', '\\x09', '\\x0A', '\\x0B', '\\x0C', '\\x0D', '\\x0E', '\\x0F', '\\x10', '\\x11', '\\x12', '\\x13', '\\x14', '\\x15', '\\x16', '\\x17', '\\x18', '\\x19', '\\x1A', '\\x1B', '\\x1C', '\\x1D', '\\x1E', '\\x1F', ' ', '!', '"', '#', '$', '%', '&', '\\x27', '(', ')', '*', '+', ',', '-', '.', '/', ':', ';', '<', '=', '>', '?', '@', '[', '\\x5C', ']', '^', '\`', '{', '|', '}', '~', '\\x7F'`;
export const TRUE = sql`1`;
export const FALSE = sql`0`;

/** The string of a field in SQL ('' when missing); null where it has none. */
export function fieldText(field: string, { computed, longer, table }: Pick<SqlContext, 'computed' | 'longer' | 'table'>): Sql | null {
  const found = computed?.(field);
  if (found !== undefined) return found;
  return longer === undefined ? table.text(field) : (shortOf(table.promoted(field), longer) ?? table.text(field));
}

/** The short column, where nothing else is at hand. */
function shortOf(columns: Promoted | undefined, longer: (rows: Sql) => void): Sql | undefined {
  if (columns !== undefined) longer(columns.isLong);
  return columns?.short;
}

/** The columns of a promoted field whose value is that of the table. */
const promotedIn = (field: string, { computed, table }: SqlContext): Promoted | undefined =>
  computed?.(field) === undefined ? table.promoted(field) : undefined;

/** The table, where a field's value is that of its own. */
const tableOf = (field: string, { computed, table }: SqlContext): Table | undefined =>
  computed?.(field) === undefined ? table : undefined;

/** True for rows of which one of these fields has a long value that is not in its short column; null where none can. */
export function longerSql(fields: readonly string[], context: SqlContext): Sql | null {
  const rows = fields.flatMap((field) => promotedIn(field, context)?.isLong ?? []);
  return rows.length === 0 ? null : or(rows);
}

export const not = (condition: Sql): Sql => sql`NOT (${condition})`;
export const and = (conditions: readonly Sql[]): Sql => (conditions.length === 0 ? TRUE : sql`(${join(conditions, sql` AND `)})`);
export const or = (conditions: readonly Sql[]): Sql => (conditions.length === 0 ? FALSE : sql`(${join(conditions, sql` OR `)})`);

/** Makes a condition of a field's string; null where the field has none in this table. Over columns of few strings, where it can be, each of which is looked at once. */
export function onText(field: string, context: SqlContext, make: (value: Sql) => Sql): Sql | null {
  const columns = context.longer === undefined ? promotedIn(field, context) : undefined;
  if (columns !== undefined) return sql`if(${columns.isLong}, ${make(columns.long)}, ${make(columns.short)})`;
  const value = fieldText(field, context);
  return value === null ? null : make(value);
}

/** The same of a condition that no long value of a promoted field meets, nor what its short column has in place of one. */
export function onShortText(field: string, context: SqlContext, make: (value: Sql) => Sql): Sql | null {
  const value = promotedIn(field, context)?.short ?? fieldText(field, context);
  return value === null ? null : make(value);
}

/** `match()`, where `.` matches a newline. */
export const matchSql = (value: Sql, regexp: string): Sql => sql`match(${value}, ${text('(?s)' + groupWide(regexp))})`;

/** The field is not empty. */
export const existsSql = (field: string, context: SqlContext): Sql | null => onShortText(field, context, (value) => sql`${value} != ''`);

/** One of these fields of the map is there. */
export const anyFieldSql = (fields: readonly string[], { names }: Table): Sql => sql`hasAny(${names}, ${texts(fields)})`;

/** The field's string is exactly this. */
export function exactSql(field: string, value: string, context: SqlContext): Sql | null {
  if (value === '') return onNull(existsSql(field, context), not);
  const own = tableOf(field, context)?.isOneOf(field, [value]);
  if (own !== undefined) return own;
  const on = isLongValue(value) ? onLongText : onShortText;
  return on(field, context, (column) => and([...indexedWords(field, wordsOf(value), context), sql`${column} = ${text(value)}`]));
}

const isLongValue = (value: string): boolean => Buffer.byteLength(value) > MAX_PROMOTED_BYTES;

/** The same as `onText` of a condition that no short value of a promoted field meets. */
function onLongText(field: string, context: SqlContext, make: (value: Sql) => Sql): Sql | null {
  const columns = context.longer === undefined ? promotedIn(field, context) : undefined;
  return columns === undefined ? onText(field, context, make) : and([columns.isLong, make(columns.long)]);
}

const onNull = (value: Sql | null, make: (value: Sql) => Sql): Sql | null => (value === null ? null : make(value));

/** The field's string is one of these. */
export function inSql(field: string, values: readonly string[], context: SqlContext): Sql | null {
  const full = values.filter((value) => value !== '');
  if (full.length < values.length) {
    const missing = exactSql(field, '', context);
    const others = full.length === 0 ? FALSE : inSql(field, full, context);
    return missing === null || others === null ? null : or([missing, others]);
  }
  if (full.length === 0) return FALSE;
  if (full.length === 1) return exactSql(field, full[0] ?? '', context);
  const own = tableOf(field, context)?.isOneOf(field, full);
  if (own !== undefined) return own;
  const isOneOf = (list: readonly string[]) => (value: Sql) => or(inChunks(list).map((chunk) => sql`${value} IN ${texts(chunk)}`));
  const long = promotedIn(field, context) === undefined ? [] : full.filter(isLongValue);
  if (long.length === 0) return onShortText(field, context, isOneOf(full));
  const parts = [
    onShortText(field, context, isOneOf(full.filter((value) => !isLongValue(value)))),
    onLongText(field, context, isOneOf(long)),
  ];
  return parts.every((part) => part !== null) ? or(parts) : null;
}

/** Look-ups of words in an index of a field's text, to go before a dearer condition. */
export const indexedWords = (field: string, words: readonly string[], context: SqlContext): readonly Sql[] =>
  context.indexed ? context.table.indexedWords(field, words) : [];

/** The word or phrase is in the field; the empty phrase means a missing field. */
export function phraseSql(field: string, phrase: string, context: SqlContext): Sql | null {
  if (phrase === '' || tableOf(field, context)?.isOneWord(field) === true) return exactSql(field, phrase, context);
  const indexed = indexedWords(field, wordsOf(phrase), context);
  if (indexed.length > 0 && isOneWord(phrase)) return indexed[0] ?? null;
  return onText(field, context, (value) =>
    field === '_msg' ? and([...indexed, phraseInText(value, phrase)]) : or([sql`${value} = ${text(phrase)}`, phraseInText(value, phrase)]),
  );
}

/** The phrase in a string, without any index. */
function phraseInText(value: Sql, phrase: string): Sql {
  const checksStart = startsWithWord(phrase);
  const checksEnd = endsWithWord(phrase);
  const at = sql`position(${value}, ${text(phrase)})`;
  if (!checksStart && !checksEnd) return sql`${at} > 0`;
  const end = sql`${at} + ${uint32(Buffer.byteLength(phrase))}`;
  const neighbours = [...(checksStart ? [isNotWordByte(value, sql`${at} - 1`)] : []), ...(checksEnd ? [isNotWordByte(value, end)] : [])];
  return sql`(${at} > 0 AND ${plainOr(and(neighbours), value, phraseRegexp(phrase))})`;
}

/**
 * The neighbours are plain, or the regexp decides. A regexp with classes of letters takes two milliseconds to compile, for each block
 * of rows and while a statement is planned. For a dictionary column an array that is empty where all are plain keeps it from that; over
 * messages the arrays would cost more.
 */
function plainOr(plain: Sql, value: Sql, regexp: string): Sql {
  if (!isDictionary(value)) return sql`if(${plain}, 1, ${matchSql(value, regexp)})`;
  return sql`arrayAll(m -> ${matchSql(sql`m`, regexp)}, if(${plain}, emptyArrayString(), [toString(${value})]))`;
}

/** True for a column of few strings, or nearly always of the empty one. */
const isDictionary = (value: Sql): boolean =>
  value.values.length === 0 && /^(?:level|service|name|scope|scope_version|[fl]_[a-z]+)$/.test(value.strings.join(''));

const phraseRegexp = (phrase: string): string =>
  (startsWithWord(phrase) ? LEFT : '') + quoteRegexp(phrase) + (endsWithWord(phrase) ? RIGHT : '');

/** True when there is no byte at this place (from 1), or one of ASCII that is in no word. */
const isNotWordByte = (value: Sql, place: Sql): Sql => sql`substring(${value}, ${place}, 1) IN (${NO_WORD})`;

/** The phrases one after another in a string; each begins where the one before ended, or at a boundary later on. */
export function sequenceInText(value: Sql, phrases: readonly string[]): Sql {
  const noWord = '[^\\pL\\p{Nd}_]';
  let regexp = '';
  for (const [index, phrase] of phrases.entries()) {
    const before = phrases[index - 1];
    if (before === undefined) regexp += startsWithWord(phrase) ? LEFT : '';
    else if (startsWithWord(phrase)) regexp += endsWithWord(before) ? `${noWord}(?:|.*?${noWord})` : `(?:|.*?${noWord})`;
    else regexp += endsWithWord(before) ? `(?:|${noWord}.*?)` : '.*?';
    regexp += quoteRegexp(phrase);
  }
  return matchSql(value, `${regexp}${endsWithWord(phrases.at(-1) ?? '') ? RIGHT : ''}`);
}

/** A word that begins with the prefix (or the phrase with its last word open) is in the field. */
export function prefixSql(field: string, prefix: string, context: SqlContext): Sql | null {
  if (prefix === '') return existsSql(field, context);
  return onText(field, context, (value) => {
    const at = sql`position(${value}, ${text(prefix)})`;
    const words = indexedWords(field, wholeWordsOfPrefix(prefix), context);
    if (!startsWithWord(prefix)) return and([...words, sql`${at} > 0`]);
    return and([...words, sql`${at} > 0`, plainOr(isNotWordByte(value, sql`${at} - 1`), value, LEFT + quoteRegexp(prefix))]);
  });
}

/** As `phraseSql` and `prefixSql` (`isPrefix`), case-insensitive, exactly as `foldCase` folds. */
export function foldedSql(field: string, phrase: string, isPrefix: boolean, context: SqlContext): Sql | null {
  if (phrase === '') return isPrefix ? existsSql(field, context) : exactSql(field, '', context);
  const folded = foldCase(phrase);
  let regexp = '';
  for (const char of folded) {
    const variants = foldsTo(char);
    regexp += variants === char ? quoteRegexp(char) : `[${variants}]`;
  }
  const left = startsWithWord(folded) ? LEFT : '';
  const right = !isPrefix && endsWithWord(folded) ? RIGHT : '';
  return onText(field, context, (value) => {
    const literal = longestAsciiRun(folded);
    const hint = literal === '' ? [] : [sql`positionCaseInsensitive(${value}, ${text(literal)}) > 0`];
    return and([...hint, matchSql(value, left + regexp + right)]);
  });
}

/** The longest part of a folded string to which only ASCII folds (`İ` folds to i, the Kelvin sign to k). */
function longestAsciiRun(folded: string): string {
  const runs = folded.match(/[^ik\P{ASCII}]+/gu) ?? [];
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}
