import { nearest } from '../../pipeline/core/nearest.ts';
import type { RouteAnswer } from '../http/route.ts';

/** Names of a request that are shown, and characters of one. */
const [MAX_NAMED, MAX_SHOWN] = [5, 60];
/** Credentials, which every path of the app plane takes. */
const CREDENTIALS = ['api_key'];

/** What is said of members or parameters that are not known, which are ignored: each by its name, with the nearest known one. */
export function unknownNames(given: Iterable<string>, known: readonly string[], what: 'member' | 'parameter'): string[] {
  const names = [...new Set(given)].filter((name) => !known.includes(name) && !CREDENTIALS.includes(name));
  return names.slice(0, MAX_NAMED).map((name) => {
    const meant = nearest(name, known);
    const shown = JSON.stringify(name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name);
    return `The ${what} ${shown} is not known here and was ignored${meant === null ? '' : `; did you mean ${JSON.stringify(meant)}?`}`.replace(
      /[^?]$/,
      '$&.',
    );
  });
}

/** The member of an answer's JSON with what is to be said; empty where there is nothing. */
export const hintsMember = (hints: readonly string[]): string => (hints.length === 0 ? '' : `,"hints":${JSON.stringify(hints)}`);

/** An answer whose body is the JSON of an object with members, with hints. */
export function withHints<Answer extends Pick<RouteAnswer, 'body'>>(answer: Answer, hints: readonly string[]): Answer {
  const { body } = answer;
  if (hints.length === 0 || typeof body !== 'string' || !body.endsWith('}') || body === '{}') return answer;
  return { ...answer, body: `${body.slice(0, -1)}${hintsMember(hints)}}` };
}
