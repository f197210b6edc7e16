/** Runs queries over the same entries in memory and in ClickHouse, and tells where the two differ. */
import { LOGS } from '../../logsql/sql/logs-table.ts';
import { runQuery } from '../../api/query/run.ts';
import { StreamDirectory } from '../../api/query/streams.ts';
import { QueryMemory } from '../../logsql/base/memory.ts';
import { LogsqlLimitError, LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import { Query } from '../../logsql/base/query.ts';
import { withMost } from '../../logsql/pipes/sort.ts';
import { StatementBudget } from '../../logsql/sql/statement-budget.ts';
import type { Filter, SqlContext } from '../../logsql/base/types.ts';
import type { Table } from '../../logsql/base/table.ts';
import { Literal, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { MAX_TIME, MIN_TIME } from '../../pipeline/core/time.ts';
import { NOW } from '../logsql/support.ts';
import { insertSpanRows } from './spans.ts';
import type { LogsqlStore } from '../e2e/logsql-store.ts';

/** Entries that were put into the store under a tenant of their own, oldest first. */
export type DataSet = { readonly tenantId: number; readonly entries: readonly LogEntry[]; readonly names?: readonly string[] };
/** What both gave for a query, as texts. */
export type Difference = { readonly query: string; readonly memory: readonly string[]; readonly clickHouse: readonly string[] };
export type Window = { readonly start: bigint; readonly end: bigint };

/** How a query is asked, and whether the order of its rows is promised. */
export type How = { readonly window: Window; readonly limit: number; readonly isOrdered: boolean };

/** More rows than any query here gives. */
export const MANY = 100_000;
export const ALWAYS: Window = { start: MIN_TIME, end: MAX_TIME };
const LIMITS = { maxRows: 1_000_000, maxBytes: 500_000_000 };
const TIMEOUT_MS = 60_000;
/** Searches that look at all entries walk the window in slices, of which the first one is a quarter (api/query/slices.ts). */
const SLICED = { rowsIn: () => 256_000, saw: () => undefined };

/** The query; null where the text is none. */
export function parsed(text: string): Query | null {
  try {
    return parseQuery(text, { now: NOW });
  } catch (error) {
    if (error instanceof LogsqlSyntaxError) return null;
    throw error;
  }
}

/** A filter ready for both back ends: its text, itself, and its conditions with and without the indexes. */
type Condition = { readonly text: string; readonly filter: Filter; readonly sql: readonly Sql[] };

export class Comparison {
  readonly own: LogsqlStore;
  readonly #streams: StreamDirectory;
  #tenants = 1000;
  readonly #table: Table;
  constructor(own: LogsqlStore, table = LOGS) {
    this.own = own;
    this.#table = table;
    this.#streams = new StreamDirectory(own.store);
  }

  async load(entries: readonly LogEntry[]): Promise<DataSet> {
    const tenantId = (this.#tenants += 1);
    if (this.#table === LOGS) await this.own.insert(tenantId, entries);
    else {
      await insertSpanRows(this.own.store, tenantId, entries);
      await this.own.spread('spans');
    }
    return { tenantId, entries };
  }

  /**
   * Filters, many in one statement: which entries each one matches. `compared` counts those that SQL can say. Each as it stands in
   * WHERE, and `inBothForms` also as it stands elsewhere.
   */
  async filters(
    set: DataSet,
    texts: readonly string[],
    inBothForms: boolean,
  ): Promise<{ readonly compared: number; readonly differences: Difference[] }> {
    const room = new StatementBudget();
    const conditions = texts.flatMap((text) => conditionOf(text, set, { room, inBothForms, table: this.#table }));
    if (conditions.length === 0) return { compared: 0, differences: [] };
    const memory = conditions.map(({ filter }) => set.entries.flatMap((entry, index) => (filter.matches(entry) ? [index] : [])));
    const found = await this.#matches(set, conditions);
    const differences = conditions.flatMap(({ text, sql: forms }, at) =>
      forms.flatMap((_form, form) => differenceOf(text, set, memory[at] ?? [], found[at]?.[form] ?? 'no answer')),
    );
    return { compared: conditions.length, differences };
  }

  /** For each condition in each of its forms the places of the entries that match, or what went wrong. */
  async #matches(set: DataSet, conditions: readonly Condition[]): Promise<(readonly (readonly number[] | string)[])[]> {
    const columns = conditions.flatMap(({ sql: forms }) => forms.map((form) => sql`groupArrayIf(kafka_idx, ${form})`));
    try {
      const [row = []] = await this.own.store.rows(
        sql`SELECT ${join(columns, sql`, `)} FROM ${this.#table.from} WHERE tenant_id = ${uint32(set.tenantId)}`,
        { tenantId: set.tenantId, timeoutMs: TIMEOUT_MS, settings: { max_threads: 1 } },
      );
      let at = 0;
      return conditions.map(({ sql: forms }) => forms.map(() => (row[at++] as number[]).sort((a, b) => a - b)));
    } catch (error) {
      const [only] = conditions;
      if (conditions.length === 1 && only !== undefined) return [only.sql.map(() => messageOf(error))];
      const half = conditions.length >> 1;
      return [...(await this.#matches(set, conditions.slice(0, half))), ...(await this.#matches(set, conditions.slice(half)))];
    }
  }

  /** A whole query with its pipes, through the planner; null when both give the same. */
  async query(set: DataSet, text: string, { isOrdered, window, limit }: How): Promise<Difference | null> {
    const query = parsed(text);
    if (query === null) return null;
    const memory = await rowsOrMessage(async () =>
      (await evaluate(query, set.entries.toReversed(), { ...window, memory: new QueryMemory(LIMITS) })).slice(0, limit),
    );
    const clickHouse = await rowsOrMessage(() => this.#run(set, query, window, limit));
    if (!isOrdered) for (const rows of [memory, clickHouse]) rows.sort();
    const isEqual = memory.length === clickHouse.length && memory.every((row, index) => row === clickHouse[index]);
    return isEqual ? null : { query: text, memory, clickHouse };
  }

  async #run({ tenantId }: DataSet, query: Query, window: Window, limit: number): Promise<LogEntry[]> {
    const runner = { store: this.own.store, streams: this.#streams, densities: SLICED, options: { tenantId, timeoutMs: TIMEOUT_MS } };
    // as the search page does, which shows the first rows alone
    const shown = new Query(query.options, query.filter, withMost(query.pipes, limit));
    return runQuery(shown, { table: this.#table, tenantId, ...window, widest: ALWAYS, memory: new QueryMemory(LIMITS) }, runner, limit);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? `error: ${error.message}` : String(error));

async function rowsOrMessage(run: () => Promise<readonly LogEntry[]>): Promise<string[]> {
  try {
    return (await run()).map(comparable);
  } catch (error) {
    return [error instanceof LogsqlLimitError ? 'error: too much' : messageOf(error)];
  }
}

/** A row as text: fields by name, numbers apart from texts. */
export function comparable(row: LogEntry): string {
  const fields = [...row]
    .filter(([name, value]) => textOf(value) !== '' && name !== '_stream_id')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${JSON.stringify(name)}:${value instanceof Literal ? value.text : JSON.stringify(value)}`);
  return `{${fields.join(',')}}`;
}

type Forms = { readonly room: StatementBudget; readonly inBothForms: boolean; readonly table: Table };

function conditionOf(text: string, set: DataSet, { room, inBothForms, table }: Forms): Condition[] {
  const query = parsed(text);
  if (query === null || query.pipes.length > 0) return [];
  const context: SqlContext = { table, tenantId: set.tenantId, firstDay: '1970-01-01', lastDay: '2149-06-06', indexed: true };
  const forms = [context, { ...context, indexed: false }].slice(0, inBothForms ? 2 : 1).map((each) => query.filter.sql(each));
  if (!forms.every((form) => form !== null)) return [];
  const different = forms.filter((form, index) => index === 0 || form.strings.join() !== forms[0]?.strings.join());
  return different.every((form) => room.take(form)) ? [{ text, filter: query.filter, sql: different }] : [];
}

function differenceOf(query: string, set: DataSet, memory: readonly number[], found: readonly number[] | string): Difference[] {
  if (typeof found === 'string') return [{ query, memory: [`${String(memory.length)} entries`], clickHouse: [found] }];
  const show = (places: readonly number[], others: readonly number[]): string[] => {
    const known = new Set(others);
    return places.filter((place) => !known.has(place)).map((place) => comparable(set.entries[place] ?? new Map<string, string>()));
  };
  const [onlyMemory, onlyClickHouse] = [show(memory, found), show(found, memory)];
  return onlyMemory.length + onlyClickHouse.length === 0 ? [] : [{ query, memory: onlyMemory, clickHouse: onlyClickHouse }];
}
