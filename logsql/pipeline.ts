/** Stages one after another, and the in-memory evaluation of whole queries: the reference for what a query means. */
import type { LogEntry } from '../pipeline/core/entry.ts';
import type { Pipe, QueryNode, RunContext, Stage } from './types.ts';

/** A chain of stages. Rows go in one by one; what comes out at the end goes to `sink`. */
export class Pipeline {
  readonly #stages: readonly Stage[];
  readonly #sink: (row: LogEntry) => void;
  constructor(pipes: readonly Pipe[], context: RunContext, sink: (row: LogEntry) => void) {
    this.#stages = pipes.map((pipe) => pipe.stage(context));
    this.#sink = sink;
  }

  push(row: LogEntry): void {
    this.#feed(row, 0);
  }
  /** Sends on what the stages held back, in their order. */
  flush(): void {
    for (const [index, stage] of this.#stages.entries()) for (const row of stage.flush()) this.#feed(row, index + 1);
  }
  /** True when no further row can change what comes out. */
  get done(): boolean {
    return this.#stages.some((stage) => stage.done === true);
  }

  #feed(row: LogEntry, from: number): void {
    const stage = this.#stages[from];
    if (stage === undefined) this.#sink(row);
    else for (const next of stage.push(row)) this.#feed(next, from + 1);
  }
}

/** True for a row that shows something; rows without any value are not printed. */
export function hasValues(row: LogEntry): boolean {
  for (const value of row.values()) if (value !== '') return true;
  return false;
}

/** Limits that are large enough for tests and small tools. */
export const DEFAULT_LIMITS = { maxRows: 1_000_000, maxBytes: 500_000_000 };

/**
 * The rows a query gives over these entries, which come newest first where order matters. Throws LogsqlLimitError.
 * Subqueries must have been resolved (logsql/subqueries.ts).
 */
export function evaluate(query: QueryNode, entries: Iterable<LogEntry>, context: RunContext): LogEntry[] {
  const rows: LogEntry[] = [];
  const pipeline = new Pipeline(query.pipes, context, (row) => {
    if (hasValues(row)) rows.push(row);
  });
  for (const entry of entries) {
    if (pipeline.done) break;
    if (query.filter.matches(entry)) pipeline.push(entry);
  }
  pipeline.flush();
  return rows;
}
