import { expect } from 'chai';
import { wordToAvoid, wordToAvoidInName } from '../../lint/words.js';

describe('words to avoid in the strings of the program', () => {
  const FOUND: readonly (readonly [string, string])[] = [
    ['"x" is no time: use now.', 'is no '],
    ['The group is joined anew.', 'anew'],
    ['The partition stands still.', 'stands still'],
    ['The log has lost its end.', 'lost its end'],
    ['Nobody reads it.', 'Nobody'],
    ['neither a number nor a text', 'a text'],
    ['Kafka says where it ends.', 'says'],
    ['at most so many rows', 'so many'],
    ['The broker is gone.', 'is gone'],
  ];
  for (const [text, word] of FOUND)
    it(`finds "${word}" in "${text}"`, () => {
      expect(wordToAvoid(text)?.word).to.equal(word);
    });

  const CLEAN = [
    'There is no tenant 7.',
    'There is no such rule.',
    'The partition is no longer assigned to this process.',
    'SELECT is no statement of ours',
    'anew',
    'beside',
    'A record became a dead letter.',
  ];
  for (const text of CLEAN)
    it(`finds nothing in "${text}"`, () => {
      expect(wordToAvoid(text)).to.equal(undefined);
    });
});

describe('words to avoid in names of the program', () => {
  const FOUND: readonly (readonly [string, string])[] = [
    ['askedAt', 'asked'],
    ['BESIDE_BYTES', 'beside'],
    ['isNoLetter', 'is no '],
    ['toldTo', 'told'],
    ['lastWord', 'last word'],
    ['last-words', 'last words'],
    ['HTTPMended', 'mended'],
  ];
  for (const [name, word] of FOUND)
    it(`finds "${word}" in ${name}`, () => {
      expect(wordToAvoidInName(name)?.word).to.equal(word);
    });

  for (const name of ['said2', '$said']) it(`finds "said" in ${name}`, () => expect(wordToAvoidInName(name)?.word).to.equal('said'));

  // the last ones are forced: a member of a record, a column
  for (const name of ['deadLetter', 'essay', 'lastLogLine', 'isNotLetter', 'plainText', 'goneAway', 'isGone', 'told'])
    it(`finds nothing in ${name}`, () => {
      expect(wordToAvoidInName(name)).to.equal(undefined);
    });
});
