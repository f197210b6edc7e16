/** The one way from a plan to its rows, in chunks as they are found. Stopping early ends the statement too. */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Sql } from '../../pipeline/core/sql.ts';
import type { QueryOptions, Row } from '../../pipeline/store/client.ts';
import { Pipeline, hasValues } from '../../logsql/evaluation/pipeline.ts';
import { sizeOfRow } from '../../logsql/base/rows.ts';
import type { AggregatePlan, EntriesPlan, Plan, ReshapedPlan } from '../../logsql/planner/plan.ts';
import type { Position } from '../../logsql/base/position.ts';
import type { StatementRunner, RunContext } from '../../logsql/base/types.ts';
import { asFound, pages, withinPage, withOrder } from './pages.ts';
import type { Chunk, Prepared, Runner, Wanted } from './runner.ts';
import { readJson } from '../../pipeline/core/read-json.ts';

/** A statement on the way to the rows has no larger answer. */
const MAX_RESULT_BYTES = 64_000_000;

const noPlace = (): null => null;
/** No statement of a plan has more values than one for such a place. */
const ANYWHERE: Position = { time: '9'.repeat(19), arrived: '9'.repeat(14), part: '65535', offset: '9'.repeat(20), index: '9'.repeat(10) };
const UNORDERED = { isOrdered: false };

/** The rows of a plan. Throws LogsqlLimitError, and HttpError as the store does. */
export async function* rows({ plan, run }: Prepared, runner: Runner, wanted: Wanted = {}): AsyncGenerator<Chunk<LogEntry>> {
  switch (plan.kind) {
    case 'entries':
      yield* entries(plan, runner, wanted);
      break;
    case 'reshaped':
      yield* reshaped(plan, runner, wanted);
      break;
    case 'aggregate': {
      const found = await aggregated(plan, runner, wanted);
      if (found === null) yield* rows({ plan: plan.otherwise, run }, runner, wanted);
      else yield { rows: found, placeOf: noPlace };
      break;
    }
    case 'gather': {
      const gathered = await plan.gather(statementRunnerOf(runner, plan.run));
      if (gathered === null) yield* rows({ plan: plan.otherwise, run }, runner, wanted);
      else yield { rows: through(plan, gathered, runner, wanted), placeOf: noPlace };
      break;
    }
    case 'expand': {
      const matching = await collect(
        rows({ plan: plan.matching, run }, runner),
        plan.run,
        `The ${plan.pipe.toString().split(' ', 1)[0] ?? ''} pipe`,
      );
      const expanded = await plan.pipe.expand?.(matching, run, plan.run);
      yield { rows: through(plan, expanded ?? [], runner, wanted), placeOf: noPlace };
      break;
    }
  }
}

/** The entries of a plan of whole entries as JSON strings, unparsed; null where it is not one, or has too many values for that. */
export function texts(plan: Plan, runner: Runner, wanted: Wanted): AsyncGenerator<Chunk<string>> | null {
  if (plan.kind !== 'entries' || plan.render === undefined) return null;
  const { render, streamColumns, run } = plan;
  const { store, streams, options } = runner;
  const longest = { limit: wanted.limit ?? null, after: ANYWHERE, slice: plan.run };
  const isAnyLong = [false, true].some(
    (isQuick) => store.texts(plan.statement({ ...longest, isQuick }), withOrder(withinPage(options), UNORDERED)) === null,
  );
  if (isAnyLong) return null;
  return pages(plan, runner, wanted, async function* (statement, _size, own) {
    for await (const all of store.texts(statement, withinPage(own)) ?? []) {
      const { read, isCut } = untilDoubt(plan, all);
      const ids = idsIn(read, streamColumns).map((id) => id.slice(1, -1));
      const names = await streams.resolve(ids, run, options);
      const made = read.map((row) => render(row, names));
      const placeOf = (index: number): Position => plan.position((read[index] ?? []).map((text) => readJson(text)));
      const bytes = made.reduce((sum, text) => sum + text.length, 0);
      yield { rows: made, placeOf, read: read.length, bytes, isCut, last: () => placeOf(read.length - 1) };
    }
  });
}

/** All rows, which the query then holds; `who` needs them. Throws LogsqlLimitError. */
export async function collect(
  chunks: AsyncIterable<Chunk<LogEntry>>,
  { memory }: Pick<RunContext, 'memory'>,
  who: string,
): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for await (const chunk of chunks)
    for (const row of chunk.rows) {
      memory.hold(who, 1, sizeOfRow(row));
      all.push(row);
    }
  return all;
}

/** Bytes that an identity takes, about. */
const IDENTITY_BYTES = 150;

/** Rows by what copies share: of those the first one counts. The query holds what it has seen. */
class Seen {
  readonly #identity: NonNullable<EntriesPlan['identity']>;
  readonly #run: Pick<RunContext, 'memory'>;
  readonly #known = new Set<string>();
  constructor(identity: NonNullable<EntriesPlan['identity']>, run: Pick<RunContext, 'memory'>) {
    this.#identity = identity;
    this.#run = run;
  }

  hasSeen(row: Row): boolean {
    const identity = this.#identity(row);
    if (this.#known.has(identity)) return true;
    this.#run.memory.hold('The search', 0, IDENTITY_BYTES);
    this.#known.add(identity);
    return false;
  }
}

/** The rows before the first one that a quick statement leaves in doubt. */
function untilDoubt<R extends Row>(
  { isInDoubt }: EntriesPlan,
  all: readonly R[],
): { readonly read: readonly R[]; readonly isCut: boolean } {
  const at = isInDoubt === undefined ? -1 : all.findIndex(isInDoubt);
  return at < 0 ? { read: all, isCut: false } : { read: all.slice(0, at), isCut: true };
}

async function* entries(plan: EntriesPlan, runner: Runner, wanted: Wanted): AsyncGenerator<Chunk<LogEntry>> {
  runner.onPipes?.(plan.pipes);
  let out: LogEntry[] = [];
  let sources: Row[] = [];
  let source: Row = [];
  const pipeline = new Pipeline(plan.pipes, plan.run, (row) => {
    if (wanted.keepsEmpty !== true && !hasValues(row)) return;
    out.push(row);
    sources.push(source);
  });
  // where all rows are read the statement leaves out copies
  const seen = plan.identity === undefined || (wanted.limit ?? Infinity) === Infinity ? null : new Seen(plan.identity, plan.run);
  yield* pages(plan, runner, wanted, async function* (statement, size, own) {
    const options = size === Infinity ? asFound(own) : withinPage(own);
    for await (const all of runner.store.query(statement, options)) {
      const { read, isCut } = untilDoubt(plan, all);
      const names = await runner.streams.resolve(idsIn(read, plan.streamColumns), plan.run, runner.options);
      [out, sources] = [[], []];
      let bytes = 0;
      for (const row of read) {
        if (seen?.hasSeen(row) === true) continue;
        source = row;
        const entry = plan.decode(row, names);
        bytes += sizeOfRow(entry);
        pipeline.push(entry);
      }
      const places = sources;
      const last = read.at(-1) ?? [];
      yield {
        rows: out,
        placeOf: (index) => plan.position(places[index] ?? []),
        read: read.length,
        bytes,
        isCut,
        last: () => plan.position(last),
      };
    }
  });
}

/** Rows of a SELECT with the entries that they stand for. */
async function* decodedRows(
  plan: ReshapedPlan,
  statement: Sql,
  { store, streams, options: own }: Runner,
  options: QueryOptions,
): AsyncGenerator<{ readonly read: readonly Row[]; readonly decoded: readonly LogEntry[] }> {
  for await (const read of store.query(statement, options)) {
    const names = await streams.resolve(idsIn(read, plan.streamColumns), plan.run, own);
    yield { read, decoded: read.map((row) => plan.decode(row, names)) };
  }
}

async function* reshaped(plan: ReshapedPlan, runner: Runner, { limit = Infinity, keepsEmpty }: Wanted): AsyncGenerator<Chunk<LogEntry>> {
  runner.onPipes?.(plan.pipes);
  let [given, skip] = [0, 0];
  // Rows without any value (`* | fields rare`) are counted by the SELECT and then left out: once more without its limit, as far as it takes.
  for (const most of plan.keepsAll && limit !== Infinity ? [limit, null] : [null]) {
    let out: LogEntry[] = [];
    const pipeline = new Pipeline(plan.pipes, plan.run, (row) => {
      if (keepsEmpty !== true && !hasValues(row)) return;
      if (skip > 0) skip -= 1;
      else if (given < limit) {
        given += 1;
        out.push(row);
      }
    });
    let count = 0;
    const options = most === null ? asFound(runner.options) : runner.options;
    for await (const { read, decoded } of decodedRows(plan, plan.statement(most), runner, options)) {
      count += read.length;
      for (const entry of decoded) {
        if (given >= limit || pipeline.done) break;
        pipeline.push(entry);
      }
      if (out.length > 0) yield { rows: out, placeOf: noPlace };
      out = [];
      if (given >= limit || pipeline.done) break;
    }
    if (given < limit) pipeline.flush();
    if (out.length > 0) yield { rows: out, placeOf: noPlace };
    if (given >= limit || most === null || count < most) return;
    skip = given;
  }
}

/** The rows of one SELECT that groups or counts; null where it does not hold for the data. */
async function aggregated(plan: AggregatePlan, runner: Runner, { limit = Infinity, keepsEmpty }: Wanted): Promise<LogEntry[] | null> {
  runner.onPipes?.(plan.pipes);
  const { memory } = plan.run;
  const out: LogEntry[] = [];
  let held = 0;
  const pipeline = new Pipeline(plan.pipes, plan.run, (row) => {
    if (keepsEmpty !== true && !hasValues(row)) return;
    const size = sizeOfRow(row);
    memory.hold('The answer', 1, size);
    held += size;
    out.push(row);
  });
  try {
    for await (const read of runner.store.query(plan.statement, runner.options)) {
      const names = await runner.streams.resolve(idsIn(read, plan.streamColumns), plan.run, runner.options);
      for (const row of read) {
        const made = plan.decode(row, names);
        if (made === null) return null;
        if (made instanceof Map) pipeline.push(made);
        else for (const part of made) pipeline.push(part);
        if (out.length >= limit || pipeline.done) break;
      }
      if (out.length >= limit || pipeline.done) break;
    }
    if (out.length < limit) pipeline.flush();
    return out.length > limit ? out.slice(0, limit) : out;
  } finally {
    // from now on the caller holds them
    memory.release(out.length, held);
  }
}

/** Rows that are all known through what is left to do. */
function through({ pipes, run }: Plan, known: readonly LogEntry[], runner: Runner, { limit = Infinity, keepsEmpty }: Wanted): LogEntry[] {
  runner.onPipes?.(pipes);
  const out: LogEntry[] = [];
  const pipeline = new Pipeline(pipes, run, (row) => {
    if (keepsEmpty === true || hasValues(row)) out.push(row);
  });
  for (const row of known) {
    if (out.length >= limit || pipeline.done) break;
    pipeline.push(row);
  }
  if (out.length < limit) pipeline.flush();
  return out.length > limit ? out.slice(0, limit) : out;
}

/** Statements of a plan that has several. */
function statementRunnerOf({ store, streams, options }: Runner, window: RunContext): StatementRunner {
  return {
    rows: (statement) => {
      const most = Math.min(MAX_RESULT_BYTES, window.memory.left.maxBytes);
      return store.rows(statement, { ...options, settings: { ...options.settings, max_result_bytes: String(most) } });
    },
    chunks: (statement) => store.query(statement, options),
    sample: (statement, entries) => {
      const settings = { ...options.settings, max_rows_to_read: String(entries), read_overflow_mode: 'break' as const, max_threads: 1 };
      return store.rows(statement, { ...options, settings });
    },
    streams: (ids) => streams.resolve(ids, window, options),
  };
}

/** The stream ids in these columns. */
const idsIn = (read: readonly Row[], columns: readonly number[]): string[] =>
  columns.flatMap((column) => read.map((row) => String(row[column])));
