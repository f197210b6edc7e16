/**
 * Pipes that change rows one by one, in SQL in front of one that groups: what they work out are columns of a subquery, and fields that
 * were written are looked up there.
 */
import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import type { Table } from '../base/table.ts';
import { FilterPipe } from './filter.ts';
import type { Pipe, RowInput, RunContext, SqlContext } from '../base/types.ts';
import { Layers } from '../sql/layers.ts';
import { StatementBudget } from '../sql/statement-budget.ts';
import { and, fieldText, or } from '../sql/text.ts';

/** What a pipe that groups reads after such pipes, and the pipes from it on. */
export type ComputedRows = {
  readonly source: Sql;
  readonly context: SqlContext;
  readonly doubt: Sql | null;
  readonly pipes: readonly Pipe[];
};

/** Fields that pipes read from columns of their own, not as strings. */
export const OWN_COLUMNS = ['_time', '_stream', '_stream_id'];
/** Subqueries inside one another: ClickHouse takes 100, and each of them takes time to analyse. */
const MOST_LAYERS = 20;

/** The longest run of such pipes and what comes of it; null where no pipe that groups follows, or SQL cannot express one of them. */
export function computeRows(pipes: readonly Pipe[], entries: Sql, context: SqlContext, run: RunContext): ComputedRows | null {
  const rows = new Rows({ ...context, indexed: false }, run);
  for (const [index, pipe] of pipes.entries()) {
    if (pipe.sql !== undefined) {
      // those that look at all fields look at the table's
      const needed = pipe.needs(FieldSet.all);
      if (needed.list() === null || rows.lacks(needed)) return null;
      return { source: rows.over(entries, context.table), context: rows.context, doubt: rows.doubts, pipes: pipes.slice(index) };
    }
    if (!rows.through(pipe)) return null;
  }
  return null;
}

/** Rows and the pipes that have changed them so far. */
export class Rows implements RowInput {
  readonly run: RunContext;
  /** With the fields as they are by now. */
  context: SqlContext;
  readonly #layers = new Layers('c');
  readonly #budget = new StatementBudget();
  readonly #doubts: Sql[] = [];
  readonly #conditions: Sql[] = [];
  /** Those of OWN_COLUMNS that rows have no more, or with other values. */
  #lost: readonly string[];
  /** `lost`: what the rows never had. */
  constructor(context: SqlContext, run: RunContext, lost: readonly string[] = []) {
    this.context = context;
    this.run = run;
    this.#lost = lost;
  }

  text(field: string): Sql | null {
    return this.#lost.includes(field) ? null : fieldText(field, this.context);
  }
  name(expression: Sql): Sql {
    return this.#layers.name(expression);
  }
  doubt(rows: Sql): void {
    this.#doubts.push(this.name(rows));
  }

  /** Takes a pipe in, if SQL can express it. */
  through(pipe: Pipe): boolean {
    if (pipe.filters?.every((filter) => this.#budget.takeFilter(filter) && !this.lacks(FieldSet.of(filter.fields))) === false) return false;
    if (pipe instanceof FilterPipe) return this.#filter(pipe);
    const { context } = this;
    const change = pipe.computes?.(this) ?? null;
    if (change === null) return false;
    const { written, keeps } = change;
    const named = new Map([...written].map(([field, text]) => [field, this.name(sql`toString(${text})`)]));
    this.#lost = OWN_COLUMNS.filter((field) => this.#lost.includes(field) || named.has(field) || keeps?.(field) === false);
    const computed = (field: string): Sql | null | undefined =>
      named.get(field) ?? (keeps?.(field) === false ? sql`''` : context.computed?.(field));
    this.context = { ...context, computed };
    return this.#layers.depth <= MOST_LAYERS;
  }
  #filter({ filter }: FilterPipe): boolean {
    const condition = filter.sql(this.context);
    if (condition !== null) this.#conditions.push(condition);
    return condition !== null;
  }

  /** True when one of these fields is lost that is read from a column of its own. */
  lacks(fields: FieldSet): boolean {
    return this.#lost.some((field) => fields.has(field));
  }

  /** Of which rows something is in doubt; null where of none. */
  get doubts(): Sql | null {
    // not with OR: what stands behind it would be worked out apart
    return this.#doubts.length === 0 ? null : sql`(${join(this.#doubts, sql` + `)} > 0)`;
  }

  /** The rows that the filters keep, of a table or of a subquery (null), with what the pipes made of them. */
  over(source: Sql, table: Table | null): Sql {
    const doubt = this.doubts;
    // a row in doubt is not left out: it must be seen
    const condition = this.#conditions.length === 0 ? null : and(this.#conditions);
    const kept = condition === null || doubt === null ? condition : or([doubt, condition]);
    const where = kept === null ? sql`` : sql` WHERE ${kept}`;
    // a condition stands behind a subquery
    if (this.#layers.depth === 0) this.name(sql`1`);
    return sql`${this.#layers.over(source, table)}${where}`;
  }
}
