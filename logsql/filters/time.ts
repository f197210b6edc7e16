/** `_time:` in all its forms: a unit of time, a range, a comparison, a duration before now, each with an `offset`; hours and weekdays. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import type { Lexer } from '../base/lexer.ts';
import { readTime, type WrittenTime } from '../values/times.ts';
import type { Filter, FilterSpec, Parser } from '../base/types.ts';
import { momentSql } from '../sql/time.ts';
import { duration, printToken } from './duration.ts';
import { parseDayRange, parseWeekRange } from './time-of.ts';

/** Entries from `min` to `max` (nanoseconds, both included); null is without end. */
export class TimeFilter implements Filter {
  readonly fields: readonly string[] = ['_time'];
  readonly min: bigint | null;
  readonly max: bigint | null;
  readonly #written: string;
  constructor(min: bigint | null, max: bigint | null, written: string) {
    this.min = min;
    this.max = max;
    this.#written = written;
  }
  toString(): string {
    return `_time:${this.#written}`;
  }
  matches(entry: LogEntry): boolean {
    const at = parseTime(textOf(entry.get('_time')));
    return at !== null && (this.min === null || at >= this.min) && (this.max === null || at <= this.max);
  }
  sql(): Sql {
    if (this.min !== null && this.max !== null) return sql`(_time >= ${momentSql(this.min)} AND _time <= ${momentSql(this.max)})`;
    if (this.min !== null) return sql`_time >= ${momentSql(this.min)}`;
    return this.max === null ? sql`1` : sql`_time <= ${momentSql(this.max)}`;
  }
}

type Range = { readonly min: bigint | null; readonly max: bigint | null; readonly written: string };

const startsLikeTime = (lexer: Lexer): boolean => lexer.is('now') || /^[0-9]{4}(?:$|[-+Zz])/.test(lexer.token);

function time(parser: Parser): { readonly at: WrittenTime; readonly text: string } {
  const mark = parser.lexer.save();
  const text = parser.lexer.compound('a time');
  const at = readTime(text, parser.now);
  if (at !== null) return { at, text: printToken(text) };
  parser.lexer.restore(mark);
  return parser.lexer.fail('expected a time such as 2026-11-18T10:05Z');
}

/** `[a, b)` and its like, from the opening bracket on. */
function parseInterval(parser: Parser): Range {
  const { lexer } = parser;
  const open = lexer.next();
  const from = time(parser);
  lexer.expect(',');
  const to = time(parser);
  if (!lexer.is(')', ']')) lexer.fail('expected ")" or "]" after the end of a time range');
  const close = lexer.next();
  return {
    min: open === '[' ? from.at.start : from.at.start + 1n,
    max: close === ']' ? to.at.end : to.at.start - 1n,
    written: `${open}${from.text},${to.text}${close}`,
  };
}

/** `>t`, `>=t`, `<t`, `<=t`; with a duration in place of a time: older or younger than that. */
function parseComparison(parser: Parser): Range {
  const { lexer, now } = parser;
  const isGreater = lexer.next() === '>';
  const isIncluded = lexer.accept('=');
  const operator = (isGreater ? '>' : '<') + (isIncluded ? '=' : '');
  if (startsLikeTime(lexer)) {
    const { at, text } = time(parser);
    if (isGreater) return { min: isIncluded ? at.start : at.start + 1n, max: null, written: operator + text };
    return { min: null, max: isIncluded ? at.end : at.start - 1n, written: operator + text };
  }
  const { length, text } = duration(lexer);
  if (isGreater) return { min: null, max: now - length - (isIncluded ? 0n : 1n), written: operator + text };
  return { min: now - length + (isIncluded ? 0n : 1n), max: now, written: operator + text };
}

function parseRange(parser: Parser): Range {
  const { lexer, now } = parser;
  if (lexer.is('>', '<')) return parseComparison(parser);
  if (lexer.is('[', '(')) return parseInterval(parser);
  const operator = lexer.accept('=') ? '=' : '';
  if (startsLikeTime(lexer)) {
    const { at, text } = time(parser);
    return { min: at.start, max: at.end, written: operator + text };
  }
  const { length, text } = duration(lexer);
  return { min: now - length, max: now, written: operator + text };
}

function parseTimeFilter(parser: Parser): Filter {
  const { lexer } = parser;
  if (lexer.is('day_range')) return parseDayRange(lexer);
  if (lexer.is('week_range')) return parseWeekRange(lexer);
  const range: Range = lexer.is('offset') ? { min: null, max: parser.now, written: '' } : parseRange(parser);
  if (!lexer.accept('offset')) return new TimeFilter(range.min, range.max, range.written);
  const { length, text } = duration(lexer, true);
  const shift = (at: bigint | null): bigint | null => (at === null ? null : at - length);
  return new TimeFilter(shift(range.min), shift(range.max), `${range.written}${range.written === '' ? '' : ' '}offset ${text}`);
}

const INPUT = [
  { _time: '2026-11-18T10:04:59Z', _msg: 'a' },
  { _time: '2026-11-18T10:05:30Z', _msg: 'b' },
];
const SECOND = [{ _time: '2026-11-18T10:05:30Z', _msg: 'b' }];

export const timeField: FilterSpec = {
  names: ['_time'],
  kind: 'field',
  examples: [
    { query: '_time:2026-11-18T10:05Z', input: INPUT, output: SECOND },
    { query: '_time:[2026-11-18T10:05Z, 2026-11-18T10:06Z)', input: INPUT, output: SECOND },
    { query: '_time:>2026-11-18T10:05Z', input: INPUT, output: SECOND },
    { query: '_time:2026-11-18T11:05Z offset 1h', input: INPUT, output: SECOND },
    { query: '_time:day_range[10:05, 18:00)', input: INPUT, output: SECOND },
    { query: '_time:week_range[Sat, Sun]', input: INPUT, output: [] },
  ],
  parse: (parser) => parseTimeFilter(parser),
};
