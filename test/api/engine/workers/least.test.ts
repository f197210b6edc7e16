import { expect } from 'chai';
import { least } from '../../../../api/engine/workers/least.ts';

describe('The least of items', () => {
  for (const [items, expected] of [
    [[], undefined],
    [[[2, 0]], [2, 0]],
    [[[1, 9], [0, 1], [0, 0]], [0, 0]], // prettier-ignore
    [[[0, 2], [0, 1], [1, 0]], [0, 1]], // prettier-ignore
  ] as const)
    it(`of ${JSON.stringify(items)} is ${JSON.stringify(expected)}`, () =>
      void expect(least<readonly number[]>(items, (item) => item)).to.deep.equal(expected));

  it('is the first of equal ones', () => {
    const items = ['a', 'b'];
    expect(least(items, () => [1, 1])).to.equal('a');
  });
});
