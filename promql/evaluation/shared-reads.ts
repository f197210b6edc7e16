/** Selections that several selectors of an expression have in common: they are read once. */
import type { Expression, VectorSelector } from '../base/ast.ts';
import type { RawSeries } from '../base/series.ts';
import type { Selection } from '../base/source.ts';

/** What equal selectors share. */
export type SharedRead = {
  /** How many of them have not been evaluated yet. */
  left: number;
  /** What the first one has read, and what that was, while others wait for it; null where it was too much to be held. */
  series: readonly RawSeries[] | null;
  selection: Selection | null;
  /** How many samples are held. */
  held: number;
};

/** Finds the selectors of an expression that read the same. */
export class SharedReads {
  readonly #bySelector = new Map<VectorSelector, SharedRead>();
  readonly #byKey = new Map<string, SharedRead>();

  constructor(expression: Expression) {
    this.#visit(expression, '', '');
  }

  /** What a selector shares with others; undefined where it is alone. Each selector is asked for once. */
  take(selector: VectorSelector): SharedRead | undefined {
    const shared = this.#bySelector.get(selector);
    if (shared === undefined) return undefined;
    shared.left -= 1;
    return shared.left > 0 || shared.series !== null ? shared : undefined;
  }

  /** `window`: that of the selector; `steps`: what the steps are at which it is evaluated. */
  #visit(node: Expression, window: string, steps: string): void {
    switch (node.kind) {
      case 'vectorSelector':
        this.#add(node, `${steps}\n${window}`);
        break;
      case 'matrixSelector':
        this.#visit(node.selector, textOf(node.window), steps);
        break;
      case 'subquery':
        this.#visit(node.expression, '', `${steps}\n${textOf([node.window, node.step, node.offset, node.at])}`);
        break;
      case 'paren':
      case 'unary':
        this.#visit(node.expression, '', steps);
        break;
      case 'binary':
        this.#visit(node.left, '', steps);
        this.#visit(node.right, '', steps);
        break;
      case 'aggregation':
        if (node.parameter !== undefined) this.#visit(node.parameter, '', steps);
        this.#visit(node.expression, '', steps);
        break;
      case 'call':
        for (const argument of node.args) this.#visit(argument, '', steps);
        break;
      default:
    }
  }

  #add(selector: VectorSelector, where: string): void {
    const { matchers, offset, at } = selector;
    const key = textOf([where, matchers.map(({ type, name, value }) => [name, type, value]), offset, at]);
    const shared = this.#byKey.get(key) ?? { left: 0, series: null, selection: null, held: 0 };
    shared.left += 1;
    this.#byKey.set(key, shared);
    this.#bySelector.set(selector, shared);
  }
}

/** A text of what is equal but for its places in the query. */
const textOf = (value: unknown): string => JSON.stringify(value, (name, own: unknown) => (name === 'range' ? undefined : own));
