import { OPEN_ARRAY, OPEN_OBJECT } from '../../wire/bytes.ts';
import { invalidBody } from '../../core/errors.ts';
import { skipSpace, skipValue } from '../../wire/json-tokens.ts';
import { walkArray } from '../../wire/json-walk.ts';
import { lastJsonError, type EntryWriter } from '../../logs/writer.ts';
import { endOfLine } from './bytes.ts';
import { jsonErrorDetail, NO_OBJECT } from './json-error.ts';

/**
 * Takes the JSON value that begins at `at`, as an entry or as a rejection, and gives the offset after it; a negative one where there
 * is no whole value before `end`, and then nothing is recorded.
 */
export type TakeElement = (at: number, end: number) => number;

/** How a body's elements are taken: its objects, and its arrays where they are more than lists of objects. */
export type Elements = {
  readonly object: TakeElement;
  /** Gives a negative offset where the array is not JSON; what came before in it may be recorded. Left out: a list of objects. */
  readonly array?: TakeElement;
};

/**
 * Walks the elements of a body: JSON arrays, objects one a line, or objects one after the other. What is not an object is rejected by
 * itself; what is not JSON costs its line, or the rest of its array. The body must be valid UTF-8.
 */
export function takeElements(body: Buffer, out: EntryWriter, { object, array }: Elements): void {
  const element: TakeElement = (at, end) => {
    if (body[at] === OPEN_OBJECT) return object(at, end);
    const after = skipValue(body, at, end);
    if (after >= 0) out.reject(NO_OBJECT, body, at, after);
    return after;
  };
  const list: TakeElement = array ?? ((at, end) => walkArray(body, at, end, element));
  takeValues(body, out, (at, end) => (body[at] === OPEN_ARRAY ? list(at, body.length) : element(at, end)));
}

/** The 400 for a body of which nothing could be read; an empty array is readable. */
export function refuseUnreadable(body: Buffer, out: EntryWriter, readable: number): void {
  if (skipSpace(body, 0, body.length) === body.length) throw invalidBody('The body is empty.');
  if (out.total > 0 && readable === 0) throw invalidBody(`Nothing of the body could be read: ${out.rejected.first[0]?.reason ?? ''}.`);
}

/** Values that begin on a line and mostly end there; after the first one that ends nowhere, values over several lines are not looked for. */
function takeValues(body: Buffer, out: EntryWriter, take: TakeElement): void {
  const end = body.length;
  let lineEnd = -1;
  let spanning = true;
  for (let at = skipSpace(body, 0, end); at < end;) {
    if (at > lineEnd) lineEnd = endOfLine(body, at);
    let after = take(at, lineEnd);
    if (after < 0 && spanning && body[at] === OPEN_OBJECT && lastJsonError() >= lineEnd && lineEnd < end) {
      after = take(at, end);
      spanning = after >= 0;
    }
    if (after < 0) {
      const isArray = body[at] === OPEN_ARRAY;
      if (isArray) out.reject(NO_ARRAY, body, at, lineEnd, () => arrayErrorDetail(body, at));
      else out.reject(NO_OBJECT, body, at, lineEnd, () => jsonErrorDetail(body, at, lineEnd));
      after = isArray ? end : lineEnd;
    }
    at = skipSpace(body, after, end);
  }
}

const NO_ARRAY = 'not a JSON array';

/** Where an array stopped being JSON; what came before that in it is kept. */
function arrayErrorDetail(body: Buffer, at: number): string {
  const failed = Math.min(lastJsonError(), body.length);
  const found = failed >= body.length ? 'end' : JSON.stringify(body.toString('utf8', failed, failed + 12));
  return `unexpected ${found} at byte ${String(failed - at)}; what follows is not read`;
}
