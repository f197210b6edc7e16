import { HttpError, storeUnavailable } from '../../pipeline/core/errors.ts';
import { isUnavailable } from '../../pipeline/store/client.ts';
import type { SetWatch } from '../../pipeline/store/set-watch.ts';
import type { LogCover } from '../query/log-cover.ts';
import type { EngineAnswer, QueryEngine, QueryJob } from '../query/engine.ts';

/** The header that names the set of an answer. */
export const SET_HEADER = 'X-Set';

export type SetEngineOptions = {
  /** Runs a job on the set that it names. */
  readonly engine: QueryEngine;
  readonly watch: Pick<SetWatch, 'ready' | 'suspect' | 'whenLost'>;
  /** How far each set is counted; a set without one is not. */
  readonly covers?: ReadonlyMap<string, Pick<LogCover, 'of'>>;
  /** Is given the set of each query that begins, also of one that is run again. */
  readonly onBegun?: (set: string) => void;
};

/**
 * Runs each query on one of several sets, as a whole: the least behind of those that serve. Where that set is found to be unavailable, or stops serving,
 * before anything of the answer was given, the query is run again on the next one, in the time that it has left.
 */
export class SetEngine implements QueryEngine {
  readonly #options: SetEngineOptions;

  constructor(options: SetEngineOptions) {
    this.#options = options;
  }

  async run(job: QueryJob): Promise<EngineAnswer> {
    const { watch } = this.#options;
    const tried = new Set<string>();
    let reason: unknown = storeUnavailable();
    for (;;) {
      const set = watch.ready.find((name) => !tried.has(name));
      const isLate = performance.now() - job.startedAt >= job.timeoutMs;
      if (set === undefined || (tried.size > 0 && isLate)) throw reason;
      tried.add(set);
      this.#options.onBegun?.(set);
      try {
        return await this.#runOn(set, job);
      } catch (error) {
        if (job.signal.aborted || !isUnavailable(error)) throw error;
        reason = error;
        watch.suspect(set);
      }
    }
  }

  async #runOn(set: string, job: QueryJob): Promise<EngineAnswer> {
    const { engine, watch, covers } = this.#options;
    const lost = new AbortController();
    const forget = watch.whenLost(set, () => {
      lost.abort();
    });
    try {
      const cover = (await covers?.get(set)?.of(job.tenantId)) ?? null;
      const answer = await engine.run({ ...job, cover, set, signal: AbortSignal.any([job.signal, lost.signal]) });
      return { ...answer, headers: { ...answer.headers, [SET_HEADER]: set } };
    } catch (error) {
      throw lost.signal.aborted && isGivenUp(error) ? storeUnavailable(error) : error;
    } finally {
      forget();
    }
  }
}

/** The query was ended before it was answered. */
const isGivenUp = (error: unknown): boolean => !(error instanceof HttpError) || error.status === GIVEN_UP;
const GIVEN_UP = 499;
