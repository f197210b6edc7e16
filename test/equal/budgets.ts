/** Random queries with little memory and little time, several at once: each ends in time, and none changes another's answer. */
import { pino } from 'pino';
import type { QueryJob } from '../../api/query/engine.ts';
import { readWindow } from '../../api/query/window.ts';
import { renderResult } from '../../api/query/render.ts';
import { QueryPool, type QueryPoolOptions } from '../../api/engine/workers/query-pool.ts';
import { LogsqlLimitError } from '../../logsql/base/errors.ts';
import { QueryMemory } from '../../logsql/base/memory.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import { LogsqlStore } from '../e2e/logsql-store.ts';
import { Random } from '../fuzz/random.ts';
import { NOW } from '../logsql/support.ts';
import { Comparison, parsed, type DataSet } from './compare.ts';
import { randomEntries } from './entries.ts';
import { randomFilter } from './filters.ts';
import { randomPipes } from './pipes.ts';

export type BudgetsOptions = {
  readonly queries: number;
  readonly seed: number;
  readonly progress: (line: string) => void;
  /** Whether one that ends late is a fault: not where other work is on the machine. */
  readonly isTimed: boolean;
  /** What its workers run, where it is not the program as it is in the repository. */
  readonly program?: QueryPoolOptions['program'];
};
/** How many there were, how they ended, the longest that one took beyond its time (ms), and what was wrong. */
export type BudgetsReport = {
  readonly queries: number;
  readonly answered: number;
  readonly refused: number;
  /** Refused for the time that they took: on a busy machine many. */
  readonly late: number;
  readonly longestBeyondMs: number;
  readonly lostWorkers: number;
  readonly counterexamples: readonly string[];
};

const SETS = 4;
const ENTRIES = 300;
const AT_ONCE = 6;
/** Less than what the entries of a set take. */
const MEMORY = { maxRows: 10_000, maxBytes: 150_000 };
const TIMES_MS = [150, 1000, 5000];
const GRACE_MS = 1000;
const MAX_BYTES = 600 * 1024 * 1024;
const LIMIT = 10_000;
/** The share that is to be answered: else it is no test. */
export const LEAST_ANSWERED = 0.1;
/** As both sides read it; what is relative in a query counts from its end. */
const [START, END] = ['2016-01-01T00:00:00Z', formatTime(NOW)];
const WINDOW = readWindow(START, END, NOW, 0);

type Asked = { readonly set: DataSet; readonly text: string; readonly isOrdered: boolean; readonly timeoutMs: number };

export async function checkBudgets({ queries, seed, progress, isTimed, program }: BudgetsOptions): Promise<BudgetsReport> {
  const own = await LogsqlStore.start();
  let lostWorkers = 0;
  const log = pino({ level: 'silent' });
  const options = {
    clickhouse: own.config,
    limits: { maxFacetFields: 50 },
    store: own.store,
    log,
    workers: 3,
    maxBytes: MAX_BYTES,
    memory: MEMORY,
    ...(program === undefined ? {} : { program }),
  };
  // on a busy machine a worker may come to nothing in time
  const onLost = (why: string): void => {
    if (isTimed || why !== 'time') lostWorkers += 1;
  };
  const pool = new QueryPool({ ...options, onLost });
  try {
    const comparison = new Comparison(own);
    const random = new Random(seed);
    const sets: DataSet[] = [];
    for (let index = 0; index < SETS; index += 1) sets.push(await comparison.load(randomEntries(random, ENTRIES)));
    await pool.start();
    const counterexamples: string[] = [];
    let [answered, refused, late, longestBeyondMs, done] = [0, 0, 0, 0, 0];
    const next = async (): Promise<void> => {
      const asked = randomQuery(random, sets);
      if (parsed(asked.text) === null) return;
      done += 1;
      if (done % 1000 === 0) progress(`${String(done)} of ${String(queries)} queries`);
      const began = performance.now();
      const answer = await ask(pool, asked);
      longestBeyondMs = Math.max(longestBeyondMs, performance.now() - began - asked.timeoutMs);
      if (answer instanceof HttpError) refused += 1;
      else answered += 1;
      if (answer instanceof HttpError && answer.message.startsWith('The query ran too long')) late += 1;
      const fault = answer instanceof HttpError ? faultOfRefusal(answer) : await faultOfAnswer(asked, answer);
      if (fault !== null) counterexamples.push(`${asked.text}: ${fault}`);
    };
    const many = async (most: () => boolean): Promise<void> => {
      while (most() && counterexamples.length < 10) await next();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, () => many(() => done < queries)));
    // where other work is on the machine, they share the memory nearly all the time: further ones have it alone
    if (!isTimed) await many(() => answered <= LEAST_ANSWERED * queries && done < 2 * queries);
    if (isTimed && longestBeyondMs > GRACE_MS) counterexamples.push(`A query took ${longestBeyondMs.toFixed(0)} ms more than its time.`);
    return { queries: done, answered, refused, late, longestBeyondMs: Math.round(longestBeyondMs), lostWorkers, counterexamples };
  } finally {
    await pool.stop();
    await own.stop();
  }
}

function randomQuery(random: Random, sets: readonly DataSet[]): Asked {
  const set = random.pick(sets);
  const source = { random, entries: set.entries, isWhole: true };
  const { text: pipes, isOrdered } = randomPipes(source);
  return { set, text: randomFilter(source, 2) + pipes, isOrdered, timeoutMs: random.pick(TIMES_MS) };
}

/** Rows as texts, and whether there are more that did not fit. */
type Answer = { readonly rows: readonly string[]; readonly isCut: boolean };

/** The answer, or how the query was refused. */
async function ask(pool: QueryPool, { set, text, timeoutMs }: Asked): Promise<Answer | HttpError> {
  const job: QueryJob = {
    operation: 'search',
    parameters: { query: text, start: START, end: END, limit: LIMIT, before: null, enrich: false },
    ...{
      tenantId: set.tenantId,
      retentionDays: 0,
      atOnce: 4,
      requestId: 'budgets',
      startedAt: performance.now(),
      timeoutMs,
    },
    ...{ signal: new AbortController().signal },
  };
  try {
    const { body } = await pool.run(job);
    const answer = JSON.parse((body as Buffer).toString()) as {
      readonly logs: readonly object[];
      readonly has_more: boolean;
      readonly truncated?: true;
    };
    return { rows: answer.logs.map(comparable), isCut: answer.has_more || answer.truncated === true };
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

/** A row by its fields, whatever order they have. */
const comparable = (row: object): string => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Refused for what it takes, and for nothing else. */
const faultOfRefusal = ({ status, message }: HttpError): string | null =>
  status === 504 || status === 503 || status === 400 ? null : `${String(status)} ${message}`;

/** Not what memory gives that has all it wants, or the beginning of it. */
async function faultOfAnswer({ set, text, isOrdered }: Asked, { rows: seen, isCut }: Answer): Promise<string | null> {
  const query = parseQuery(text, { now: WINDOW.now });
  try {
    const memory = new QueryMemory({ maxRows: 1_000_000, maxBytes: 500_000_000 });
    const rows = await evaluate(query, set.entries.toReversed(), { start: WINDOW.start, end: WINDOW.end, memory });
    const expected = rows.map((row) => comparable(JSON.parse(renderResult(row)) as object));
    const isWhole = !isCut && seen.length === expected.length;
    if (!isWhole && !(isCut && seen.length < expected.length)) return `${String(seen.length)} rows, not ${String(expected.length)}`;
    if (isOrdered) return seen.every((row, index) => row === expected[index]) ? null : 'other rows, or in another order';
    const left = new Map<string, number>();
    for (const row of expected) left.set(row, (left.get(row) ?? 0) + 1);
    for (const row of seen) left.set(row, (left.get(row) ?? 0) - 1);
    return [...left.values()].every((count) => count >= 0) ? null : 'other rows';
  } catch (error) {
    if (error instanceof LogsqlLimitError) return null;
    throw error;
  }
}
