import { invalidBody } from '../../pipeline/core/errors.ts';
import { OPEN_ARRAY, OPEN_OBJECT } from '../../pipeline/wire/bytes.ts';
import { shape, skipSpace, skipValue } from '../../pipeline/wire/json-tokens.ts';
import { readJson } from '../../pipeline/core/read-json.ts';

/** Deepest nesting of a JSON body of the app plane. */
const MAX_DEPTH = 64;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** The value of a JSON body; undefined where it is empty. Throws HttpError 400. */
export function parseJson(body: Buffer): unknown {
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') return undefined;
  const start = skipSpace(body, BYTE_ORDER_MARK.equals(body.subarray(0, 3)) ? 3 : 0, body.length);
  if (depthOf(body, start) > MAX_DEPTH) throw invalidBody(`The JSON body is nested deeper than ${String(MAX_DEPTH)} levels.`);
  try {
    return readJson(text);
  } catch (error) {
    throw invalidBody(`The body is not JSON: ${(error as Error).message}.`);
  }
}

/** The deepest nesting, at most one more than may be: JSON.parse would spend a second on a million brackets. */
function depthOf(body: Buffer, start: number): number {
  const brackets = countOf(body, OPEN_OBJECT) + countOf(body, OPEN_ARRAY);
  // most bodies have few brackets, and need no walk
  if (brackets <= MAX_DEPTH) return brackets;
  skipValue(body, start, body.length, MAX_DEPTH);
  return shape.depth;
}

/** How often a byte is there, at most one more than the deepest nesting. */
function countOf(body: Buffer, byte: number): number {
  let count = 0;
  for (let at = body.indexOf(byte); at >= 0 && count <= MAX_DEPTH; at = body.indexOf(byte, at + 1)) count += 1;
  return count;
}
