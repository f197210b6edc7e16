import { PLACEHOLDER } from './placeholders.ts';
import { TEXT_KEYS } from './words.ts';

/** Stands for any placeholder in a key: no template holds it, since masks take control characters for blanks. */
export const ANY_VALUE = '\u0001';

/** A value with another in brackets behind it, or with none: `10.0.0.1 (example.com)`, `565 (1.17 KB)`, `10.0.0.1 ()`. */
const DOUBLED = new RegExp(`${ANY_VALUE} ?\\(${ANY_VALUE}?\\)`, 'g');
/** Values in a row, as a list has them. */
const LIST = new RegExp(`${ANY_VALUE}(?:[ ,;:/|+-]{1,3}${ANY_VALUE})+`, 'g');
const ROUNDS = 3;
/** The path `/` alone, which is none to the masks, with the protocol of its request. */
const ROOT = /(?<=[ "'])\/(?: HTTP\/[0-9.]+)?(?=["' ]|$)/g;
/** What access logs write for values that are missing. */
const MISSING = new RegExp(`(?<=${ANY_VALUE} )-(?: -)*(?= ["${ANY_VALUE}])`, 'g');
/** The methods of HTTP, as alternatives of a regular expression. */
export const METHODS = 'GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS';
const METHOD_FIELD = new RegExp(`\\bmethod=(?:${METHODS})\\b`, 'g');
/** What stands in quotes behind other words, but for a key of JSON or its value, a message and a request. */
const QUOTED = new RegExp(
  `(?<=[ (\\[,=])(?<!": ?)(?<!(?:${TEXT_KEYS.join('|')})=)(?:"(?!(?:${METHODS}) )[^"]*"|'(?:[^']|(?<=[A-Za-z])'(?=[A-Za-z]))*')(?![A-Za-z:])`,
  'g',
);

/**
 * What templates of one cluster have in common: the template without the types of its placeholders and without what stands in quotes, where
 * values in a row count as one, however many they are. It is worked out for templates that are new, not for each message.
 */
export function clusterKey(template: string): string {
  const key = template
    .replace(PLACEHOLDER, ANY_VALUE)
    .replace(METHOD_FIELD, `method=${ANY_VALUE}`)
    .replace(ROOT, ANY_VALUE)
    .replace(MISSING, (dashes) => dashes.replaceAll('-', ANY_VALUE))
    .replace(QUOTED, (text) => `${text[0] as string}${ANY_VALUE}${text[0] as string}`)
    .replaceAll(`="${ANY_VALUE}"`, `=${ANY_VALUE}`);
  return joinValues(key);
}

/** The key of a string that has `ANY_VALUE` already. */
export function joinValues(text: string): string {
  let key = text;
  for (let round = 0; round < ROUNDS; round += 1) key = key.replace(DOUBLED, ANY_VALUE).replace(LIST, ANY_VALUE);
  return key;
}

/** A token as its brackets and quotes, the word inside, and the signs behind: what stays where the word is a value, and what does not. */
const TOKEN = /^([("'[{<]*)(.*?)([)"'\]}>,;:.!?]*)$/s;

/** The same token with any value in the place of its word. */
export function anyToken(token: string): string {
  const [, before = '', , after = ''] = TOKEN.exec(token) ?? [];
  return `${before}${ANY_VALUE}${after}`;
}

/** Whether a token is a constant word: letters, and no value. */
export const isWord = (token: string): boolean => !token.includes(ANY_VALUE) && /[A-Za-z\u0080-\uffff]/.test(token);
