/** Whether an expression has the same value at every step, so that one step is enough. */
import type { Expression } from '../base/ast.ts';
import { functionNamed } from '../functions/index.ts';

const KNOWN = new WeakMap<Expression, boolean>();

/** Whether nothing in it depends on the time of a step. */
export function isInvariant(expression: Expression): boolean {
  const known = KNOWN.get(expression);
  if (known !== undefined) return known;
  const found = decide(expression);
  KNOWN.set(expression, found);
  return found;
}

function decide(expression: Expression): boolean {
  switch (expression.kind) {
    case 'number':
    case 'string':
      return true;
    case 'vectorSelector':
    case 'subquery':
      return expression.at !== undefined;
    case 'matrixSelector':
      return expression.selector.at !== undefined;
    case 'paren':
    case 'unary':
      return isInvariant(expression.expression);
    case 'binary':
      return isInvariant(expression.left) && isInvariant(expression.right);
    case 'aggregation':
      return isInvariant(expression.expression) && (expression.parameter === undefined || isInvariant(expression.parameter));
    case 'call': {
      const known = functionNamed(expression.name);
      const usesTime = known !== undefined && 'usesTime' in known;
      return !usesTime && expression.args.every(isInvariant);
    }
  }
}
