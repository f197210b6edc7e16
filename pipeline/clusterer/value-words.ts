import { ANY_VALUE, METHODS } from './cluster-key.ts';

/** Values that a token must have taken before templates that differ in it alone are one cluster; one fewer where one is a placeholder. */
const VALUES = 5;
/** Fewer are enough where they look like names: `public.orders`, `dark-mode`, `order_items`. */
const NAMES = 3;
/** The same of words in capitals, as states and currencies are: `PAID`, `EUR`. */
const CAPITALS = 4;
/** Of the methods of HTTP. */
const ENOUGH_METHODS = 4;

const NAME = /[A-Za-z][._-][A-Za-z]/;
const IN_CAPITALS = /^[^A-Za-z]*[A-Z]{2,}(?:_[A-Z]+)*[^A-Za-z]*$/;
/** A clause in a script without blanks between words; names are shorter. */
const CLAUSE =
  /(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]){5}|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{12}/u;
const METHOD = new RegExp(`^(["'[(]?)(?:${METHODS})$`);
/** Stands for any method in a key: no template holds it, since masks take control characters for blanks. */
const ANY_METHOD = '\u0002';

/** The token with any method, where one stands there with a value behind it: `GET <PATH>`; undefined for another. */
export function anyMethod(tokens: readonly string[], index: number): string | undefined {
  const token = tokens[index] as string;
  return tokens[index + 1]?.startsWith(ANY_VALUE) === true && METHOD.test(token) ? token.replace(METHOD, `$1${ANY_METHOD}`) : undefined;
}

/** Whether a token is more than a word, and so no value: a statement without blanks is one token. */
export const isClause = (token: string): boolean => CLAUSE.test(token);

/** Whether this number of methods makes them one. */
export const showsMethods = (seen: number): boolean => seen >= ENOUGH_METHODS;

/** Whether a token that has taken these values is a value. What more values come never makes it a word again. */
export function showsValues(seen: readonly string[]): boolean {
  const count = (is: (token: string) => boolean): number => seen.filter(is).length;
  const values = count((token) => token.includes(ANY_VALUE));
  if (seen.length >= (values > 0 ? VALUES - 1 : VALUES)) return true;
  return count((token) => NAME.test(token)) + values >= NAMES || count((token) => IN_CAPITALS.test(token)) + values >= CAPITALS;
}

/** A token of a key as it is shown. */
export const shownToken = (token: string): string => token.replace(ANY_VALUE, '<*>').replace(ANY_METHOD, '<*>');
