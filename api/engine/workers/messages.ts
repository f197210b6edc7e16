import type { Config } from '../../../pipeline/core/config.ts';
import type { StoreSet } from '../../../pipeline/core/config-sets.ts';
import type { MemoryLimits } from '../../../logsql/base/memory.ts';
import type { Pipe } from '../../../logsql/base/types.ts';
import type { QueryJob } from '../../query/engine.ts';

/** What a worker is sent when it begins. It comes over its pipe, so that no password is among its arguments or in its environment. */
export type WorkerSettings = {
  readonly clickhouse: Config['clickhouse'];
  /** Where there are several: a job names one. */
  readonly sets: readonly Pick<StoreSet, 'name' | 'clickhouse'>[];
  readonly limits: Pick<Config['limits'], 'maxFacetFields'>;
  readonly memory: MemoryLimits;
  /** Ends the `query_id` of each of its statements; no other worker has the same. */
  readonly mark: string;
};

/** A job as it is sent; how long ago its request came, since clocks of two processes begin at different times. Milliseconds. */
export type SentJob = Omit<QueryJob, 'signal' | 'startedAt' | 'atOnce'> & {
  readonly elapsedMs: number;
  readonly isHeavy: boolean;
};

/** A job as it is sent to a worker. `elapsedMs`: of its time. */
export function sentJob(job: QueryJob, elapsedMs: number, isHeavy: boolean): SentJob {
  const { operation, parameters, tenantId, retentionDays, requestId, timeoutMs, isExport = false, cover = null, narrowedTo, set } = job;
  const query = { operation, parameters, tenantId, retentionDays, requestId, timeoutMs, isExport, cover, elapsedMs, isHeavy };
  return { ...query, ...(narrowedTo === undefined ? {} : { narrowedTo }), ...(set === undefined ? {} : { set }) };
}

/** The head of an answer: whether its bytes are to be passed on as they come. */
export type AnswerHead = { readonly headers?: Readonly<Record<string, string>>; readonly isStream: boolean };

/** Pipes that the rows of a job go through: their names, and what would make them hold less. */
export type SentPipes = { readonly names: readonly string[]; readonly advice: readonly string[] };

export const sentPipes = (pipes: readonly Pipe[]): SentPipes => ({
  names: [...new Set(pipes.map((pipe) => pipe.toString().split(' ')[0] ?? ''))],
  advice: [...new Set(pipes.flatMap(({ advice }) => advice ?? []))],
});
