/** The tree of an expression. It is not changed after it was made. */
import type { Matcher } from '../values/matcher.ts';
import type { Range } from './errors.ts';

export type ValueType = 'scalar' | 'vector' | 'matrix' | 'string';

/** `+`, `and`, `</` and so on. */
export type Operator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '^'
  | 'atan2'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '</'
  | '>/'
  | 'and'
  | 'or'
  | 'unless';

export type DurationOperator = '+' | '-' | '*' | '/' | '%' | '^' | 'step' | 'range' | 'min_of' | 'max_of';

/** A duration that is computed before the evaluation. */
export type DurationExpression =
  | { readonly kind: 'number'; readonly value: number; readonly isDuration: boolean; readonly range: Range }
  | {
      readonly kind: 'duration';
      readonly operator: DurationOperator;
      readonly left: DurationExpression | undefined;
      readonly right: DurationExpression | undefined;
      readonly isWrapped: boolean;
      readonly range: Range;
    };

/** Milliseconds, or how to come to them. */
export type Duration = number | DurationExpression;

/** When a selector or a subquery is evaluated. */
export type Times = {
  readonly offset: Duration;
  /** `@ 5` (in milliseconds), `@ start()`, `@ end()`. */
  readonly at: number | 'start' | 'end' | undefined;
};

export type VectorSelector = Times & {
  readonly kind: 'vectorSelector';
  readonly name: string;
  readonly matchers: readonly Matcher[];
  readonly range: Range;
};

export type MatrixSelector = {
  readonly kind: 'matrixSelector';
  readonly selector: VectorSelector;
  readonly window: Duration;
  readonly range: Range;
};

export type Subquery = Times & {
  readonly kind: 'subquery';
  readonly expression: Expression;
  readonly window: Duration;
  /** Absent: the default of the service. */
  readonly step: Duration | undefined;
  readonly range: Range;
};

export type Call = {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Expression[];
  readonly range: Range;
};

export type Aggregation = {
  readonly kind: 'aggregation';
  readonly operator: string;
  readonly expression: Expression;
  readonly parameter: Expression | undefined;
  readonly grouping: readonly string[];
  readonly isWithout: boolean;
  readonly range: Range;
};

export type Cardinality = 'one-to-one' | 'many-to-one' | 'one-to-many' | 'many-to-many';

/** How series of two sides find each other. */
export type Matching = {
  readonly cardinality: Cardinality;
  readonly labels: readonly string[];
  readonly isOn: boolean;
  readonly include: readonly string[];
  readonly fillLeft: number | undefined;
  readonly fillRight: number | undefined;
};

export type Binary = {
  readonly kind: 'binary';
  readonly operator: Operator;
  readonly left: Expression;
  readonly right: Expression;
  readonly isBool: boolean;
  /** Both sides are scalars, and so is the result. */
  readonly isScalar: boolean;
  /** Absent where a side is a scalar. */
  readonly matching: Matching | undefined;
  readonly range: Range;
};

export type Unary = { readonly kind: 'unary'; readonly operator: '+' | '-'; readonly expression: Expression; readonly range: Range };
export type Paren = { readonly kind: 'paren'; readonly expression: Expression; readonly range: Range };
export type NumberLiteral = { readonly kind: 'number'; readonly value: number; readonly isDuration: boolean; readonly range: Range };
export type StringLiteral = { readonly kind: 'string'; readonly value: string; readonly range: Range };

export type Expression =
  | VectorSelector
  | MatrixSelector
  | Subquery
  | Call
  | Aggregation
  | Binary
  | Unary
  | Paren
  | NumberLiteral
  | StringLiteral;

export const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
export const SETS: ReadonlySet<string> = new Set(['and', 'or', 'unless']);

/** Without parentheses around it. */
export function unwrapped(expression: Expression): Expression {
  let inner = expression;
  while (inner.kind === 'paren') inner = inner.expression;
  return inner;
}
