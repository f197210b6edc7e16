/** Arithmetic of the `math` pipe: expressions over fields, numbers and functions. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import type { Lexer } from '../lexer.ts';
import { formatFloat, isNumberPrefix, numericValue } from '../numbers.ts';
import { quote } from '../reserved.ts';

/** A value worked out of a row; NaN where a part of it is no number. */
export interface Expression {
  toString(): string;
  readonly fields: readonly string[];
  value(row: LogEntry, now: number): number;
}

type Operator = { readonly rank: number; readonly apply: (a: number, b: number) => number };

/** Both as unsigned 64-bit integers; NaN where one is no number. */
function bits(apply: (a: bigint, b: bigint) => bigint): (a: number, b: number) => number {
  const whole = (value: number): bigint => BigInt.asUintN(64, BigInt(Math.trunc(value)));
  return (a, b) => (Number.isFinite(a) && Number.isFinite(b) ? Number(apply(whole(a), whole(b))) : NaN);
}

/** Operators by name; the smallest rank binds most. All of them group to the left. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  '^': { rank: 1, apply: (a, b) => a ** b },
  '*': { rank: 2, apply: (a, b) => a * b },
  '/': { rank: 2, apply: (a, b) => a / b },
  '%': { rank: 2, apply: (a, b) => a % b },
  '+': { rank: 3, apply: (a, b) => a + b },
  '-': { rank: 3, apply: (a, b) => a - b },
  '&': { rank: 4, apply: bits((a, b) => a & b) },
  xor: { rank: 5, apply: bits((a, b) => a ^ b) },
  or: { rank: 6, apply: bits((a, b) => a | b) },
  default: { rank: 7, apply: (a, b) => (Number.isNaN(a) ? b : a) },
};
const LOWEST = 7;

type Call = { readonly least: number; readonly most: number; readonly apply: (values: readonly number[], now: number) => number };

const extreme =
  (pick: (a: number, b: number) => number) =>
  (values: readonly number[]): number =>
    values.reduce((best, value) => (Number.isNaN(best) ? value : Number.isNaN(value) ? best : pick(best, value)), NaN);

/** To the nearest multiple, counted in the last decimal of that step. */
function roundTo(value: number, step: number): number {
  const decimals = (/\.(\d+)/.exec(formatFloat(step))?.[1] ?? '').length;
  const scale = 10 ** decimals;
  const shifted = value + 0.5 * Math.sign(value) * Math.abs(step);
  return Math.trunc((shifted - (shifted % step)) * scale + Math.sign(value) * 1e-9) / scale;
}

const CALLS: Readonly<Record<string, Call>> = {
  abs: { least: 1, most: 1, apply: ([a = NaN]) => Math.abs(a) },
  ceil: { least: 1, most: 1, apply: ([a = NaN]) => Math.ceil(a) },
  exp: { least: 1, most: 1, apply: ([a = NaN]) => Math.exp(a) },
  floor: { least: 1, most: 1, apply: ([a = NaN]) => Math.floor(a) },
  ln: { least: 1, most: 1, apply: ([a = NaN]) => Math.log(a) },
  max: { least: 1, most: Infinity, apply: extreme(Math.max) },
  min: { least: 1, most: Infinity, apply: extreme(Math.min) },
  now: { least: 0, most: 0, apply: (_values, now) => now },
  rand: { least: 0, most: 0, apply: () => Math.random() },
  round: {
    least: 1,
    most: 2,
    apply: ([a = NaN, step]) => (step === undefined ? Math.sign(a) * Math.round(Math.abs(a)) : roundTo(a, step)),
  },
};

const constant = (text: string, value: number): Expression => ({ toString: () => text, fields: [], value: () => value });
const field = (name: string): Expression => ({
  toString: () => quote(name),
  fields: [name],
  value: (row) => numericValue(textOf(row.get(name))),
});
const negated = (part: Expression): Expression => ({
  toString: () => `-${part.toString()}`,
  fields: part.fields,
  value: (row, now) => -part.value(row, now),
});
const grouped = (part: Expression): Expression => ({
  toString: () => `(${part.toString()})`,
  fields: part.fields,
  value: (row, now) => part.value(row, now),
});

function binary(name: string, { apply }: Operator, left: Expression, right: Expression): Expression {
  return {
    toString: () => `${left.toString()} ${name} ${right.toString()}`,
    fields: [...left.fields, ...right.fields],
    value: (row, now) => apply(left.value(row, now), right.value(row, now)),
  };
}

function call(name: string, { apply }: Call, parts: readonly Expression[]): Expression {
  return {
    toString: () => `${name}(${parts.map(String).join(', ')})`,
    fields: parts.flatMap((part) => part.fields),
    value: (row, now) =>
      apply(
        parts.map((part) => part.value(row, now)),
        now,
      ),
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
