import type { Config } from '../../../pipeline/core/config.ts';
import { HttpError, type ErrorOptions } from '../../../pipeline/core/errors.ts';
import type { MemoryLimits } from '../../../logsql/memory.ts';
import type { Pipe } from '../../../logsql/types.ts';
import type { QueryJob } from '../engine.ts';

/** What a worker is told when it begins. It comes over its pipe, so that no password is among its arguments or in its environment. */
export type WorkerSettings = {
  readonly clickhouse: Config['clickhouse'];
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

/** The head of an answer: whether its bytes are to be passed on as they come. */
export type AnswerHead = { readonly headers?: Readonly<Record<string, string>>; readonly isStream: boolean };

/** Pipes that the rows of a job go through: their names, and what would make them hold less. */
export type SentPipes = { readonly names: readonly string[]; readonly advice: readonly string[] };

export const sentPipes = (pipes: readonly Pipe[]): SentPipes => ({
  names: [...new Set(pipes.map((pipe) => pipe.toString().split(' ')[0] ?? ''))],
  advice: [...new Set(pipes.flatMap(({ advice }) => advice ?? []))],
});

/** An error of one process in words; `status` 0: it was not meant for clients. */
export type SentError = {
  readonly status: number;
  readonly slug: string;
  readonly message: string;
  readonly options: Omit<ErrorOptions, 'cause'>;
  readonly stack?: string;
};

export function sentError(error: unknown): SentError {
  if (error instanceof HttpError) {
    const options = Object.fromEntries(Object.entries(error.options).filter(([name]) => name !== 'cause'));
    return { status: error.status, slug: error.slug, message: error.message, options };
  }
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  return { status: 0, slug: '', message, options: {}, stack };
}

export function receivedError({ status, slug, message, options, stack }: SentError): Error {
  if (status !== 0) return new HttpError(status, slug, message, options);
  return Object.assign(new Error(message), stack === undefined ? {} : { stack });
}
