import { HttpError, type ErrorOptions } from '../../pipeline/core/errors.ts';

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
