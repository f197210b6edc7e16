import { invalidBody } from '../../pipeline/core/errors.ts';
import { shape, skipSpace, skipValue } from '../../pipeline/wire/json-tokens.ts';

/** Deepest nesting of a JSON body of the app plane. */
const MAX_DEPTH = 64;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** The value of a JSON body; undefined where it is empty. Throws HttpError 400. */
export function parseJson(body: Buffer): unknown {
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') return undefined;
  const start = skipSpace(body, BYTE_ORDER_MARK.equals(body.subarray(0, 3)) ? 3 : 0, body.length);
  // ends at the first bracket that is too deep: JSON.parse would spend a second on a million of them
  skipValue(body, start, body.length, MAX_DEPTH);
  if (shape.depth > MAX_DEPTH) throw invalidBody(`The JSON body is nested deeper than ${String(MAX_DEPTH)} levels.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidBody(`The body is not JSON: ${(error as Error).message}.`);
  }
}
