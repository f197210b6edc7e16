import type { Table } from '../../logsql/base/table.ts';
import { parseFilter } from '../../logsql/parser/parser.ts';
import type { Config } from '../../pipeline/core/config.ts';
import { QueryMemory, SharedMemory, type MemoryLimits } from '../../logsql/base/memory.ts';
import type { QueryOptions, Store } from '../../pipeline/store/client.ts';
import { Deadline } from './deadline.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { EngineAnswer, QueryEngine, QueryJob } from '../query/engine.ts';
import { OPERATIONS, tableOf } from './operations.ts';
import { PatternDirectory } from '../query/patterns/pattern-directory.ts';
import { Densities } from '../query/slices.ts';
import { SpanCovers } from '../query/span-covers.ts';
import { StreamDirectory } from '../query/streams.ts';
import { toClientError } from '../query/client-error.ts';
import type { Runner } from '../query/runner.ts';

export type LocalEngineOptions = {
  readonly store: Store;
  /** Nanoseconds since the epoch. */
  readonly now: () => bigint;
  readonly limits: Pick<Config['limits'], 'maxFacetFields'>;
  /** What all queries together may hold in this process. */
  readonly memory?: MemoryLimits;
};

/** What one job goes through: the store that its statements go to, and what is given the pipes that its rows go through. */
export type RunThrough = { readonly store: Store; readonly onPipes: Runner['onPipes'] };

const MEMORY: MemoryLimits = { maxRows: 1_000_000, maxBytes: 300_000_000 };
/** ClickHouse gives up this much earlier than this process (ms), so that its error is the one that is reported. */
const MARGIN = 1000;
/** ClickHouse counts the whole time of a statement, also while its rows are not taken: of an export only we know when to give up. It then ends with its connection. */
const UNTIMED = { max_execution_time: 0 };
/**
 * ClickHouse's `priority`: while a statement with a lower number runs, those with a higher one wait before each block of rows. They wait so long
 * (ms) and go on: by ClickHouse's default it is a second, and beside others that never end they would come to nothing.
 */
const WAIT = { low_priority_query_wait_time_ms: 100 };
/** What comes first, what those do who work much, and exports: one runs as long as its client takes, and would hold back for so long who comes after it. */
export const PRIORITIES = { first: { priority: 1 }, heavy: { priority: 2, ...WAIT }, export: { priority: 3, ...WAIT } };

/** Runs queries in this process: whole, from their string to the string of the answer. */
export class LocalEngine implements QueryEngine {
  readonly #options: LocalEngineOptions;
  readonly #streams: StreamDirectory;
  readonly #densities = new Map<Table, Densities>();
  readonly #patterns = new PatternDirectory();
  readonly #spanCovers = new SpanCovers();
  readonly #memory: SharedMemory;

  constructor(options: LocalEngineOptions) {
    this.#options = options;
    this.#memory = new SharedMemory((options.memory ?? MEMORY).maxBytes);
    this.#streams = new StreamDirectory(options.store);
  }

  async run(job: QueryJob, through: Partial<RunThrough> = {}): Promise<EngineAnswer> {
    const operation = OPERATIONS.get(job.operation);
    if (operation === undefined) throw new Error(`BUG: There is no operation ${job.operation}.`);
    const deadline = job.isExport === true ? new Deadline(job.timeoutMs) : null;
    const request = requestOf(job, deadline, this.#options.now());
    const memory = new QueryMemory(this.#options.memory ?? MEMORY, this.#memory);
    const settings = deadline !== null ? { ...PRIORITIES.export, ...UNTIMED } : PRIORITIES[job.isHeavy === true ? 'heavy' : 'first'];
    if (deadline === null) memory.until = job.startedAt + job.timeoutMs;
    try {
      const answer = await operation(job.parameters as never, request, this.#deps(tableOf(job.operation), memory, through, settings));
      if (typeof answer !== 'string' && answer.stream !== undefined) {
        const stream = clearing(answer.stream, memory);
        return { ...answer, stream: deadline === null ? stream : deadline.during(stream) };
      }
      memory.clear();
      return typeof answer === 'string' ? { body: answer } : answer;
    } catch (error) {
      memory.clear();
      throw toClientError(error, request);
    } finally {
      deadline?.pause();
    }
  }

  #deps(
    table: Table,
    memory: QueryMemory,
    { store = this.#options.store, onPipes }: Partial<RunThrough>,
    settings: NonNullable<QueryOptions['settings']>,
  ): Deps {
    const { now, limits } = this.#options;
    const streams = store === this.#options.store ? this.#streams : this.#streams.on(store);
    const densities = this.#densities.get(table) ?? new Densities();
    this.#densities.set(table, densities);
    return {
      table,
      now,
      memory,
      maxFacetFields: limits.maxFacetFields,
      runner: ({ tenantId, timeoutMs, signal, requestId }) => ({
        store,
        streams,
        densities,
        onPipes,
        options: { tenantId, timeoutMs: Math.max(500, timeoutMs - MARGIN), signal, requestId, settings },
      }),
      patterns: this.#patterns,
      spanCovers: this.#spanCovers,
    };
  }
}

/** The same, and at its end the query holds nothing any more. */
async function* clearing<T>(stream: AsyncIterable<T> | Iterable<T>, memory: QueryMemory): AsyncGenerator<T> {
  try {
    yield* stream;
  } finally {
    memory.clear();
  }
}

function requestOf(job: QueryJob, deadline: Deadline | null, now: bigint): Request {
  const { tenantId, retentionDays, startedAt, requestId, timeoutMs, cover = null, set = null, signal } = job;
  const timeout = deadline?.signal ?? AbortSignal.timeout(timeoutMs);
  const narrowedTo = job.narrowedTo === undefined ? null : parseFilter(job.narrowedTo, { now });
  return {
    tenantId,
    set,
    narrowedTo,
    retentionDays,
    startedAt,
    requestId,
    timeoutMs,
    timeout,
    cover,
    signal: AbortSignal.any([signal, timeout]),
  };
}
