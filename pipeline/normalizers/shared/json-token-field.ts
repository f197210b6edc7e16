import { compact, last, skipString, UNICODE_ESCAPED } from '../../wire/json-tokens.ts';
import { stringAt } from '../../wire/json-walk.ts';
import { LITERAL, STRING, type Draft } from '../../logs/draft.ts';
import type { Name } from '../../logs/names.ts';

/**
 * Puts in a field whose JSON value lies at `body[at..after)` of the draft's body and is valid: strings, numbers and booleans as they
 * are, arrays and objects as JSON strings. `null` and the empty string are not fields: what is under this name stays.
 */
export function putJsonToken(draft: Draft, name: Name, at: number, after: number): void {
  const { body } = draft;
  const first = body[at];
  if (first === 0x6e || (first === 0x22 && after === at + 2)) return;
  if (first === 0x7b || first === 0x5b) draft.set(name, STRING, JSON.stringify(compact(body.toString('utf8', at, after))));
  else if (first !== 0x22) draft.putToken(name, LITERAL, at, after);
  else {
    skipString(body, at, after);
    putStringToken(draft, name, at, after, last.escapes);
  }
}

/** Puts in the value of the string token `draft.body[start..end)`; `escapes` as `last.escapes` was behind it. */
export function putStringToken(draft: Draft, name: Name, start: number, end: number, escapes: number): void {
  if (end - start === 2) draft.putString(name, '');
  // \u escapes may spell lone surrogates, which are not characters
  else if (escapes === UNICODE_ESCAPED) draft.putString(name, stringAt(draft.body, start, end));
  else draft.putToken(name, STRING, start, end);
}

/** A JSON scalar as a string: the value of a string, else the token. */
export function scalarText(body: Buffer, at: number, after: number): string {
  return body[at] === 0x22 ? stringAt(body, at, after) : body.toString('latin1', at, after);
}
