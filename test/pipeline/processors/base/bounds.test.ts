import { expect } from 'chai';
import { mostOf, type Bounds } from '../../../../pipeline/processors/base/bounds.ts';

const BOUNDS: Bounds = { most: 100, ofTenant: 60, few: 5, last: 120 };

describe('what a tenant may have', () => {
  for (const [what, own, all, most] of [
    ['all that one may, where nobody has anything', 0, 0, 60],
    ['what is left of what all may have', 0, 70, 30],
    ['few, where little or nothing is left', 0, 99, 5],
    ['few, where all have more', 0, 110, 5],
    ['what is left for those who have few', 0, 118, 2],
    ['what it has, where nothing is left', 3, 120, 3],
    ['few, of which it has some', 3, 110, 5],
    ['no more than one may, of which it has much', 55, 80, 60],
    ['what it has, and what is left of what all may have', 55, 98, 57],
  ] as const)
    it(`is ${what}`, () => {
      expect(mostOf(own, all, BOUNDS)).to.equal(most);
    });

  it('is that also where it has more', () => {
    expect(mostOf(80, 110, BOUNDS)).to.equal(60);
  });
});
