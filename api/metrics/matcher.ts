import { conjunction, ofTenant, sql, text, uint32, type Sql } from '../../pipeline/core/sql.ts';

/** A condition on a label, as PromQL has it; regular expressions match the whole value, and a label that is not there is empty. */
export type Matcher = { readonly name: string; readonly op: '=' | '!=' | '=~' | '!~'; readonly value: string };

const NAME = '__name__';
const DAY_MS = 86_400_000;
/** Samples may be so much ahead of the day on which they came, and a day is not yet over. Days. */
const AHEAD_DAYS = 3;

/** The condition of a matcher on rows of `series`. */
function condition({ name, op, value }: Matcher): Sql {
  const label = name === NAME ? sql`metric` : sql`labels[${text(name)}]`;
  if (op === '=') return sql`${label} = ${text(value)}`;
  if (op === '!=') return sql`${label} != ${text(value)}`;
  const pattern = text(`^(?s:${value})$`);
  return op === '=~' ? sql`match(${label}, ${pattern})` : sql`NOT match(${label}, ${pattern})`;
}

/** What holds for the rows of `series` of a tenant that these matchers want, and that may have samples from a time (milliseconds) on. */
export function seriesWhere(tenantId: number, matchers: readonly Matcher[], from: number): Sql {
  const day = Math.min(65_535, Math.max(0, Math.floor(from / DAY_MS) - AHEAD_DAYS));
  return conjunction([ofTenant(tenantId), sql`last >= toDate(${uint32(day)})`, ...matchers.map(condition)]);
}
