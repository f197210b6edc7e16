/** The tree of an expression as the answer to `parse_query` has it. */
import type { Duration, Expression, Matching, Times, VectorSelector } from '../base/ast.ts';
import { functionNamed } from '../functions/index.ts';
import { plainNumber } from '../values/numbers.ts';

type Json = Readonly<Record<string, unknown>>;

/** A tree of plain objects. */
export function expressionJson(expression: Expression): Json {
  switch (expression.kind) {
    case 'number':
      return { type: 'numberLiteral', val: plainNumber(expression.value) };
    case 'string':
      return { type: 'stringLiteral', val: expression.value };
    case 'paren':
      return { type: 'parenExpr', expr: expressionJson(expression.expression) };
    case 'unary':
      return { type: 'unaryExpr', op: expression.operator, expr: expressionJson(expression.expression) };
    case 'binary':
      return {
        type: 'binaryExpr',
        op: expression.operator,
        lhs: expressionJson(expression.left),
        rhs: expressionJson(expression.right),
        matching: expression.matching === undefined ? null : matchingJson(expression.matching),
        bool: expression.isBool,
      };
    case 'call':
      return { type: 'call', func: functionJson(expression.name), args: expression.args.map(expressionJson) };
    case 'aggregation':
      return {
        type: 'aggregation',
        op: expression.operator,
        expr: expressionJson(expression.expression),
        param: expression.parameter === undefined ? null : expressionJson(expression.parameter),
        grouping: expression.grouping,
        without: expression.isWithout,
      };
    case 'vectorSelector':
      return { type: 'vectorSelector', ...selectorJson(expression) };
    case 'matrixSelector':
      return { type: 'matrixSelector', ...selectorJson(expression.selector), range: milliseconds(expression.window) };
    case 'subquery':
      return {
        type: 'subquery',
        expr: expressionJson(expression.expression),
        range: milliseconds(expression.window),
        step: milliseconds(expression.step ?? 0),
        ...timesJson(expression),
      };
  }
}

/** Durations that are computed later are 0 here. */
const milliseconds = (duration: Duration): number => (typeof duration === 'number' ? duration : 0);

const timesJson = ({ offset, at }: Times): Json => ({
  offset: milliseconds(offset),
  timestamp: typeof at === 'number' ? at : null,
  startOrEnd: typeof at === 'string' ? at : null,
});

function selectorJson(selector: VectorSelector): Json {
  return {
    name: selector.name,
    ...timesJson(selector),
    matchers: selector.matchers.map(({ name, value, type }) => ({ name, value, type })),
    anchored: false,
    smoothed: false,
  };
}

function matchingJson({ cardinality, labels, isOn, include, fillLeft, fillRight }: Matching): Json {
  return { card: cardinality, labels, on: isOn, include, fillValues: { lhs: fillLeft ?? null, rhs: fillRight ?? null } };
}

function functionJson(name: string): Json {
  const { args, variadic, returns } = functionNamed(name) ?? { args: [], variadic: 0, returns: 'vector' };
  return { name, argTypes: args, variadic, returnType: returns };
}
