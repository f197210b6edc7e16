/** Durations of an expression: as they are read, and as milliseconds once the query's times are known. */
import type { Duration, DurationExpression, DurationOperator } from '../base/ast.ts';
import { PromqlRequestError } from '../base/errors.ts';
import { readDuration } from '../values/durations.ts';
import { readNumber } from '../values/numbers.ts';
import type { Fail } from './check.ts';
import { childrenOf, type SyntaxNode } from './tree.ts';

const OPERATORS: Readonly<Record<string, DurationOperator>> = { Add: '+', Sub: '-', Mul: '*', Div: '/', Mod: '%', Pow: '^' };
const CALLS: Readonly<Record<string, DurationOperator>> = {
  DurationStep: 'step',
  DurationRange: 'range',
  DurationMinOf: 'min_of',
  DurationMaxOf: 'max_of',
};

/** A number or duration as written, in seconds. */
export function readLiteral(text: string): { readonly value: number; readonly isDuration: boolean } {
  const plain = text.replace(/\s/g, '');
  const sign = plain.startsWith('-') ? -1 : 1;
  const digits = plain.replace(/^[+-]/, '');
  const duration = /^\d/.test(digits) && !/^0x/i.test(digits) ? readDuration(digits) : null;
  if (duration !== null && /[a-z]$/.test(digits)) return { value: (sign * duration) / 1000, isDuration: true };
  return { value: sign * (readNumber(digits) ?? NaN), isDuration: false };
}

/** Most seconds of a duration: what fits into 64 bits of nanoseconds. */
const LONGEST = 2 ** 63 / 1e9;

/** The duration of a node: milliseconds, or an expression. */
export function durationOf(node: SyntaxNode, query: string, fail: Fail): Duration {
  const read = expressionOf(node, query, fail);
  if (read.kind !== 'number') return read;
  if (!(Math.abs(read.value) <= LONGEST)) fail(read.range, 'duration out of range');
  return millisOf(read.value);
}

function expressionOf(node: SyntaxNode, query: string, fail: Fail): DurationExpression {
  const range = { from: node.from, to: node.to };
  const all = childrenOf(node);
  const parts = all.filter(({ name }) => name === 'DurationExpr' || name === 'OffsetDurationExpr');
  const [first, second] = parts.map((part) => expressionOf(part, query, fail));
  const make = (operator: DurationOperator, left?: DurationExpression, right?: DurationExpression): DurationExpression => ({
    kind: 'duration',
    operator,
    left,
    right,
    isWrapped: false,
    range,
  });
  const head = all[0]?.name ?? '';
  const call = CALLS[head];
  if (call !== undefined) return make(call, first, second);
  if (head === 'NumberDurationLiteralInDurationContext') return { kind: 'number', ...readLiteral(query.slice(node.from, node.to)), range };
  if (head === 'UnaryOp') {
    const isMinus = query[node.from] === '-';
    if (first?.kind === 'number') return { ...first, value: isMinus ? -first.value : first.value, range };
    return isMinus ? make('-', undefined, first) : (first ?? make('+'));
  }
  const operator = OPERATORS[all[1]?.name ?? ''];
  if (operator !== undefined) return make(operator, first, second);
  if (first === undefined) return fail(range, 'bad duration');
  return first.kind === 'number' ? wrapped(make('+', undefined, first)) : wrapped(first);
}

/** Whole milliseconds; what rounding of seconds has lost is not missing. */
const millisOf = (seconds: number): number => Math.trunc(Math.round(seconds * 1e9) / 1e6);

const wrapped = (expression: DurationExpression): DurationExpression =>
  expression.kind === 'duration' ? { ...expression, isWrapped: true } : expression;

/** The times of a query that durations may name, in milliseconds. */
export type QueryTimes = { readonly start: number; readonly end: number; readonly step: number };

/** Milliseconds of a duration. Throws where it is not above zero and has to be. */
export function resolveDuration(duration: Duration, times: QueryTimes, mayBeNegative: boolean): number {
  const seconds = typeof duration === 'number' ? duration / 1000 : evaluate(duration, times);
  if (seconds <= 0 && !mayBeNegative) throw new PromqlRequestError('duration must be greater than 0');
  if (!(Math.abs(seconds) <= LONGEST)) throw new PromqlRequestError('duration is out of range');
  return typeof duration === 'number' ? duration : millisOf(seconds);
}

function evaluate(expression: DurationExpression, times: QueryTimes): number {
  if (expression.kind === 'number') return expression.value;
  const { operator } = expression;
  const left = expression.left === undefined ? undefined : evaluate(expression.left, times);
  const right = expression.right === undefined ? 0 : evaluate(expression.right, times);
  if ((operator === '/' || operator === '%') && right === 0)
    throw new PromqlRequestError(operator === '/' ? 'division by zero' : 'modulo by zero');
  const compute: Readonly<Record<DurationOperator, (a: number, b: number) => number>> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
    '%': (a, b) => a % b,
    '^': (a, b) => a ** b,
    step: () => times.step / 1000,
    range: () => (times.end - times.start) / 1000,
    min_of: Math.min,
    max_of: Math.max,
  };
  return compute[operator](left ?? 0, right);
}
