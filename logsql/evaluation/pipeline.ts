/** Stages one after another, and the in-memory evaluation of whole queries: the reference for what a query means. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { MAX_TIME, MIN_TIME, parseTime } from '../../pipeline/core/time.ts';
import { splitHead } from './head.ts';
import { hasValues } from '../base/rows.ts';
import { resolveSubqueries } from './subqueries.ts';
import { narrowWindow } from './narrow-window.ts';
import type { QueryMemory } from '../base/memory.ts';
import type { Pipe, QueryNode, RunContext, Stage } from '../base/types.ts';

export { hasValues };

/** A chain of stages. Rows go in one by one; what comes out at the end goes to `sink`. */
export class Pipeline {
  readonly #stages: readonly Stage[];
  readonly #memory: QueryMemory;
  readonly #sink: (row: LogEntry) => void;
  constructor(pipes: readonly Pipe[], context: RunContext, sink: (row: LogEntry) => void) {
    this.#memory = context.memory;
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
    this.#memory.step(charactersOf(row));
    const stage = this.#stages[from];
    if (stage === undefined) this.#sink(row);
    else for (const next of stage.push(row)) this.#feed(next, from + 1);
  }
}

function charactersOf(row: LogEntry): number {
  let characters = 0;
  for (const value of row.values()) characters += textOf(value).length;
  return characters;
}

/**
 * The order in which rows go through pipes: newest first, as answers are, where rows stay entries or are cut; oldest first where
 * they are grouped or sorted, so that lists of values run with time.
 */
export function startsNewest(pipes: readonly Pipe[]): boolean {
  const breaker = pipes.find((pipe) => pipe.rows === 'reshaped' || pipe.rows === 'more');
  return breaker === undefined || breaker.rows === 'more' || breaker.isOrdered === true;
}

/**
 * The rows a query gives over these entries, which must come newest first; subqueries run over the same entries.
 * Entries outside the window of the context are left out unless the query has `ignore_global_time_filter`. Throws LogsqlLimitError.
 */
export async function evaluate(query: QueryNode, entries: readonly LogEntry[], context: RunContext): Promise<LogEntry[]> {
  return (await evaluateAll(query, entries, context)).filter(hasValues);
}

/** As `evaluate`, with rows that have no value at all: in a subquery they stand for missing fields. */
async function evaluateAll(query: QueryNode, entries: readonly LogEntry[], context: RunContext): Promise<LogEntry[]> {
  const run = (subquery: QueryNode): Promise<LogEntry[]> => evaluateAll(subquery, entries, context);
  const resolved = await resolveSubqueries(query, run);
  const { filter, pipes } = resolved;
  const own = query.options.ignoreGlobalTimeFilter === true ? { ...context, start: MIN_TIME, end: MAX_TIME } : context;
  const matching = entries.filter((entry) => filter.matches(entry) && insideWindow(entry, own));
  const [first, ...rest] = pipes;
  if (first?.expand !== undefined) return throughPipes(rest, await first.expand(matching, run, own), own);
  return throughPipes(pipes, startsNewest(pipes) ? matching : matching.reverse(), {
    ...own,
    ...narrowWindow(splitHead(resolved).filter, own),
  });
}

/** All rows through all pipes. */
export function throughPipes(pipes: readonly Pipe[], rows: Iterable<LogEntry>, context: RunContext): LogEntry[] {
  const out: LogEntry[] = [];
  const pipeline = new Pipeline(pipes, context, (row) => out.push(row));
  for (const row of rows) {
    if (pipeline.done) break;
    pipeline.push(row);
  }
  pipeline.flush();
  return out;
}

function insideWindow(entry: LogEntry, { start, end }: RunContext): boolean {
  const at = parseTime(textOf(entry.get('_time')));
  return at === null || (at >= start && at <= end);
}
