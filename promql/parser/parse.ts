/** An expression from its string. */
import { MAX_PROGRAM_SIZE, RegexpError, tooLarge } from '../../logsql/values/regexp.ts';
import { aggregatorNamed } from '../aggregations/index.ts';
import type { Duration, Expression, Matching, MatrixSelector, Operator, Subquery, Times, VectorSelector } from '../base/ast.ts';
import { PromqlSyntaxError, type Range } from '../base/errors.ts';
import { METRIC_NAME, quote } from '../values/labels.ts';
import { Matcher, type MatchType } from '../values/matcher.ts';
import { checkAggregation, checkCall, checkedBinary, checkSelector, typeOf, typeText, type Fail } from './check.ts';
import { durationOf, readLiteral } from './durations.ts';
import { childrenOf, syntaxTree, type SyntaxNode } from './tree.ts';
import { unquote } from './unquote.ts';

/** Reads an expression. Throws PromqlSyntaxError. */
export function parseExpression(query: string): Expression {
  const { root } = syntaxTree(query);
  return new Builder(query).expression(root);
}

/** A selector that stands alone, as `match[]` has it. */
export function parseSelector(query: string): readonly Matcher[] {
  const parsed = parseExpression(query);
  if (parsed.kind !== 'vectorSelector' || parsed.offset !== 0 || parsed.at !== undefined)
    throw new PromqlSyntaxError(query, parsed.range, 'expected a series selector');
  return parsed.matchers;
}

type Selecting = VectorSelector | MatrixSelector | Subquery;

class Builder {
  readonly #query: string;
  #regexps = 0;

  constructor(query: string) {
    this.#query = query;
  }

  readonly #fail: Fail = (range, reason) => {
    throw new PromqlSyntaxError(this.#query, range, reason);
  };

  #text({ from, to }: Range): string {
    return this.#query.slice(from, to);
  }

  expression(node: SyntaxNode): Expression {
    const range = { from: node.from, to: node.to };
    switch (node.name) {
      case 'NumberDurationLiteral':
        return { kind: 'number', ...readLiteral(this.#text(node)), range };
      case 'StringLiteral':
        return { kind: 'string', value: this.#string(node), range };
      case 'ParenExpr':
        return { kind: 'paren', expression: this.#inner(node), range };
      case 'UnaryExpr':
        return this.#unary(node, range);
      case 'BinaryExpr':
        return this.#binary(node, range);
      case 'AggregateExpr':
        return this.#aggregation(node, range);
      case 'FunctionCall':
        return this.#call(node, range);
      case 'VectorSelector':
        return this.#selector(node, range);
      case 'MatrixSelector':
        return this.#matrix(node, range);
      case 'SubqueryExpr':
        return this.#subquery(node, range);
      case 'OffsetExpr':
        return this.#offset(node, range);
      case 'StepInvariantExpr':
        return this.#at(node, range);
      case 'AnchoredExpr':
      case 'SmoothedExpr':
        return this.#fail(range, `${node.name === 'AnchoredExpr' ? 'anchored' : 'smoothed'} modifier is experimental and not enabled`);
      default:
        return this.#fail(range, `unexpected ${quote(this.#text(node))}`);
    }
  }

  /** The one expression within a node. */
  #inner(node: SyntaxNode): Expression {
    const inner = node.getChild('Expr');
    return inner === null ? this.#fail(node, 'no expression found in input') : this.expression(inner);
  }

  #string(node: SyntaxNode): string {
    const text = this.#text(node);
    return unquote(text) ?? this.#fail(node, `error unquoting string ${quote(text)}: invalid syntax`);
  }

  #unary(node: SyntaxNode, range: Range): Expression {
    const operator = this.#query[node.from] === '-' ? '-' : '+';
    const expression = this.#inner(node);
    if (expression.kind === 'number') return { ...expression, value: operator === '-' ? -expression.value : expression.value, range };
    this.#checkUnary(expression, range);
    return { kind: 'unary', operator, expression, range };
  }

  #checkUnary(expression: Expression, range: Range): void {
    const type = typeOf(expression);
    if (type !== 'scalar' && type !== 'vector')
      this.#fail(range, `unary expression only allowed on expressions of type scalar or instant vector, got ${quote(typeText(type))}`);
  }

  #binary(node: SyntaxNode, range: Range): Expression {
    const [leftNode, operatorNode, ...rest] = childrenOf(node);
    const rightNode = rest.at(-1);
    if (leftNode === undefined || operatorNode === undefined || rightNode === undefined)
      return this.#fail(range, 'unexpected end of input');
    const left = this.expression(leftNode);
    const right = this.expression(rightNode);
    const operator = this.#text(operatorNode).toLowerCase() as Operator;
    const isBool = rest.some(({ name }) => name === 'BoolModifier');
    return checkedBinary({ kind: 'binary', operator, left, right, isBool, matching: this.#matching(node), range }, this.#query, this.#fail);
  }

  #matching(node: SyntaxNode): Matching | undefined {
    const clause = node.getChild('MatchingModifierClause');
    const fills = node.getChild('FillModifier');
    if (clause === null && fills === null) return undefined;
    const lists = clause?.getChildren('GroupingLabels') ?? [];
    const has = (name: string): boolean => clause?.getChild(name) != null;
    const fill = (name: string): number | undefined => {
      const literal = (fills?.getChild(name) ?? fills?.getChild('FillClause'))?.getChild('NumberDurationLiteral');
      return literal == null ? undefined : readLiteral(this.#text(literal)).value;
    };
    return {
      cardinality: has('GroupLeft') ? 'many-to-one' : has('GroupRight') ? 'one-to-many' : 'one-to-one',
      isOn: has('On'),
      labels: this.#labels(lists[0]),
      include: this.#labels(lists[1]),
      fillLeft: fill('FillLeftClause'),
      fillRight: fill('FillRightClause'),
    };
  }

  /** The names of a list in parentheses. */
  #labels(node: SyntaxNode | null | undefined): readonly string[] {
    return (node == null ? [] : childrenOf(node)).map((name) => {
      const literal = name.getChild('StringLiteral');
      return literal === null ? this.#text(name) : this.#string(literal);
    });
  }

  #aggregation(node: SyntaxNode, range: Range): Expression {
    const operatorNode = node.getChild('AggregateOp');
    const body = node.getChild('FunctionCallBody');
    const modifier = node.getChild('AggregateModifier');
    if (operatorNode === null || body === null) return this.#fail(range, 'unexpected end of input in aggregation');
    const operator = this.#text(operatorNode).toLowerCase();
    const args = body.getChildren('Expr').map((argument) => this.expression(argument));
    const wanted = aggregatorNamed(operator)?.parameter === undefined ? 1 : 2;
    const expression = args[wanted - 1];
    if (args.length === 0) return this.#fail(range, 'no arguments for aggregate expression provided');
    if (args.length !== wanted || expression === undefined)
      return this.#fail(
        range,
        `wrong number of arguments for aggregate expression provided, expected ${String(wanted)}, got ${String(args.length)}`,
      );
    const grouping = this.#labels(modifier?.getChild('GroupingLabels'));
    const isWithout = modifier?.getChild('Without') != null;
    const parameter = wanted === 2 ? args[0] : undefined;
    const built = { kind: 'aggregation', operator, expression, parameter, grouping, isWithout, range } as const;
    checkAggregation(built, this.#fail);
    return built;
  }

  #call(node: SyntaxNode, range: Range): Expression {
    const name = /^\w+/.exec(this.#query.slice(node.from))?.[0] ?? '';
    const args = (node.getChild('FunctionCallBody')?.getChildren('Expr') ?? []).map((argument) => this.expression(argument));
    const built = { kind: 'call', name, args, range } as const;
    checkCall(built, this.#fail);
    return built;
  }

  #selector(node: SyntaxNode, range: Range): Expression {
    const nameNode = node.getChild('Identifier');
    const name = nameNode === null ? '' : this.#text(nameNode);
    const list = node.getChild('LabelMatchers');
    const matchers = (list === null ? [] : childrenOf(list)).map((matcher) => this.#matcher(matcher));
    if (name !== '') matchers.push(new Matcher('=', METRIC_NAME, name));
    const built: VectorSelector = { kind: 'vectorSelector', name, matchers, offset: 0, at: undefined, range };
    checkSelector(built, this.#fail);
    return built;
  }

  #matcher(node: SyntaxNode): Matcher {
    const literals = [...node.getChildren('StringLiteral'), ...(node.getChild('QuotedLabelName')?.getChildren('StringLiteral') ?? [])];
    const [literal] = literals;
    if (literal === undefined) return this.#fail(node, 'unexpected end of input in label matching');
    if (node.name === 'QuotedLabelName') return new Matcher('=', METRIC_NAME, this.#string(literal));
    const quoted = node.getChild('QuotedLabelName')?.getChild('StringLiteral');
    const plain = node.getChild('LabelName');
    const operator = node.getChild('MatchOp');
    const name = quoted == null ? (plain === null ? '' : this.#text(plain)) : this.#string(quoted);
    try {
      const matcher = new Matcher((operator === null ? '=' : this.#text(operator)) as MatchType, name, this.#string(literal));
      this.#regexps += matcher.size;
      if (this.#regexps > MAX_PROGRAM_SIZE) throw tooLarge();
      return matcher;
    } catch (error) {
      if (!(error instanceof RegexpError)) throw error;
      return this.#fail(node, `error parsing regexp: ${error.message.replace('`(?s)', '`')}`);
    }
  }

  #matrix(node: SyntaxNode, range: Range): Expression {
    const inner = this.#inner(node);
    const durationNode = node.getChild('DurationExpr');
    if (durationNode === null) return this.#fail(range, 'missing duration');
    const within = (selector: Expression, own: Range): Expression => this.#window(selector, durationNode, own);
    return this.#inLastOperand(inner, range.to, within) ?? within(inner, range);
  }

  #window(selector: Expression, durationNode: SyntaxNode, range: Range): Expression {
    if (selector.kind !== 'vectorSelector') return this.#fail(selector.range, 'ranges only allowed for vector selectors');
    if (selector.offset !== 0) this.#fail(range, 'no offset modifiers allowed before range');
    if (selector.at !== undefined) this.#fail(range, 'no @ modifiers allowed before range');
    const window = durationOf(durationNode, this.#query, this.#fail);
    if (typeof window === 'number' && window <= 0) this.#fail(durationNode, 'duration must be greater than 0');
    return { kind: 'matrixSelector', selector, window, range };
  }

  #subquery(node: SyntaxNode, range: Range): Expression {
    const inner = this.#inner(node);
    const [window, step] = node.getChildren('DurationExpr').map((duration) => {
      const read = durationOf(duration, this.#query, this.#fail);
      if (typeof read === 'number' && read <= 0) this.#fail(duration, 'duration must be greater than 0');
      return read;
    });
    const within = (expression: Expression, own: Range): Expression => this.#ofSubquery(expression, window ?? 0, step, own);
    return this.#inLastOperand(inner, range.to, within) ?? within(inner, range);
  }

  #ofSubquery(expression: Expression, window: Duration, step: Duration | undefined, range: Range): Expression {
    const type = typeOf(expression);
    if (type !== 'vector') {
      const words = { matrix: 'range vector', scalar: 'scalar', string: 'string' } as const;
      this.#fail(range, `subquery is only allowed on instant vector, got ${words[type]} instead`);
    }
    return { kind: 'subquery', expression, window, step, offset: 0, at: undefined, range };
  }

  /**
   * Lezer gives a modifier behind an operator to the whole expression; it belongs to the last operand. Gives the expression with that operand
   * modified; undefined where there is no operator.
   */
  #inLastOperand(inner: Expression, to: number, modify: (last: Expression, range: Range) => Expression): Expression | undefined {
    const modified = (last: Expression): Expression => this.#inLastOperand(last, to, modify) ?? modify(last, { from: last.range.from, to });
    if (inner.kind === 'unary') {
      const expression = modified(inner.expression);
      this.#checkUnary(expression, inner.range);
      return { ...inner, expression, range: { from: inner.range.from, to } };
    }
    if (inner.kind !== 'binary') return undefined;
    return checkedBinary({ ...inner, right: modified(inner.right), range: { from: inner.range.from, to } }, this.#query, this.#fail);
  }

  /** With other times, of an expression that has them. */
  #withTimes(inner: Expression, range: Range, modifier: string, change: (times: Times) => Times): Expression {
    const within = this.#inLastOperand(inner, range.to, (last, own) => this.#withTimes(last, own, modifier, change));
    if (within !== undefined) return within;
    if (inner.kind !== 'vectorSelector' && inner.kind !== 'matrixSelector' && inner.kind !== 'subquery')
      return this.#fail(
        inner.range,
        `${modifier} modifier must be preceded by an instant vector selector or range vector selector or a subquery`,
      );
    const selecting: Selecting = inner;
    if (selecting.kind === 'matrixSelector')
      return { ...selecting, selector: { ...selecting.selector, ...change(selecting.selector) }, range };
    return { ...selecting, ...change(selecting), range };
  }

  #offset(node: SyntaxNode, range: Range): Expression {
    const inner = this.#inner(node);
    const durationNode = node.getChild('OffsetDurationExpr');
    if (durationNode === null) return this.#fail(range, 'missing duration');
    const offset = durationOf(durationNode, this.#query, this.#fail);
    return this.#withTimes(inner, range, 'offset', ({ offset: before, at }) => {
      if (before !== 0) this.#fail(inner.range, 'offset may not be set multiple times');
      return { offset, at };
    });
  }

  #at(node: SyntaxNode, range: Range): Expression {
    const inner = this.#inner(node);
    const literal = node.getChild('NumberDurationLiteral');
    const word = node.getChild('AtModifierPreprocessors');
    const seconds = literal === null ? 0 : readLiteral(this.#text(literal)).value;
    if (!(Math.abs(seconds) < 2 ** 63)) this.#fail(inner.range, `timestamp out of bounds for @ modifier: ${String(seconds)}`);
    const at = word === null ? Math.round(seconds * 1000) : this.#text(word).toLowerCase().startsWith('start') ? 'start' : 'end';
    return this.#withTimes(inner, range, '@', ({ offset, at: before }) => {
      if (before !== undefined) this.#fail(inner.range, '@ <timestamp> may not be set multiple times');
      return { offset, at };
    });
  }
}
