import { clientClosed, HttpError, queryTimeout } from '../../pipeline/core/errors.ts';
import type { Request } from './deps.ts';
import { toQueryError } from './run.ts';

/** Does a part of the work within a time of its own, which is that of the request. */
export async function timed<T>(request: Request, work: (part: Request) => Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const part = { ...request, timeout, signal: AbortSignal.any([request.signal, timeout]) };
  try {
    return await work(part);
  } catch (error) {
    throw toClientError(error, part);
  }
}

/** The error that a client is sent for what a query threw; a timeout comes first. */
export function toClientError(error: unknown, { timeout, signal }: Request): unknown {
  if (timeout.aborted && !(error instanceof HttpError))
    return queryTimeout('The query ran too long; narrow the time range or simplify the query.');
  // what is thrown then is only that it was ended
  if (signal.aborted && !(error instanceof HttpError)) return clientClosed();
  return toQueryError(error);
}
