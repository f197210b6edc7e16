import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import { and } from './text.ts';

/** A condition and that of `if (…)`, where there is one. */
export const bothOf = (condition: Sql | null, other: Sql): Sql => (condition === null ? other : and([condition, other]));

/** `f(args)`, or `fIf(args, condition)`; `name` is a constant of the source. */
export function aggregate(
  name: 'count' | 'sum' | 'sumKahan' | 'min' | 'max' | 'uniqExact',
  args: readonly Sql[],
  conditions: readonly (Sql | null)[],
): Sql {
  const all = conditions.filter((condition) => condition !== null);
  const functions = { count: sql`count`, sum: sql`sum`, sumKahan: sql`sumKahan`, min: sql`min`, max: sql`max`, uniqExact: sql`uniqExact` };
  if (all.length === 0) return sql`${functions[name]}(${join(args, sql`, `)})`;
  return sql`${functions[name]}If(${join([...args, join(all, sql` AND `)], sql`, `)})`;
}

/** How many entries there are; `entries` is the column with how many each row stands for, or null. */
export const countEntries = (entries: Sql | null, conditions: readonly (Sql | null)[] = []): Sql =>
  entries === null ? aggregate('count', [], conditions) : aggregate('sum', [entries], conditions);
