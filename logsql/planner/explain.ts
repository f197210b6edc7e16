/** A plan in words: what ClickHouse runs, what is left to memory, which indexes can answer. Nothing of the data is looked at. */
import { renderSql, type Param, type Sql } from '../../pipeline/core/sql.ts';
import type { Plan } from './plan.ts';
import type { Table } from '../base/table.ts';
import type { StatementRunner } from '../base/types.ts';

/** A statement with its values apart, by the names of their places. */
export type ExplainedStatement = { readonly sql: string; readonly values: Readonly<Record<string, Pick<Param, 'type' | 'value'>>> };

export type ExplainedPlan = {
  /** `entries`: the rows are entries, and paging works. `rows`: anything else. */
  readonly kind: 'entries' | 'rows';
  readonly statements: readonly ExplainedStatement[];
  /** What the statements use that narrows down what is read. */
  readonly indexes: readonly string[];
  /** The pipes that run in memory, over the rows of the statements. */
  readonly memory: readonly string[];
  /** The plan that is used where this one does not hold for the data. */
  readonly otherwise: ExplainedPlan | null;
};

/** Explains a plan over a table whose answer has at most `limit` rows; null: all. Of a plan of several steps, the first statements are shown. */
export async function explainPlan(plan: Plan, limit: number | null, table: Table): Promise<ExplainedPlan> {
  const statements = await statementsOf(plan, limit);
  return {
    kind: plan.kind === 'entries' ? 'entries' : 'rows',
    statements: statements.map(explainStatement),
    indexes: table.indexes.filter((index) => statements.some((statement) => isUsed(statement, index))).map(({ name }) => name),
    memory: (plan.kind === 'expand' ? [...plan.matching.pipes, plan.pipe, ...plan.pipes] : plan.pipes).map(String),
    otherwise: await otherwiseOf(plan, limit, table),
  };
}

async function otherwiseOf(plan: Plan, limit: number | null, table: Table): Promise<ExplainedPlan | null> {
  if (plan.kind === 'aggregate' || plan.kind === 'gather') return explainPlan(plan.otherwise, limit, table);
  if (plan.kind !== 'entries' || plan.isInDoubt === undefined) return null;
  return explainPlan({ ...plan, isInDoubt: undefined }, limit, table);
}

async function statementsOf(plan: Plan, limit: number | null): Promise<readonly Sql[]> {
  switch (plan.kind) {
    case 'aggregate':
      return [plan.statement];
    case 'gather':
      return firstStatements((runner) => plan.gather(runner));
    case 'expand':
      return statementsOf(plan.matching, null);
    case 'entries':
      return [plan.statement({ limit: firstLimit(plan, limit), isQuick: plan.isInDoubt !== undefined })];
    case 'reshaped':
      return [plan.statement(firstLimit(plan, limit))];
  }
}

const firstLimit = ({ keepsAll }: { readonly keepsAll: boolean }, limit: number | null): number | null =>
  keepsAll && limit !== null ? limit + 1 : null;

/** The statements that are made before any result is known. */
async function firstStatements(gather: (runner: StatementRunner) => Promise<unknown>): Promise<readonly Sql[]> {
  const statements: Sql[] = [];
  const remember = (statement: Sql): Promise<never> => {
    statements.push(statement);
    return Promise.reject(new NotRun());
  };
  async function* chunks(statement: Sql): AsyncGenerator<never> {
    yield await remember(statement);
  }
  try {
    await gather({ rows: remember, chunks, sample: remember, streams: () => Promise.resolve(new Map<string, string>()) });
  } catch (error) {
    if (!(error instanceof NotRun)) throw error;
  }
  return statements;
}

/** Stands for the results, which do not exist here. */
class NotRun extends Error {}

function explainStatement(statement: Sql): ExplainedStatement {
  const { text, params } = renderSql(statement);
  return {
    sql: text.replace(/\n\s*/g, ' '),
    values: Object.fromEntries(
      [...params].map(([name, { type, value }]) => [name, { type, value: typeof value === 'bigint' ? value.toString() : value }]),
    ),
  };
}

const isUsed = ({ strings }: Sql, { parts }: Table['indexes'][number]): boolean => parts.some((part) => strings.join('').includes(part));
