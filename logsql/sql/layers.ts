/**
 * Expressions that a statement needs more than once, as columns of subqueries. ClickHouse puts an expression in the place of its alias
 * in the same SELECT, so that those which are built on one another would grow without bounds and each place would be analysed.
 */
import { Sql, join, sql } from '../../pipeline/core/sql.ts';
import type { Table } from '../base/table.ts';

type Column = { readonly expression: Sql; readonly name: Sql };

const COMMA = sql`, `;
const REFERENCE = { c: /\bc(\d+)\b/g, v: /\bv(\d+)\b/g } as const;

/** Names columns `c0`, `c1`, … or `v0`, `v1`, …, each in the innermost subquery that has what it looks at. */
export class Layers {
  readonly #prefix: 'c' | 'v';
  /** The subqueries, the innermost first: an expression looks at columns of those inside it alone. */
  readonly #layers: Column[][] = [];
  /** The subquery of each name. */
  readonly #layerOf: number[] = [];
  /** The names by what they stand for. */
  readonly #known = new Map<string, Sql>();
  constructor(prefix: 'c' | 'v') {
    this.#prefix = prefix;
  }
  /** How many subqueries stand inside one another. */
  get depth(): number {
    return this.#layers.length;
  }

  /** The name for an expression over the rows, and over columns that were named before. */
  name(expression: Sql): Sql {
    const key = JSON.stringify([
      expression.strings,
      expression.values.map(({ type, value }) => [type, typeof value === 'bigint' ? String(value) : value]),
    ]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (expression.values.length === 0 && this.#isName(expression.strings.join(''))) return expression;
    const names = [...expression.strings.join(' ').matchAll(REFERENCE[this.#prefix])].map(([, number]) => Number(number));
    const layer = Math.max(-1, ...names.map((at) => this.#layerOf[at] ?? -1)) + 1;
    const name = new Sql([`${this.#prefix}${String(this.#layerOf.length)}`], []);
    this.#layerOf.push(layer);
    this.#known.set(key, name);
    (this.#layers[layer] ??= []).push({ expression, name });
    return name;
  }

  #isName(text: string): boolean {
    return text.startsWith(this.#prefix) && this.#layerOf[Number(text.slice(1))] !== undefined;
  }

  /** The rows of `source`, those of a table or of a subquery (null), with the columns. */
  over(source: Sql, table: Table | null): Sql {
    let carried = table?.columns ?? sql`*`;
    return this.#layers.reduce((inner, layer) => {
      const made = layer.map(({ expression, name }) => sql`${expression} AS ${name}`);
      const outer = sql`(SELECT ${join([carried, ...made], COMMA)} FROM ${inner})`;
      carried = sql`*`;
      return outer;
    }, source);
  }
}
