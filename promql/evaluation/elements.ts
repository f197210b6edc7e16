/** A binary operator between two samples, each a number or a histogram. */
import { NOTES, type Note } from '../base/annotations.ts';
import { COMPARISONS, type Operator } from '../base/ast.ts';
import { addHistograms, subtractHistograms } from '../histograms/arithmetic.ts';
import { compact, divide, equalHistograms, scale, type Histogram } from '../histograms/histogram.ts';
import { trimHistogram } from '../histograms/trim.ts';

export type Sample = number | Histogram;

/** Of two numbers: arithmetic. */
const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '^': power,
  atan2: Math.atan2,
};

/** As C's pow has it: 1 to any power, and anything to the power of 0, is 1. */
function power(base: number, exponent: number): number {
  return base === 1 || (base === -1 && (exponent === Infinity || exponent === -Infinity)) ? 1 : base ** exponent;
}

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Whether the result is another quantity than its left side: its name goes. */
export const isArithmetic = (operator: Operator): boolean => ARITHMETIC[operator] !== undefined;

/** The operator of two scalars; a comparison gives 0 or 1. */
export function scalarOperator(operator: Operator): (a: number, b: number) => number {
  const compare = COMPARE[operator];
  if (compare !== undefined) return (a, b) => (compare(a, b) ? 1 : 0);
  const compute = ARITHMETIC[operator];
  if (compute === undefined) throw new Error(`BUG: ${operator} is not for scalars`);
  return compute;
}

/** The result of an operator; undefined where there is none. */
export type Element = { readonly sample: Sample | undefined; readonly isKept: boolean };

const NONE: Element = { sample: undefined, isKept: false };
const typeName = (sample: Sample): string => (typeof sample === 'number' ? 'float' : 'histogram');

/** The operator of two samples. `note` is given what the result should be known for. */
export function combineElements(operator: Operator, left: Sample, right: Sample, note: (note: Note) => void): Element {
  if (typeof left === 'number' && typeof right === 'number') {
    const compute = ARITHMETIC[operator];
    if (compute !== undefined) return { sample: compute(left, right), isKept: true };
    const compare = COMPARE[operator];
    if (compare !== undefined) return { sample: left, isKept: compare(left, right) };
  } else {
    const found =
      typeof left === 'number' || typeof right === 'number' ? mixed(operator, left, right) : histograms(operator, left, right, note);
    if (found !== undefined) return found;
  }
  note(NOTES.incompatibleTypes(typeName(left), operator, typeName(right)));
  return NONE;
}

function mixed(operator: Operator, left: Sample, right: Sample): Element | undefined {
  const kept = (sample: Histogram): Element => ({ sample, isKept: true });
  if (typeof left === 'number') return operator === '*' && typeof right !== 'number' ? kept(compact(scale(right, left))) : undefined;
  if (typeof right !== 'number') return undefined;
  if (operator === '*') return kept(compact(scale(left, right)));
  if (operator === '/') return kept(compact(divide(left, right)));
  if (operator === '</') return kept(trimHistogram(left, right, 'below'));
  return operator === '>/' ? kept(trimHistogram(left, right, 'above')) : undefined;
}

function histograms(operator: Operator, left: Histogram, right: Histogram, note: (note: Note) => void): Element | undefined {
  if (operator === '==') return { sample: left, isKept: equalHistograms(left, right) };
  if (operator === '!=') return { sample: left, isKept: !equalHistograms(left, right) };
  if (operator !== '+' && operator !== '-') return undefined;
  const combined = (operator === '+' ? addHistograms : subtractHistograms)(left, right);
  if (combined === null) {
    note(NOTES.incompatibleBuckets(operator));
    return NONE;
  }
  const operation = operator === '+' ? 'addition' : 'subtraction';
  if (combined.isCollision) note(NOTES.resetCollision(operation));
  if (combined.isReconciled) note(NOTES.reconciledBounds(operation));
  const { histogram } = combined;
  return { sample: compact(operator === '+' ? histogram : { ...histogram, hint: 'gauge' }), isKept: true };
}

export const isComparison = (operator: Operator): boolean => COMPARISONS.has(operator);
