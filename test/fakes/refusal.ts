import { HttpError, httpErrorOf } from '../../pipeline/core/errors.ts';

/** What a reader of compressed bytes throws above its cap: how much there is, and whether there is more. */
export const tooLarge = (received: number, more: boolean): HttpError =>
  new HttpError(413, 'payload_too_large', `${String(more)} ${String(received)}`);

/** The error by which bytes are refused. Throws where they are taken, and what is no answer to a client. */
export function refusalOf(inflate: () => unknown): HttpError {
  try {
    inflate();
  } catch (error) {
    return answered(error);
  }
  throw new Error('It was taken.');
}

/** The same of a reader that gives a promise. */
export async function laterRefusalOf(inflate: () => Promise<unknown>): Promise<HttpError> {
  try {
    await inflate();
  } catch (error) {
    return answered(error);
  }
  throw new Error('It was taken.');
}

function answered(error: unknown): HttpError {
  const refusal = httpErrorOf(error);
  if (refusal === null) throw error;
  return refusal;
}
