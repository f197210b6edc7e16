import { HttpError } from '../../pipeline/core/errors.ts';
import { PromqlExecutionError, PromqlRequestError, PromqlSyntaxError } from '../../promql/base/errors.ts';

/** Throws what a client did wrong, or asked too much, as HttpError: `bad_data` is 400, `execution` 422. */
export async function judged<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof PromqlSyntaxError || error instanceof PromqlRequestError)
      throw new HttpError(400, 'bad_data', `invalid parameter "query": ${error.message}`, { cause: error });
    if (error instanceof PromqlExecutionError) throw new HttpError(422, 'execution', error.message, { cause: error });
    throw error;
  }
}
