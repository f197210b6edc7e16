/** The types of expressions, and what Prometheus refuses of them, in its words. */
import { aggregatorNamed } from '../aggregations/index.ts';
import {
  COMPARISONS,
  SETS,
  type Aggregation,
  type Binary,
  type Call,
  type Expression,
  type Matching,
  type ValueType,
} from '../base/ast.ts';
import type { Range } from '../base/errors.ts';
import { functionNamed } from '../functions/index.ts';
import { METRIC_NAME, quote } from '../values/labels.ts';

/** Reports an error. */
export type Fail = (range: Range, reason: string) => never;

const WORDS: Readonly<Record<ValueType, string>> = {
  scalar: 'scalar',
  vector: 'instant vector',
  matrix: 'range vector',
  string: 'string',
};

/** What a type is called in messages. */
export const typeText = (type: ValueType): string => WORDS[type];

/** The type of an expression whose parts are right. */
export function typeOf(expression: Expression): ValueType {
  switch (expression.kind) {
    case 'vectorSelector':
    case 'aggregation':
      return 'vector';
    case 'matrixSelector':
    case 'subquery':
      return 'matrix';
    case 'call':
      return functionNamed(expression.name)?.returns ?? 'vector';
    case 'number':
      return 'scalar';
    case 'string':
      return 'string';
    case 'paren':
    case 'unary':
      return typeOf(expression.expression);
    case 'binary':
      return expression.isScalar ? 'scalar' : 'vector';
  }
}

function expectType(expression: Expression, wanted: ValueType, context: string, fail: Fail): void {
  const type = typeOf(expression);
  if (type !== wanted) fail(expression.range, `expected type ${typeText(wanted)} in ${context}, got ${typeText(type)}`);
}

/** Refuses wrong numbers and types of arguments. */
export function checkCall({ name, args, range }: Call, fail: Fail): void {
  const known = functionNamed(name);
  if (known === undefined) return fail(range, `unknown function with name ${quote(name)}`);
  const { args: types, variadic } = known;
  const least = variadic === 0 ? types.length : types.length - 1;
  const most = variadic === 0 ? types.length : variadic < 0 ? Infinity : types.length - 1 + variadic;
  const counted = (bound: string, count: number): never =>
    fail(range, `expected ${bound}${String(count)} argument(s) in call to ${quote(name)}, got ${String(args.length)}`);
  if (variadic === 0 && args.length !== least) counted('', least);
  if (args.length < least) counted('at least ', least);
  if (args.length > most) counted('at most ', most);
  args.forEach((argument, at) => {
    expectType(argument, types[Math.min(at, types.length - 1)] ?? 'vector', `call to function ${quote(name)}`, fail);
  });
}

/** Refuses wrong operands and parameters of aggregations. */
export function checkAggregation({ operator, expression, parameter }: Aggregation, fail: Fail): void {
  expectType(expression, 'vector', 'aggregation expression', fail);
  const wanted = aggregatorNamed(operator)?.parameter;
  if (wanted !== undefined && parameter !== undefined) expectType(parameter, wanted, 'aggregation parameter', fail);
}

/** Where the operator of a binary expression stands. */
function operatorRange({ left, right }: Binary, query: string): Range {
  const between = query.slice(left.range.to, right.range.from);
  const from = left.range.to + between.length - between.trimStart().length;
  return { from, to: left.range.to + between.trimEnd().length };
}

/** The expression as it is evaluated; refuses what does not go together. */
export function checkedBinary(given: Omit<Binary, 'isScalar'>, query: string, fail: Fail): Binary {
  const { operator, left, right, isBool, range } = given;
  const [leftType, rightType] = [typeOf(left), typeOf(right)];
  const areScalars = leftType === 'scalar' && rightType === 'scalar';
  const node: Binary = { ...given, isScalar: areScalars };
  const isSet = SETS.has(operator);
  const isComparison = COMPARISONS.has(operator);
  const place = (): Range => operatorRange(node, query);
  if (isBool && !isComparison) fail(place(), 'bool modifier can only be used on comparison operators');
  if (isComparison && !isBool && areScalars) fail(place(), 'comparisons between scalars must use BOOL modifier');
  for (const side of [left, right])
    if (!['scalar', 'vector'].includes(typeOf(side)))
      fail(side.range, 'binary expression must contain only scalar and instant vector types');
  const { matching } = given;
  if (matching?.isOn === true)
    for (const label of matching.labels)
      if (matching.include.includes(label)) fail(place(), `label ${quote(label)} must not occur in ON and GROUP clause at once`);
  const hasFill = matching?.fillLeft !== undefined || matching?.fillRight !== undefined;
  if (leftType !== 'vector' || rightType !== 'vector') {
    if ((matching?.labels.length ?? 0) > 0) fail(range, 'vector matching only allowed between instant vectors');
    if (hasFill) fail(range, 'filling in missing series only allowed between instant vectors');
    if (isSet) fail(range, `set operator ${quote(operator)} not allowed in binary scalar expression`);
    return { ...node, matching: undefined };
  }
  const found: Matching = matching ?? ONE_TO_ONE;
  if (!isSet) return { ...node, matching: found };
  if (found.cardinality === 'many-to-one' || found.cardinality === 'one-to-many')
    fail(range, `no grouping allowed for ${quote(operator)} operation`);
  if (hasFill) fail(range, 'filling in missing series not allowed for set operators');
  return { ...node, matching: { ...found, cardinality: 'many-to-many' } };
}

const ONE_TO_ONE: Matching = { cardinality: 'one-to-one', labels: [], isOn: false, include: [], fillLeft: undefined, fillRight: undefined };

/** Refuses a selector that selects everything, or that names a metric twice. */
export function checkSelector(expression: Expression, fail: Fail): void {
  if (expression.kind !== 'vectorSelector') return;
  const { name, matchers, range } = expression;
  if (name !== '') {
    const twice = matchers.slice(0, -1).find((matcher) => matcher.name === METRIC_NAME);
    if (twice !== undefined) fail(range, `metric name must not be set twice: ${quote(name)} or ${quote(twice.value)}`);
  } else if (!matchers.some((matcher) => !matcher.matches(''))) fail(range, 'vector selector must contain at least one non-empty matcher');
}
