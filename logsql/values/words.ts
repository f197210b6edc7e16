/**
 * Words, as the whole language and the text index of the table see them: maximal runs of letters, numbers and `_`.
 * A phrase is found at a place where the neighbour character is not a word character, checked only on the ends that are word characters.
 */

const WORDS = /[\p{L}\p{Nd}_]+/gu;
const STARTS = /^[\p{L}\p{Nd}_]/u;
const ONE_WORD = /^[\p{L}\p{Nd}_]+$/u;

/** The words of a string that may be long, in order and one by one. */
export function* eachWord(text: string): Generator<string> {
  for (const [word] of text.matchAll(WORDS)) yield word;
}

/** The words of a string, in order. */
export const wordsOf = (text: string): readonly string[] => text.match(WORDS) ?? [];
export const startsWithWord = (text: string): boolean => STARTS.test(text);
/** Without a regexp that ends in `$`: that of Node 26 does not see a character above U+FFFF there. */
export const endsWithWord = (text: string): boolean => wordBefore(text, text.length);
/** True for a string that is one word and nothing else. */
export const isOneWord = (text: string): boolean => ONE_WORD.test(text);

/** The words that any string with this prefix at a word's beginning must have whole: all but one cut off at the end. */
export function wholeWordsOfPrefix(prefix: string): readonly string[] {
  const words = wordsOf(prefix);
  return endsWithWord(prefix) ? words.slice(0, -1) : words;
}

/** True when the character before this place is a word character. */
function wordBefore(text: string, at: number): boolean {
  if (at === 0) return false;
  const unit = text.charCodeAt(at - 1);
  const isPair = unit >= 0xdc00 && unit <= 0xdfff && at > 1;
  return STARTS.test(isPair ? text.slice(at - 2, at) : text.slice(at - 1, at));
}

/** Where the phrase stands in the string, at `from` or later; -1 when nowhere. An empty phrase stands everywhere. */
export function findPhrase(text: string, phrase: string, from = 0): number {
  const checkStart = startsWithWord(phrase);
  const checkEnd = endsWithWord(phrase);
  for (let at = text.indexOf(phrase, from); at >= 0; at = text.indexOf(phrase, at + 1)) {
    if (checkStart && wordBefore(text, at)) continue;
    if (checkEnd && startsWithWord(text.slice(at + phrase.length, at + phrase.length + 2))) continue;
    return at;
  }
  return -1;
}

/** True when the phrase is in the string; the empty phrase is in the empty string alone. */
export function hasPhrase(text: string, phrase: string): boolean {
  return phrase === '' ? text === '' : findPhrase(text, phrase) >= 0;
}

/** True when a word (or punctuation) that begins with the prefix is in the string; the empty prefix needs a string that is not empty. */
export function hasPrefix(text: string, prefix: string): boolean {
  if (prefix === '') return text !== '';
  if (!startsWithWord(prefix)) return text.includes(prefix);
  for (let at = text.indexOf(prefix); at >= 0; at = text.indexOf(prefix, at + 1)) if (!wordBefore(text, at)) return true;
  return false;
}
