/** Expressions as Prometheus prints them: on one line, or (`format_query`) on several where a line would be longer than 100 characters. */
import {
  type Aggregation,
  type Binary,
  type Call,
  type Duration,
  type DurationExpression,
  type Expression,
  type Matching,
  type Subquery,
  type Times,
  type VectorSelector,
} from '../base/ast.ts';
import { aggregatorNamed } from '../aggregations/index.ts';
import { durationText } from '../values/durations.ts';
import { METRIC_NAME, quote } from '../values/labels.ts';
import { plainNumber, shortNumber } from '../values/numbers.ts';

const LINE = 100;

/** The expression on one line; reads back as the same. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'number':
      return expression.isDuration ? durationText(Math.round(expression.value * 1000)) : plainNumber(expression.value);
    case 'string':
      return quote(expression.value);
    case 'paren':
      return `(${printExpression(expression.expression)})`;
    case 'unary':
      return `${expression.operator}${printExpression(expression.expression)}`;
    case 'binary':
      return `${printExpression(expression.left)} ${operatorText(expression)} ${printExpression(expression.right)}`;
    case 'call':
      return `${expression.name}(${expression.args.map(printExpression).join(', ')})`;
    case 'aggregation':
      return `${headText(expression)}(${argumentsOf(expression).map(printExpression).join(', ')})`;
    case 'vectorSelector':
      return `${selectorText(expression)}${timesText(expression)}`;
    case 'matrixSelector':
      return `${selectorText(expression.selector)}[${lengthText(expression.window)}]${timesText(expression.selector)}`;
    case 'subquery':
      return `${printExpression(expression.expression)}${windowText(expression)}`;
  }
}

/** Names in a list: those that are no plain words in quotes. */
const names = (list: readonly string[]): string => list.map((name) => (/^[A-Za-z_]\w*$/.test(name) ? name : quote(name))).join(', ');

function operatorText({ operator, isBool, matching }: Binary): string {
  return `${operator}${isBool ? ' bool' : ''}${matching === undefined ? '' : matchingText(matching)}`;
}

function matchingText({ cardinality, labels, isOn, include, fillLeft, fillRight }: Matching): string {
  const isGrouped = cardinality === 'many-to-one' || cardinality === 'one-to-many';
  const parts: string[] = [];
  if (labels.length > 0 || isOn || isGrouped) parts.push(` ${isOn ? 'on' : 'ignoring'} (${names(labels)})`);
  if (isGrouped) parts.push(` group_${cardinality === 'many-to-one' ? 'left' : 'right'} (${names(include)})`);
  if (fillLeft !== undefined && Object.is(fillLeft, fillRight)) parts.push(` fill (${shortNumber(fillLeft)})`);
  else {
    if (fillLeft !== undefined) parts.push(` fill_left (${shortNumber(fillLeft)})`);
    if (fillRight !== undefined) parts.push(` fill_right (${shortNumber(fillRight)})`);
  }
  return parts.join('');
}

function headText({ operator, grouping, isWithout }: Aggregation): string {
  if (isWithout) return `${operator} without (${names(grouping)}) `;
  return grouping.length === 0 ? operator : `${operator} by (${names(grouping)}) `;
}

const argumentsOf = ({ operator, parameter, expression }: Aggregation): readonly Expression[] =>
  parameter === undefined || aggregatorNamed(operator)?.parameter === undefined ? [expression] : [parameter, expression];

function selectorText({ name, matchers }: VectorSelector): string {
  const shown = matchers
    .filter((matcher) => name === '' || matcher.name !== METRIC_NAME || matcher.type !== '=' || matcher.value !== name)
    .map(String)
    .sort();
  return `${name}${shown.length === 0 ? '' : `{${shown.join(',')}}`}`;
}

function timesText({ offset, at }: Times): string {
  const shift = offset === 0 ? '' : ` offset ${lengthText(offset)}`;
  if (at === undefined) return shift;
  return ` @ ${typeof at === 'number' ? (at / 1000).toFixed(3) : `${at}()`}${shift}`;
}

function windowText(node: Subquery): string {
  return `[${lengthText(node.window)}:${node.step === undefined ? '' : lengthText(node.step)}]${timesText(node)}`;
}

const lengthText = (duration: Duration): string => (typeof duration === 'number' ? durationText(duration) : expressionText(duration));

function expressionText(expression: DurationExpression): string {
  if (expression.kind === 'number')
    return expression.isDuration ? durationText(Math.round(expression.value * 1000)) : plainNumber(expression.value);
  const { operator, left, right, isWrapped } = expression;
  const [one, two] = [left, right].map((side) => (side === undefined ? '' : expressionText(side)));
  const text = (): string => {
    if (operator === 'step' || operator === 'range') return `${operator}()`;
    if (operator === 'min_of' || operator === 'max_of') return `${operator}(${one ?? ''}, ${two ?? ''})`;
    if (left === undefined) return `${operator === '-' ? '-' : ''}${two ?? ''}`;
    return `${one ?? ''} ${operator} ${two ?? ''}`;
  };
  return isWrapped ? `(${text()})` : text();
}

/** The expression with lines of at most 100 characters, where that is possible. */
export function formatExpression(expression: Expression, level = 0): string {
  const indent = '  '.repeat(level);
  const line = printExpression(expression);
  const inner = (expressions: readonly Expression[]): string => expressions.map((one) => formatExpression(one, level + 1)).join(',\n');
  if (expression.kind === 'subquery') return `${formatExpression(expression.expression, level)}${windowText(expression)}`;
  if (expression.kind === 'unary') return `${indent}${expression.operator}${formatExpression(expression.expression, level).trim()}`;
  if (line.length <= LINE) return `${indent}${line}`;
  switch (expression.kind) {
    case 'aggregation':
      return `${indent}${headText(expression)}(\n${inner(argumentsOf(expression))}\n${indent})`;
    case 'binary':
      return `${inner([expression.left])}\n${indent}${operatorText(expression)}\n${inner([expression.right])}`;
    case 'call':
      return callLines(expression, inner, indent);
    case 'paren':
      return `${indent}(\n${inner([expression.expression])}\n${indent})`;
    default:
      return `${indent}${line}`;
  }
}

const callLines = ({ name, args }: Call, inner: (args: readonly Expression[]) => string, indent: string): string =>
  `${indent}${name}(\n${inner(args)}\n${indent})`;
