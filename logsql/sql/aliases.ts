/** Names for expressions that stand in a statement several times: they are written, and analysed, once. */
import { Sql, sql } from '../../pipeline/core/sql.ts';

/** Gives out names that differ within one statement: `v0`, `v1`, … */
export class Aliases {
  #given = 0;

  /** The expression with a name, for its first place, and the name alone, for all others. */
  name(expression: Sql): { readonly named: Sql; readonly name: Sql } {
    const name = new Sql([`v${String(this.#given)}`], []);
    this.#given += 1;
    return { named: sql`(${expression} AS ${name})`, name };
  }
}
