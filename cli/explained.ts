import { printable } from './output.ts';

type Statement = { readonly sql: string; readonly values: Readonly<Record<string, { readonly type: string; readonly value: unknown }>> };
type Plan = {
  readonly statements: readonly Statement[];
  readonly indexes: readonly string[];
  readonly memory: readonly string[];
  readonly otherwise: Plan | null;
};
/** What `/search?explain=true` answers (docs/query.md). */
export type ExplainedQuery = { readonly query: string; readonly plan: Plan; readonly subqueries: readonly ExplainedQuery[] };

/** The plan of a query, and of those inside it, for people. */
export function renderExplained({ query, plan, subqueries }: ExplainedQuery): string {
  const inner = subqueries.map((subquery, index) => `\nQuery ${String(index + 1)} inside it\n${indented(renderExplained(subquery))}`);
  return `${line('Query', query)}${renderPlan(plan)}${inner.join('')}`;
}

function renderPlan({ statements, indexes, memory, otherwise }: Plan): string {
  const shown = statements.map(({ sql, values }) => {
    const bound = Object.entries(values).map(([name, { type, value }]) => line(`  ${name}`, `${JSON.stringify(value)} (${type})`));
    return line('ClickHouse', sql) + bound.join('');
  });
  const own = `${shown.join('')}${line('Indexes', indexes.join(', '))}${line('In memory', memory.length === 0 ? 'nothing' : memory.join(' | '))}`;
  return otherwise === null ? own : `${own}\nWhere that does not hold for the values that are found\n${indented(renderPlan(otherwise))}`;
}

const line = (name: string, text: string): string => `${`${name}:`.padEnd(12)} ${printable(text)}\n`;
const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ');
