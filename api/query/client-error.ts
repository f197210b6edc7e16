import { clientClosed, HttpError, queryTimeout } from '../../pipeline/core/errors.ts';
import type { Request } from './deps.ts';
import { toQueryError } from './run.ts';

/** The error that a client is sent for what a query threw; a timeout comes first. */
export function toClientError(error: unknown, { timeout, signal }: Request): unknown {
  if (timeout.aborted && !(error instanceof HttpError))
    return queryTimeout('The query ran too long; narrow the time range or simplify the query.');
  // what is thrown then is only that it was ended
  if (signal.aborted && !(error instanceof HttpError)) return clientClosed();
  return toQueryError(error);
}
