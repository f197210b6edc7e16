/** Entries of a query as they come, by asking ClickHouse again and again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LogsqlLimitError } from '../../logsql/errors.ts';
import { Pipeline, hasValues } from '../../logsql/pipeline.ts';
import { sizeOfRow } from '../../logsql/pipes/rows.ts';
import type { Position } from '../../logsql/plan.ts';
import { planQuery, type PlanOptions } from '../../logsql/planner.ts';
import { Query } from '../../logsql/query.ts';
import { resolveSubqueries } from '../../logsql/subqueries.ts';
import type { Pipe, QueryNode } from '../../logsql/types.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import type { Request } from './deps.ts';
import { rows as rowsOf, type Runner } from './rows.ts';
import { subqueryRunner } from './run.ts';

const SECOND = 1_000_000_000n;
/** Each look begins so long before the end of the last one, for entries that came late. Nanoseconds. */
export const OVERLAP = 5n * SECOND;
/** Entries of one look, all of which are in memory; it ends early where the tail may not hold so many bytes more. */
const PAGE = 10_000;
const PAGE_ROOM = 4_000_000;
/** Entries of an overlap that are known to have been given. */
const MAX_KNOWN = 200_000;

/** What one look needs: the query as it is meant now, and how it is run. */
export type Look = { readonly query: QueryNode; readonly options: PlanOptions; readonly runner: Runner };

export type FollowOptions = {
  /** The time of the first entries (nanoseconds), and how far behind now entries are given. */
  readonly start: bigint;
  readonly delay: bigint;
  /** Milliseconds between two looks. */
  readonly refreshMs: number;
  now(): bigint;
  /** Runs a look, within the limits of a query. */
  run<T>(work: (request: Request) => Promise<T>): Promise<T>;
  /** The look at this window, whose end is what is relative in the query counts from; both ends included. */
  look(start: bigint, end: bigint, request: Request): Look;
  /** Ends it. */
  readonly signal: AbortSignal;
};

/**
 * The rows of a query whose pipes pass rows on one by one, oldest first, at the latest `delay` after the time of the entry; an empty
 * list when the first look is done, at the latest. Each entry is given once, told by its place in the log, also where many share one
 * time; one that becomes visible up to `delay` and OVERLAP after its time is given late. What is transient (an HttpError with
 * `retryAfter`) is waited for, but for the first look. Ends with the signal, and throws what a look threw.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<readonly LogEntry[]> {
  const { start, delay, refreshMs, signal } = options;
  const known = new Map<string, bigint>();
  let since = start;
  let until = larger(options.now() - delay, start);
  let after: Position | undefined;
  for (let isFirst = true; ; isFirst = false) {
    const began = performance.now();
    const page = await patiently(
      () => options.run((request) => readPage(options.look(since, until, request), known, after)),
      isFirst,
      signal,
    );
    if (page === null) return;
    if (isFirst || page.rows.length > 0) yield page.rows;
    after = page.next;
    if (after !== undefined) continue;
    since = larger(until - OVERLAP, start);
    forget(known, since);
    if (!(await waited(refreshMs - (performance.now() - began), signal))) return;
    until = larger(options.now() - delay, until);
  }
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Waits; false when it ended before. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/** The result of the work, done again as long as it fails for a while only; null when the signal came. */
async function patiently<T>(work: () => Promise<T>, isFirst: boolean, signal: AbortSignal): Promise<T | null> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return null;
      const wait = error instanceof HttpError ? error.options.retryAfter : undefined;
      if (isFirst || wait === undefined) throw error;
      if (!(await waited(wait * 1000, signal))) return null;
    }
}

type Page = { readonly rows: readonly LogEntry[]; readonly next: Position | undefined };

/** One page of a window: the rows of what is not known yet, which it is from then on, and where the next one begins, if there is one. */
async function readPage({ query, options, runner }: Look, known: Map<string, bigint>, after: Position | undefined): Promise<Page> {
  const run = subqueryRunner(options, runner);
  const { filter, pipes } = await resolveSubqueries(query, run);
  const at = pipes.findIndex(losesPlace);
  const [first, rest] = at < 0 ? [pipes, []] : [pipes.slice(0, at), pipes.slice(at)];
  const plan = planQuery(new Query({}, filter, first), { ...options, oldestFirst: true });
  if (plan.kind !== 'entries') throw new Error('BUG: a query that can be followed has no plan of entries.');
  const rows: LogEntry[] = [];
  runner.onPipes?.([...plan.pipes, ...rest]);
  const pipeline = new Pipeline(rest, plan.run, (row) => {
    if (!hasValues(row)) return;
    options.memory.hold('A look of the tail', 1, sizeOfRow(row));
    rows.push(row);
  });
  const found = new Map<string, bigint>();
  let [read, isFull] = [0, false];
  let last: Position | undefined;
  for await (const chunk of rowsOf({ plan, run }, runner, { limit: PAGE, keepsEmpty: true, ...(after === undefined ? {} : { after }) })) {
    for (const [index, entry] of chunk.rows.entries()) {
      last = chunk.placeOf(index) ?? last;
      const place = `${last?.part ?? ''}/${last?.offset ?? ''}/${last?.index ?? ''}`;
      if (known.has(place)) continue;
      found.set(place, BigInt(last?.time ?? 0));
      pipeline.push(entry);
    }
    read += chunk.rows.length;
    isFull = read >= PAGE || !options.memory.fits(PAGE_ROOM);
    if (isFull) break;
  }
  // not before all of them are here: a look that fails is done again
  for (const [place, time] of found) known.set(place, time);
  if (known.size > MAX_KNOWN && last !== undefined) forget(known, BigInt(last.time) - OVERLAP);
  return { rows, next: isFull ? last : undefined };
}

/** Forgets what no later look can find again. Throws LogsqlLimitError where too much is left. */
function forget(known: Map<string, bigint>, before: bigint): void {
  for (const [place, time] of known) if (time < before) known.delete(place);
  if (known.size > MAX_KNOWN)
    throw new LogsqlLimitError(
      `More than ${String(MAX_KNOWN)} entries within ${String(OVERLAP / SECOND)} s cannot be followed; narrow the query.`,
    );
}

/** True for a pipe after which a row has no place among the entries any more. */
const losesPlace = (pipe: Pipe): boolean => pipe.rows === 'more' || pipe.dropsTime === true;
