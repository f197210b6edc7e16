/** Arithmetic of the `math` pipe: expressions over fields, numbers and functions. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { float64, join, sql, type Sql } from '../../pipeline/core/sql.ts';
import type { Lexer } from '../base/lexer.ts';
import { formatFloat, isNumberPrefix, numericValue } from '../values/numbers.ts';
import { quote } from '../base/reserved.ts';
import type { RowInput } from '../base/types.ts';

/** A value worked out of a row; NaN where a part of it is not a number. */
export interface Expression {
  toString(): string;
  readonly fields: readonly string[];
  value(row: LogEntry, now: number): number;
  /** The same in SQL, to the last bit, as a Float64; null where ClickHouse counts in another way. */
  sql(input: NumberInput): Sql | null;
}

/** What an expression stands on, in SQL. */
export type NumberInput = Pick<RowInput, 'name' | 'doubt'> & {
  /** A field as a Float64, NaN where it is not a number; null where SQL has none. */
  number(field: string): Sql | null;
  readonly now: number;
};

type Operator = {
  readonly rank: number;
  readonly apply: (a: number, b: number) => number;
  readonly sql?: (a: Sql, b: Sql, input: NumberInput) => Sql;
};

/** Both as unsigned 64-bit integers; NaN where one is not a number. */
function bits(apply: (a: bigint, b: bigint) => bigint): (a: number, b: number) => number {
  const whole = (value: number): bigint => BigInt.asUintN(64, BigInt(Math.trunc(value)));
  return (a, b) => (Number.isFinite(a) && Number.isFinite(b) ? Number(apply(whole(a), whole(b))) : NaN);
}

/** Operators by name; the smallest rank binds most. All of them group to the left. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  '^': { rank: 1, apply: (a, b) => a ** b },
  '*': { rank: 2, apply: (a, b) => a * b, sql: (a, b) => sql`(${a} * ${b})` },
  '/': { rank: 2, apply: (a, b) => a / b, sql: (a, b) => sql`(${a} / ${b})` },
  '%': { rank: 2, apply: (a, b) => a % b, sql: remainderSql },
  '+': { rank: 3, apply: (a, b) => a + b, sql: (a, b) => sql`(${a} + ${b})` },
  '-': { rank: 3, apply: (a, b) => a - b, sql: (a, b) => sql`(${a} - ${b})` },
  '&': { rank: 4, apply: bits((a, b) => a & b) },
  xor: { rank: 5, apply: bits((a, b) => a ^ b) },
  or: { rank: 6, apply: bits((a, b) => a | b) },
  default: {
    rank: 7,
    apply: (a, b) => (Number.isNaN(a) ? b : a),
    sql: (a, b, { name }) => {
      const value = name(a);
      return choose(sql`isNaN(${value})`, b, value);
    },
  },
};
const LOWEST = 7;

/** One of two values. With if() ClickHouse would compute the parts of the values again at each place, in nested ones without bounds. */
const choose = (condition: Sql, yes: Sql, no: Sql): Sql => sql`[${no}, ${yes}][1 + (${condition})]`;

/** ClickHouse divides and multiplies back, which is right for whole numbers alone, as integers. The sign of a zero is that of `a`. */
function remainderSql(a: Sql, b: Sql, input: NumberInput): Sql {
  const [of, by] = [input.name(a), input.name(b)];
  const isWhole = (value: Sql): Sql => sql`(abs(${value}) < 9007199254740992.) * (trunc(${value}) = ${value})`;
  const isExact = input.name(sql`${isWhole(of)} * ${isWhole(by)} * (${by} != 0)`);
  input.doubt(sql`(1 - ${isExact}) * isFinite(${of}) * isFinite(${by}) * (${by} != 0) > 0`);
  const whole = (value: Sql, otherwise: Sql): Sql => sql`toInt64(${choose(isExact, value, otherwise)})`;
  const rest = input.name(sql`toFloat64(modulo(${whole(of, sql`0.`)}, ${whole(by, sql`1.`)}))`);
  const special = choose(sql`isFinite(${of}) * isInfinite(${by})`, of, sql`nan`);
  return choose(isExact, choose(sql`${rest} = 0`, sql`${of} * 0`, rest), special);
}

type Call = {
  readonly least: number;
  readonly most: number;
  readonly apply: (values: readonly number[], now: number) => number;
  /** Null where there is none for this number of arguments. */
  readonly sql?: (values: readonly Sql[], input: NumberInput) => Sql | null;
};

const extreme =
  (pick: (a: number, b: number) => number) =>
  (values: readonly number[]): number =>
    values.reduce((best, value) => (Number.isNaN(best) ? value : Number.isNaN(value) ? best : pick(best, value)), NaN);

/** The first or last of those that are numbers; of zeros the one with this sign (that of `1 / 0`), if there is one. */
const extremeSql =
  (of: (list: Sql) => Sql, sign: Sql) =>
  (values: readonly Sql[], { name }: NumberInput): Sql => {
    const numbers = name(sql`arrayFilter(n -> NOT isNaN(n), [${join(values, sql`, `)}])`);
    const best = name(of(numbers));
    const zero = sql`has(arrayMap(n -> 1 / n, ${numbers}), ${sign})`;
    return choose(sql`empty(${numbers})`, sql`nan`, choose(sql`${best} = 0`, sql`(1 / ${choose(zero, sign, sql`negate(${sign})`)})`, best));
  };

/** Halves away from zero. */
function roundSql([value, step]: readonly Sql[], { name }: NumberInput): Sql | null {
  if (value === undefined || step !== undefined) return null;
  const whole = name(sql`trunc(${value})`);
  return choose(sql`abs(${value} - ${whole}) >= 0.5`, sql`${whole} + sign(${value})`, whole);
}

const one =
  (make: (value: Sql) => Sql) =>
  ([value]: readonly Sql[]): Sql | null =>
    value === undefined ? null : make(value);

/** To the nearest multiple, counted in the last decimal of that step. */
function roundTo(value: number, step: number): number {
  const decimals = (/\.(\d+)/.exec(formatFloat(step))?.[1] ?? '').length;
  const scale = 10 ** decimals;
  const shifted = value + 0.5 * Math.sign(value) * Math.abs(step);
  return Math.trunc((shifted - (shifted % step)) * scale + Math.sign(value) * 1e-9) / scale;
}

const CALLS: Readonly<Record<string, Call>> = {
  abs: { least: 1, most: 1, apply: ([a = NaN]) => Math.abs(a), sql: one((value) => sql`abs(${value})`) },
  ceil: { least: 1, most: 1, apply: ([a = NaN]) => Math.ceil(a), sql: one((value) => sql`ceil(${value})`) },
  exp: { least: 1, most: 1, apply: ([a = NaN]) => Math.exp(a) },
  floor: { least: 1, most: 1, apply: ([a = NaN]) => Math.floor(a), sql: one((value) => sql`floor(${value})`) },
  ln: { least: 1, most: 1, apply: ([a = NaN]) => Math.log(a) },
  max: { least: 1, most: Infinity, apply: extreme(Math.max), sql: extremeSql((numbers) => sql`arrayMax(${numbers})`, sql`inf`) },
  min: { least: 1, most: Infinity, apply: extreme(Math.min), sql: extremeSql((numbers) => sql`arrayMin(${numbers})`, sql`-inf`) },
  now: { least: 0, most: 0, apply: (_values, now) => now, sql: (_values, { now }) => sql`${float64(now)}` },
  rand: { least: 0, most: 0, apply: () => Math.random() },
  round: {
    least: 1,
    most: 2,
    apply: ([a = NaN, step]) => (step === undefined ? Math.sign(a) * Math.round(Math.abs(a)) : roundTo(a, step)),
    sql: roundSql,
  },
};

const constant = (text: string, value: number): Expression => ({
  toString: () => text,
  fields: [],
  value: () => value,
  sql: () => sql`${float64(value)}`,
});
const field = (name: string): Expression => ({
  toString: () => quote(name),
  fields: [name],
  value: (row) => numericValue(textOf(row.get(name))),
  sql: (input) => input.number(name),
});
const negated = (part: Expression): Expression => ({
  toString: () => `-${part.toString()}`,
  fields: part.fields,
  value: (row, now) => -part.value(row, now),
  sql: (input) => {
    const value = part.sql(input);
    return value === null ? null : sql`negate(${value})`;
  },
});
const grouped = (part: Expression): Expression => ({
  toString: () => `(${part.toString()})`,
  fields: part.fields,
  value: (row, now) => part.value(row, now),
  sql: (input) => part.sql(input),
});

function binary(name: string, { apply, sql: make }: Operator, left: Expression, right: Expression): Expression {
  return {
    toString: () => `${left.toString()} ${name} ${right.toString()}`,
    fields: [...left.fields, ...right.fields],
    value: (row, now) => apply(left.value(row, now), right.value(row, now)),
    sql: (input) => {
      if (make === undefined) return null;
      const [a, b] = [left.sql(input), right.sql(input)];
      return a === null || b === null ? null : make(a, b, input);
    },
  };
}

function call(name: string, { apply, sql: make }: Call, parts: readonly Expression[]): Expression {
  return {
    toString: () => `${name}(${parts.map(String).join(', ')})`,
    fields: parts.flatMap((part) => part.fields),
    value: (row, now) =>
      apply(
        parts.map((part) => part.value(row, now)),
        now,
      ),
    sql: (input) => {
      const values = make === undefined ? [] : parts.map((part) => part.sql(input));
      return make === undefined || values.includes(null) ? null : make(values as readonly Sql[], input);
    },
  };
}

const OPERATOR_STOPS = ['+', '-', '*', '/', '%', '^', '&', ',', ')', '(', '|', ''];

/** Deepest nesting of parentheses and signs. */
const MAX_DEPTH = 100;

/** Reads an expression up to a comma, a name or the end of the pipe. */
export function parseExpression(lexer: Lexer, rank = LOWEST, depth = 0): Expression {
  if (depth > MAX_DEPTH) lexer.fail(`expected at most ${String(MAX_DEPTH)} levels of nesting`);
  if (rank === 0) return parseOperand(lexer, depth);
  let left = parseExpression(lexer, rank - 1, depth);
  for (;;) {
    const name = lexer.keyword ?? '';
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (operator?.rank !== rank) return left;
    lexer.next();
    left = binary(name, operator, left, parseExpression(lexer, rank - 1, depth));
  }
}

function parseOperand(lexer: Lexer, depth: number): Expression {
  if (lexer.accept('(')) {
    const inside = parseExpression(lexer, LOWEST, depth + 1);
    lexer.expect(')');
    return grouped(inside);
  }
  if (lexer.accept('-')) return negated(parseOperandWithin(lexer, depth));
  if (lexer.accept('+')) return parseOperandWithin(lexer, depth);
  if (lexer.is(...OPERATOR_STOPS)) return lexer.fail('expected a field, a number or a function');
  const name = lexer.keyword ?? '';
  if (Object.hasOwn(CALLS, name)) {
    const at = lexer.save();
    lexer.next();
    if (lexer.is('(')) return parseCall(lexer, name, depth);
    lexer.restore(at);
  }
  const isQuoted = lexer.current.kind === 'quoted';
  const text = lexer.operand(OPERATOR_STOPS);
  const value = numericValue(text);
  return !isQuoted && isNumberPrefix(text) && !Number.isNaN(value) ? constant(text, value) : field(text);
}

function parseOperandWithin(lexer: Lexer, depth: number): Expression {
  if (depth >= MAX_DEPTH) lexer.fail(`expected at most ${String(MAX_DEPTH)} levels of nesting`);
  return parseOperand(lexer, depth + 1);
}

function parseCall(lexer: Lexer, name: string, depth: number): Expression {
  const spec = CALLS[name];
  lexer.expect('(');
  const parts: Expression[] = [];
  while (!lexer.accept(')')) {
    parts.push(parseExpression(lexer, LOWEST, depth + 1));
    if (!lexer.is(')')) lexer.expect(',');
  }
  if (spec === undefined || parts.length < spec.least || parts.length > spec.most)
    return lexer.fail(`expected another number of arguments of ${name}()`);
  return call(name, spec, parts);
}
