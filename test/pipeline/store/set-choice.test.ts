import { expect } from 'chai';
import { inOrder, type ChoosableSet } from '../../../pipeline/store/set-choice.ts';

/** `b 5 !whole !ready`: the set b, 5 s behind. */
function setOf(text: string): ChoosableSet {
  const [name = '', seconds = '0', ...marks] = text.split(' ');
  return { name, behindMs: Number(seconds) * 1000, isWhole: !marks.includes('!whole'), isReady: !marks.includes('!ready') };
}

describe('the choice among sets', () => {
  const CASES: readonly (readonly [what: string, sets: readonly string[], last: string | null, order: string])[] = [
    ['the first of equals', ['a 0', 'b 0'], null, 'a b'],
    ['the least behind', ['a 5', 'b 2', 'c 3'], null, 'b c a'],
    ['no set that does not serve', ['a 0 !ready', 'b 900'], 'a', 'b'],
    ['none at all', ['a 0 !ready'], 'a', ''],
    ['the last one while another is hardly better', ['a 9', 'b 0'], 'a', 'a b'],
    ['another one that is much better', ['a 11', 'b 0'], 'a', 'b a'],
    ['the last one though it was not the first', ['a 0', 'b 0'], 'b', 'b a'],
    ['a whole one that is behind before one that lacks something', ['a 0 !whole', 'b 500'], null, 'b a'],
    ['a whole one also where the last one lacks something', ['a 0 !whole', 'b 5'], 'a', 'b a'],
    ['what lacks something where there is nothing else', ['a 3 !whole', 'b 0 !ready'], null, 'a'],
    ['of unknown places the first', ['a Infinity', 'b Infinity'], null, 'a b'],
    ['a known place before an unknown one', ['a Infinity', 'b 900'], null, 'b a'],
    ['the last one whose place is unknown, like all', ['a Infinity', 'b Infinity'], 'b', 'b a'],
  ];
  for (const [what, sets, last, order] of CASES)
    it(`takes ${what}`, () => {
      expect(inOrder(sets.map(setOf), last).join(' ')).to.equal(order);
    });
});
