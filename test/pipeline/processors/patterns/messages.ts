/** Messages of which no two are of one cluster. */
const WORDS = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india', 'juliet'];
const word = (number: number): string => WORDS[number % WORDS.length] ?? '';

/** The message with this number: with a value, and words that no other has in their places. */
export const messageOf = (number: number): string =>
  `${word(number)} ${word(Math.floor(number / 10))} took ${String(number)} ms for ${word(number)} of ${word(Math.floor(number / 10))}`;
