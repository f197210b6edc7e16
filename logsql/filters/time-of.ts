/** `_time:day_range[08:00, 18:00)` and `_time:week_range[Mon, Fri]`, both with `offset`. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { int64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import type { Lexer } from '../base/lexer.ts';
import type { Filter } from '../base/types.ts';
import { duration } from './duration.ts';

const DAY = 86_400_000_000_000n;
/** Bound as Int64: with the UInt64 of a literal, positiveModulo is wrong for times before 1970. */
const DAY_SQL = int64(DAY);
const WEEK = 7n * DAY;
const mod = (a: bigint, b: bigint): bigint => ((a % b) + b) % b;

/** Times whose position in a cycle lies from `first` to `last`, both included; `last` before `first` matches none. */
class CycleFilter implements Filter {
  readonly fields: readonly string[] = ['_time'];
  readonly #position: { readonly of: (ns: bigint) => bigint; readonly sql: Sql };
  readonly #first: bigint;
  readonly #last: bigint;
  readonly #written: string;
  constructor(position: { readonly of: (ns: bigint) => bigint; readonly sql: Sql }, first: bigint, last: bigint, written: string) {
    this.#position = position;
    this.#first = first;
    this.#last = last;
    this.#written = written;
  }
  toString(): string {
    return `_time:${this.#written}`;
  }
  matches(entry: LogEntry): boolean {
    const at = parseTime(textOf(entry.get('_time')));
    if (at === null) return false;
    const position = this.#position.of(at);
    return position >= this.#first && position <= this.#last;
  }
  sql(): Sql {
    return sql`(${this.#position.sql} >= ${int64(this.#first)} AND ${this.#position.sql} <= ${int64(this.#last)})`;
  }
}

type Written<T> = {
  readonly open: string;
  readonly close: string;
  readonly first: T;
  readonly last: T;
  readonly offset: bigint;
  readonly text: string;
};

function parseCycle<T>(lexer: Lexer, bound: (text: string) => T | null, expected: string): Written<T> {
  const name = lexer.next().toLowerCase();
  if (!lexer.is('[', '(')) lexer.fail(`expected "[" or "(" after ${name}`);
  const open = lexer.next();
  const [first, firstText] = parseBound(lexer, bound, expected);
  lexer.expect(',');
  const [last, lastText] = parseBound(lexer, bound, expected);
  if (!lexer.is(']', ')')) lexer.fail(`expected "]" or ")" after ${name}`);
  const close = lexer.next();
  const shift = lexer.accept('offset') ? duration(lexer, true) : null;
  const text = `${name}${open}${firstText}, ${lastText}${close}${shift === null ? '' : ` offset ${shift.text}`}`;
  return { open, close, first, last, offset: shift?.length ?? 0n, text };
}

function parseBound<T>(lexer: Lexer, bound: (text: string) => T | null, expected: string): [T, string] {
  const at = lexer.save();
  const text = lexer.compound(expected);
  const value = bound(text);
  if (value !== null) return [value, text];
  lexer.restore(at);
  return lexer.fail(`expected ${expected}`);
}

/** Nanoseconds since midnight; 24:00 is the last of them. */
function clockTime(text: string): bigint | null {
  const match = /^(\d\d):(\d\d)$/.exec(text);
  if (match === null || Number(match[1]) > 24 || Number(match[2]) > 59) return null;
  const ns = BigInt(Number(match[1]) * 60 + Number(match[2])) * 60_000_000_000n;
  return ns >= DAY ? DAY - 1n : ns;
}

export function parseDayRange(lexer: Lexer): Filter {
  const { open, close, first, last, offset: written, text } = parseCycle(lexer, clockTime, 'a time of day such as 08:30');
  const offset = mod(written, DAY);
  const position = {
    of: (ns: bigint): bigint => mod(ns - offset, DAY),
    sql: sql`positiveModulo(toUnixTimestamp64Nano(_time) - ${int64(offset)}, ${DAY_SQL})`,
  };
  return new CycleFilter(position, open === '(' ? first + 1n : first, close === ')' ? last - 1n : last, text);
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** 0 for Sunday to 6; three letters or the whole name. */
function weekday(text: string): bigint | null {
  const name = text.toLowerCase();
  const index = WEEKDAYS.findIndex((day) => day === name || day.slice(0, 3) === name);
  return index < 0 ? null : BigInt(index);
}

export function parseWeekRange(lexer: Lexer): Filter {
  const { open, close, first, last, offset: written, text } = parseCycle(lexer, weekday, 'a weekday such as Mon');
  const offset = mod(written, WEEK);
  const shifted = sql`(toUnixTimestamp64Nano(_time) - ${int64(offset)})`;
  // 1970-01-01 was a Thursday.
  const position = {
    of: (ns: bigint): bigint => mod((ns - offset - mod(ns - offset, DAY)) / DAY + 4n, 7n),
    sql: sql`positiveModulo(intDiv(${shifted} - positiveModulo(${shifted}, ${DAY_SQL}), ${DAY_SQL}) + 4, ${int64(7)})`,
  };
  return new CycleFilter(position, open === '(' ? first + 1n : first, close === ')' ? last - 1n : last, text);
}
